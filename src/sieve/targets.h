/* The list of servers that `sieve harvest` asks: YAML or JSON,
 *   env: {NAME: value}        for all
 *   servers:
 *     - {label, command: [words] or url, env: {NAME: value}, source, package: {registry, name,
 * version}} or JSONL with one server a line; a line with `env` alone is for all that follow. */
#ifndef BTZ_SIEVE_TARGETS_H
#define BTZ_SIEVE_TARGETS_H

#include "sieve/item.h"

enum { BTZ_SIEVE_TARGETS_MAX = 10000 };

struct btz_sieve_target {
    struct btz_str label;    /* distinct */
    struct btz_str source;   /* distinct; from the package, the URL or the label if not given */
    const char *const *argv; /* ends with NULL; NULL: `url` */
    size_t word_count;
    struct btz_str url;
    const char *const *env;                            /* "NAME=value", ends with NULL */
    struct btz_str registry, package, package_version; /* all empty: none */
};

/* BTZ_EINVAL with file, line and member; BTZ_ENOTFOUND, BTZ_EIO, BTZ_ELIMIT. */
int btz_sieve_targets_load(struct btz_arena *arena, const char *file, struct btz_sieve_target **out,
                           size_t *count, struct btz_err *err) BTZ_WARN_UNUSED;

/* BTZ_EINVAL unless `text` is NAME=VALUE with a name of letters, digits and '_'. */
int btz_sieve_variable_check(struct btz_str text, struct btz_err *err) BTZ_WARN_UNUSED;

#endif
