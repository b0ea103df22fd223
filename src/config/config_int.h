/* Inside of room config. */
#ifndef BTZ_CONFIG_CONFIG_INT_H
#define BTZ_CONFIG_CONFIG_INT_H

#include "config/config.h"

struct line_of {
    const struct btz_json *value;
    unsigned line;
    unsigned key_line; /* of its key; `line` if it has none */
};

struct btz_config {
    const char *file; /* never NULL */
    struct btz_str text;
    const struct btz_json *root;
    struct line_of *lines; /* sorted by address */
    size_t count;
};

/* One YAML text as a tree; fills root, lines (not sorted) and count. */
int btz_config_yaml(struct btz_arena *arena, struct btz_str text,
                    const struct btz_config_limits *limits, struct btz_config *config,
                    struct btz_err *err) BTZ_WARN_UNUSED;

/* The value of a plain scalar by the core schema. BTZ_EINVAL (with `err`) for numbers that JSON
 * cannot express. */
int btz_config_plain(struct btz_arena *arena, struct btz_str text, struct btz_json **out,
                     struct btz_err *err) BTZ_WARN_UNUSED;

#endif
