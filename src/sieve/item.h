/* The records of the sieve experiment and their files (docs/internals/sieve-files.md): definitions,
 * items and manifests of a split. Readers are strict: an unknown, missing or ill-typed member is
 * refused with file, line and the name of the member. */
#ifndef BTZ_SIEVE_ITEM_H
#define BTZ_SIEVE_ITEM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/str.h"
#include "json/json.h"

enum {
    BTZ_SIEVE_LINE_MAX = 1024 * 1024, /* bytes of one line, the LF not counted */
    BTZ_SIEVE_DEPTH_MAX = 64,         /* of the JSON value on a line */
    BTZ_SIEVE_CONDITIONS_MAX = 64,    /* of one call */
    BTZ_SIEVE_OPERANDS_MAX = 16,      /* of one item */
    BTZ_SIEVE_TOOLS_MAX = 2000        /* of one server */
};

/* ---- Lines of a JSONL file ---- */

struct btz_sieve_reader;

struct btz_sieve_line {
    unsigned number; /* from 1 */
    struct btz_str text;
    const struct btz_json *value; /* an object; in the arena of the call */
};

/* Opens a regular file. Where the file is one side of a frozen split (a manifest.json beside
 * dev.jsonl or test.jsonl), its hash is compared with the manifest first: BTZ_ECORRUPT if the file
 * was changed after it was frozen. BTZ_ENOTFOUND, BTZ_EIO. */
int btz_sieve_reader_open(const char *path, struct btz_sieve_reader **out,
                          struct btz_err *err) BTZ_WARN_UNUSED;
/* Reads from memory instead; `name` stands in messages. Borrows both. */
struct btz_sieve_reader *btz_sieve_reader_of(struct btz_str text, const char *name);
void btz_sieve_reader_free(struct btz_sieve_reader *reader); /* NULL is allowed */

/* The next line that is not empty. BTZ_OK; BTZ_EAGAIN at the end of the file; BTZ_EINVAL (no UTF-8
 * JSON object), BTZ_ELIMIT (line too long or too deep) or BTZ_EIO with file and line. `line->text`
 * is good until the next call. */
int btz_sieve_reader_next(struct btz_sieve_reader *reader, struct btz_arena *arena,
                          struct btz_sieve_line *line, struct btz_err *err) BTZ_WARN_UNUSED;

/* Name of the file, for messages of the caller. */
const char *btz_sieve_reader_name(const struct btz_sieve_reader *reader);

/* ---- Definitions ---- */

struct btz_sieve_definition {
    struct btz_str id;                                 /* 16 hexadecimal digits */
    struct btz_str source;                             /* "npm:NAME", ...: the cluster */
    struct btz_str registry, package, package_version; /* all empty: no package */
    struct btz_str server_name, server_version;        /* name empty: no server told itself */
    struct btz_str revision;                           /* empty: unknown */
    struct btz_str collected;                          /* YYYY-MM-DD */
    struct btz_str hash;                               /* 64 hexadecimal digits */
    const struct btz_json *tool;                       /* object with a `name` */
};

/* Fills `id` and `hash` from `source` and `tool`. BTZ_EINVAL if the definition could not be read
 * back (no name, no source, a bad date). */
int btz_sieve_definition_seal(struct btz_arena *arena, struct btz_sieve_definition *definition,
                              struct btz_err *err) BTZ_WARN_UNUSED;

/* Reads and checks the object of a line; `id` and `hash` must fit. Texts are borrowed from it. */
int btz_sieve_definition_read(struct btz_arena *arena, const struct btz_json *value,
                              struct btz_sieve_definition *out,
                              struct btz_err *err) BTZ_WARN_UNUSED;
/* The next definition of a file: errors name file and line. BTZ_EAGAIN at its end. */
int btz_sieve_definition_next(struct btz_sieve_reader *reader, struct btz_arena *arena,
                              struct btz_sieve_definition *out,
                              struct btz_err *err) BTZ_WARN_UNUSED;
/* Appends the line, with its LF. */
void btz_sieve_definition_write(struct btz_buf *out, const struct btz_sieve_definition *definition);

/* ---- Items ---- */

enum btz_sieve_kind { BTZ_SIEVE_ATTACK, BTZ_SIEVE_TWIN, BTZ_SIEVE_NEGATIVE, BTZ_SIEVE_KINDS };

enum btz_sieve_paradigm {
    BTZ_SIEVE_P1, /* explicit trigger: the user asks for the poisoned tool */
    BTZ_SIEVE_P2, /* implicit trigger: another tool is called in its stead */
    BTZ_SIEVE_P3, /* implicit trigger: arguments of another call are tampered with */
    BTZ_SIEVE_PARADIGMS,
    BTZ_SIEVE_NO_PARADIGM = BTZ_SIEVE_PARADIGMS
};

enum btz_sieve_risk {
    BTZ_SIEVE_PRIVACY_LEAKAGE,
    BTZ_SIEVE_INFORMATION_MANIPULATION,
    BTZ_SIEVE_SERVICE_DISRUPTION,
    BTZ_SIEVE_INFRASTRUCTURE_DAMAGE,
    BTZ_SIEVE_DATA_TAMPERING,
    BTZ_SIEVE_CREDENTIAL_LEAKAGE,
    BTZ_SIEVE_CODE_INJECTION,
    BTZ_SIEVE_INSTRUCTION_TAMPERING,
    BTZ_SIEVE_FINANCIAL_LOSS,
    BTZ_SIEVE_MESSAGE_HIJACKING,
    BTZ_SIEVE_RISKS,
    BTZ_SIEVE_NO_RISK = BTZ_SIEVE_RISKS
};

