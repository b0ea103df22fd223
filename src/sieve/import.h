/* Definitions from files that somebody has: a tools/list result, the JSON-RPC response around it,
 * an array of tools, JSONL of tools, another harvest, or a copy of MCPTox that the user brings. */
#ifndef BTZ_SIEVE_IMPORT_H
#define BTZ_SIEVE_IMPORT_H

#include "sieve/item.h"

enum { BTZ_SIEVE_IMPORT_MAX = 64 * 1024 * 1024 };

struct btz_sieve_import_options {
    struct btz_str source;    /* of tools without one; empty = "file:NAME" of the file */
    struct btz_str collected; /* YYYY-MM-DD, of tools without a date */
    /* Takes a file of MCPTox's layout whose sum is not the known one; every source of it then
     * begins with "unchecked-". For tests of the layout. */
    bool mcptox_unchecked;
};

struct btz_sieve_import_counts {
    int64_t definitions;
    int64_t twice;    /* left out: the same definition of the same source again */
    int64_t nameless; /* left out: no object with a name, or too large */
    int64_t wrong;    /* MCPTox: instances that are flagged as wrong */
    const char *kind; /* "tools/list result", "harvest", "MCPTox", ... */
};

/* Reads `path` and appends its definitions to `out`, each on a line. `seen` is an object of ids
 * that are there already; new ones are added. BTZ_EINVAL with file, line and what was expected;
 * BTZ_ECORRUPT if `path` is a frozen file that was edited. */
int btz_sieve_import(struct btz_arena *arena, const char *path,
                     const struct btz_sieve_import_options *options, struct btz_json *seen,
                     struct btz_buf *out, struct btz_sieve_import_counts *counts,
                     struct btz_err *err) BTZ_WARN_UNUSED;

/* The text form of a tool that MCPTox has, "Tool: NAME\nDescription: ...\nArguments:\n- a: ...
 * (required)": the tool of the first block of `*text`, and `*text` moved behind it. NULL if there
 * is none. Types are not told in that form, and none are made up. */
const struct btz_json *btz_sieve_tool_block(struct btz_arena *arena, struct btz_str *text);

#endif
