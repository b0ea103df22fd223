/* Configuration and study files: strict YAML 1.2, or JSON, as a JSON tree that knows its lines.
 *
 * From YAML only what a configuration needs is accepted; everything that surprises is refused with
 * file, line and remedy: duplicate keys, anchors and aliases, tags, directives, merge keys, keys
 * that are no scalars, several documents, infinities and NaN. Plain scalars follow the core schema
 * of YAML 1.2: null, true, false, integers (also 0x and 0o) and floats; "no", "yes", "on" and dates
 * stay strings. Numbers keep their digits. */
#ifndef BTZ_CONFIG_CONFIG_H
#define BTZ_CONFIG_CONFIG_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "json/json.h"
#include "schema/schema.h"

struct btz_config; /* lives in an arena */

struct btz_config_limits {
    size_t max_bytes;   /* 0 = 1 MiB */
    unsigned max_depth; /* 0 = 32; the top value has depth 1 */
    size_t max_values;  /* 0 = 100,000 */
};

/* Parses `text`, which may go away. A `file` (for messages, may be NULL) that ends in ".json" is
 * parsed as JSON, everything else as YAML. A UTF-8 byte order mark before it is skipped. BTZ_EINVAL
 * or BTZ_ELIMIT with file, line and column. */
int btz_config_parse(struct btz_arena *arena, struct btz_str text, const char *file,
                     const struct btz_config_limits *limits, struct btz_config **out,
                     struct btz_err *err) BTZ_WARN_UNUSED;

/* The same from a regular file; also BTZ_ENOTFOUND and BTZ_EIO. */
int btz_config_load(struct btz_arena *arena, const char *file,
                    const struct btz_config_limits *limits, struct btz_config **out,
                    struct btz_err *err) BTZ_WARN_UNUSED;

const struct btz_json *btz_config_root(const struct btz_config *config);

/* Line (from 1) where a value of the tree begins; 0 if `value` is not of this tree. */
unsigned btz_config_line(const struct btz_config *config, const struct btz_json *value);

/* Line of the key of a value in a mapping: a list begins below its key. Of an item of a list, of
 * the top value, and in JSON the same as btz_config_line. */
unsigned btz_config_key_line(const struct btz_config *config, const struct btz_json *value);

/* The text as it was parsed, and the name of the file as it was given ("" for none). */
struct btz_str btz_config_text(const struct btz_config *config);
const char *btz_config_file(const struct btz_config *config);

/* Checks the tree. BTZ_OK; BTZ_EINVAL with file, line, field and expectation of the first violation
 * and, as far as they fit, of the next; or BTZ_ELIMIT. */
int btz_config_check(const struct btz_config *config, const struct btz_schema *schema,
                     struct btz_err *err) BTZ_WARN_UNUSED;

/* For checks that a schema cannot express: fills `err` with BTZ_EINVAL, the message and the place
 * of `value`; returns BTZ_EINVAL. */
int btz_config_refuse(const struct btz_config *config, const struct btz_json *value,
                      struct btz_err *err, const char *fmt, ...) BTZ_PRINTF(4, 5);

#endif
