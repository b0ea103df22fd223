/* Inside the import. */
#ifndef BTZ_SIEVE_IMPORT_INT_H
#define BTZ_SIEVE_IMPORT_INT_H

#include "sieve/import.h"

struct import {
    struct btz_arena *arena;
    const char *path;
    const struct btz_sieve_import_options *options;
    struct btz_json *seen;
    struct btz_buf *out;
    struct btz_sieve_import_counts *counts;
    struct btz_err *err;
};

/* Adds a tool, or counts why not. */
void import_tool(struct import *im, struct btz_str source, const struct btz_json *tool);
void import_definition(struct import *im, const struct btz_sieve_definition *definition);

bool import_is_mcptox(const struct btz_json *value);
int import_mcptox(struct import *im, const struct btz_json *value,
                  struct btz_str text) BTZ_WARN_UNUSED;

#endif