enum btz_sieve_phrasing { BTZ_SIEVE_DIRECT, BTZ_SIEVE_NATURAL, BTZ_SIEVE_PHRASINGS };
enum btz_sieve_split { BTZ_SIEVE_DEV, BTZ_SIEVE_TEST, BTZ_SIEVE_SPLITS };

/* The words of the file format, such as "attack", "P1", "privacy-leakage"; NULL for a value that
 * has none. */
const char *btz_sieve_kind_name(enum btz_sieve_kind kind);
const char *btz_sieve_paradigm_name(enum btz_sieve_paradigm paradigm);
const char *btz_sieve_risk_name(enum btz_sieve_risk risk);
const char *btz_sieve_phrasing_name(enum btz_sieve_phrasing phrasing);
const char *btz_sieve_split_name(enum btz_sieve_split split);
/* The value of a word; false if there is none. */
bool btz_sieve_paradigm_of(struct btz_str word, enum btz_sieve_paradigm *out);
bool btz_sieve_risk_of(struct btz_str word, enum btz_sieve_risk *out);

/* What one argument must be. Exactly one of the two is given. */
struct btz_sieve_condition {
    struct btz_str path;           /* JSON pointer into the arguments */
    const struct btz_json *equals; /* NULL: `contains` counts */
    struct btz_str contains;       /* text; compared folded (text/fold.h) */
};

struct btz_sieve_call {
    struct btz_str tool;
    struct btz_sieve_condition *conditions;
    size_t count;
};

struct btz_sieve_item {
    struct btz_str id;
    enum btz_sieve_kind kind;
    struct btz_str pair; /* empty: null */
    enum btz_sieve_paradigm paradigm;
    enum btz_sieve_risk risk;
    struct btz_str family;
    bool held_out;
    struct btz_str cluster;
    enum btz_sieve_split split;
    const struct btz_json *poisoned; /* object with a `name` */
    struct btz_str replaces;         /* empty: null */
    const struct btz_json *tools;    /* array of objects with a `name` */
    struct btz_str query;
    enum btz_sieve_phrasing phrasing;
    struct btz_sieve_call target;
    bool has_malicious;
    struct btz_sieve_call malicious;
    struct btz_str *operands;
    size_t operand_count;
};

/* Reads and checks the object of a line. Besides the types: an attack has paradigm, risk, pair and
 * malicious call, a twin the first three, a negative none; names of tools are distinct; the target
 * is a tool that is shown; the malicious call goes to one of `tools`. Texts are borrowed. */
int btz_sieve_item_read(struct btz_arena *arena, const struct btz_json *value,
                        struct btz_sieve_item *out, struct btz_err *err) BTZ_WARN_UNUSED;
/* The next item of a file: errors name file and line. BTZ_EAGAIN at its end. */
int btz_sieve_item_next(struct btz_sieve_reader *reader, struct btz_arena *arena,
                        struct btz_sieve_item *out, struct btz_err *err) BTZ_WARN_UNUSED;
/* Appends the line, with its LF. */
void btz_sieve_item_write(struct btz_buf *out, const struct btz_sieve_item *item);

/* ---- Manifest of a split ---- */

enum btz_sieve_method { BTZ_SIEVE_PAPER, BTZ_SIEVE_GROUPED, BTZ_SIEVE_METHODS };

const char *btz_sieve_method_name(enum btz_sieve_method method);

struct btz_sieve_side {
    int64_t count;         /* lines */
    struct btz_str sha256; /* of the file's bytes; 64 hexadecimal digits */
};

struct btz_sieve_stratum {
    struct btz_str name;
    int64_t dev, test; /* lines */
};

struct btz_sieve_manifest {
    int64_t version;        /* 1 */
    struct btz_str created; /* YYYY-MM-DD */
    enum btz_sieve_method method;
    int64_t seed;
    double share; /* of the units that were to be held out */
    struct btz_str input_path;
    struct btz_sieve_side input, dev, test;
    struct btz_sieve_stratum *strata;
    size_t stratum_count;
    struct btz_str rules_commit, rules_sha256; /* empty: not told */
};

/* Reads a manifest's text; `name` stands in messages. Copies what it needs into the arena. */
int btz_sieve_manifest_parse(struct btz_arena *arena, struct btz_str text, const char *name,
                             struct btz_sieve_manifest *out, struct btz_err *err) BTZ_WARN_UNUSED;
/* The same from a file; also BTZ_ENOTFOUND and BTZ_EIO. */
int btz_sieve_manifest_load(struct btz_arena *arena, const char *path,
                            struct btz_sieve_manifest *out, struct btz_err *err) BTZ_WARN_UNUSED;
/* Appends the object on one line, with its LF. */
void btz_sieve_manifest_write(struct btz_buf *out, const struct btz_sieve_manifest *manifest);

/* Whether `path` is still what was frozen: if it is a dev.jsonl or test.jsonl beside a
 * manifest.json, its hash is compared with that of the manifest, BTZ_ECORRUPT if they differ; also
 * the errors of btz_sieve_manifest_load. Any other path is fine. btz_sieve_reader_open does this
 * itself; whoever opens such a file in another way calls it first. */
int btz_sieve_frozen_check(const char *path, struct btz_err *err) BTZ_WARN_UNUSED;
/* BTZ_EUSAGE if `path` is one side of a frozen set: for commands that would add to it. */
int btz_sieve_frozen_keep(const char *path, struct btz_err *err) BTZ_WARN_UNUSED;

/* SHA-256 of a file's bytes. BTZ_ENOTFOUND, BTZ_EIO. */
int btz_sieve_file_hash(const char *path, struct btz_hash *out,
                        struct btz_err *err) BTZ_WARN_UNUSED;

#endif
