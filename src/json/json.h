/* Strict JSON values in an arena.
 *
 * Parsing accepts exactly RFC 8259 and refuses more: invalid UTF-8 (also overlong forms and
 * surrogates as bytes), lone surrogate escapes, NUL (byte or \u0000), duplicate keys at any depth,
 * bytes after the value, a byte order mark, nesting or size over the limits. Number text is kept
 * exactly as received. Objects keep the order of their members.
 *
 * A value is immutable once it is shared; the builders below are for values that one owner is
 * still making. All values live in the arena they were made in and are never freed singly.
 * A value made by btz_json_parse copies what it needs: the source text may go away. */
#ifndef BTZ_JSON_JSON_H
#define BTZ_JSON_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

enum btz_json_kind {
    BTZ_JSON_NULL,
    BTZ_JSON_BOOL,
    BTZ_JSON_NUMBER,
    BTZ_JSON_STRING,
    BTZ_JSON_ARRAY,
    BTZ_JSON_OBJECT
};

struct btz_json; /* one value */

/* What to do with a key that an object has already. REJECT is the only policy for product input;
 * the others exist for the host-profile switch `parse.duplicate_keys`. */
enum btz_json_duplicates { BTZ_JSON_DUP_REJECT, BTZ_JSON_DUP_FIRST, BTZ_JSON_DUP_LAST };

struct btz_json_limits {
    size_t max_bytes;   /* 0 = 16 MiB */
    unsigned max_depth; /* 0 = 64; the top value has depth 1 */
    size_t max_values;  /* 0 = 1,000,000 */
    enum btz_json_duplicates duplicates;
};

/* Parses one whole text. On failure returns BTZ_EINVAL or BTZ_ELIMIT and fills `err` with line,
 * column (bytes, from 1) and the reason. `limits` NULL = defaults. */
int btz_json_parse(struct btz_arena *arena, struct btz_str text,
                   const struct btz_json_limits *limits, const struct btz_json **out,
                   struct btz_err *err) BTZ_WARN_UNUSED;

enum btz_json_kind btz_json_kind(const struct btz_json *value);
const char *btz_json_kind_name(enum btz_json_kind kind); /* "null", "boolean", "number", ... */

/* True if `value` is not NULL and has that kind. Every accessor below accepts NULL as "absent". */
bool btz_json_is(const struct btz_json *value, enum btz_json_kind kind);

bool btz_json_bool(const struct btz_json *value, bool fallback);
struct btz_str btz_json_str(const struct btz_json *value); /* decoded; BTZ_STR_NONE if no string */
struct btz_str btz_json_number_text(const struct btz_json *value);

/* True if the number is mathematically an integer in the range of int64 (1.0 and 1e2 are). */
bool btz_json_int64(const struct btz_json *value, int64_t *out);
/* Nearest double; false if `value` is no number or overflows to infinity. */
bool btz_json_double(const struct btz_json *value, double *out);

/* Array: number of items; item by index or NULL. Object: number of members. Others: 0 / NULL. */
size_t btz_json_count(const struct btz_json *value);
const struct btz_json *btz_json_at(const struct btz_json *array, size_t index);

/* Object member by key, or NULL. Objects of over 8 members use an index: O(1) on average. */
const struct btz_json *btz_json_get(const struct btz_json *object, struct btz_str key);
static inline const struct btz_json *btz_json_getz(const struct btz_json *object, const char *key)
{
    return btz_json_get(object, btz_str_of(key));
}
/* n-th member in received order. */
struct btz_str btz_json_key_at(const struct btz_json *object, size_t index);
const struct btz_json *btz_json_value_at(const struct btz_json *object, size_t index);

/* Follows an RFC 6901 pointer such as "/params/name"; NULL if absent or malformed. */
const struct btz_json *btz_json_pointer(const struct btz_json *root, struct btz_str pointer);

/* Byte range of the value in the text it was parsed from; begin == end for built values. */
void btz_json_span(const struct btz_json *value, size_t *begin, size_t *end);

/* Deep equality: member order does not matter, numbers compare by mathematical value. */
bool btz_json_equal(const struct btz_json *a, const struct btz_json *b);

/* Builders. Strings must be valid UTF-8 without NUL: invalid bytes are replaced by U+FFFD, NUL too.
 */
struct btz_json *btz_json_null(struct btz_arena *arena);
struct btz_json *btz_json_new_bool(struct btz_arena *arena, bool value);
struct btz_json *btz_json_new_int(struct btz_arena *arena, int64_t value);
struct btz_json *btz_json_new_double(struct btz_arena *arena,
                                     double value); /* not finite -> null */
struct btz_json *btz_json_new_number(struct btz_arena *arena,
                                     struct btz_str text); /* valid JSON number */
struct btz_json *btz_json_new_str(struct btz_arena *arena, struct btz_str value); /* copies */
struct btz_json *btz_json_new_strz(struct btz_arena *arena, const char *value);   /* copies */
struct btz_json *btz_json_new_array(struct btz_arena *arena);
struct btz_json *btz_json_new_object(struct btz_arena *arena);
/* Deep copy into another arena. */
struct btz_json *btz_json_dup(struct btz_arena *arena, const struct btz_json *value);
/* Copy of the top level only: members are shared. For arrays, objects and scalars. */
struct btz_json *btz_json_shallow(struct btz_arena *arena, const struct btz_json *value);

/* Adds to an array or object that was built (not parsed) in `arena`. `set` replaces a member of
 * the same key in place; keys are copied. `value` must outlive the container. */
void btz_json_push(struct btz_arena *arena, struct btz_json *array, const struct btz_json *value);
void btz_json_set(struct btz_arena *arena, struct btz_json *object, struct btz_str key,
                  const struct btz_json *value);
void btz_json_setz(struct btz_arena *arena, struct btz_json *object, const char *key,
                   const struct btz_json *value);
/* Shorthands: object member from a string, integer or boolean. */
void btz_json_set_str(struct btz_arena *arena, struct btz_json *object, const char *key,
                      struct btz_str value);
void btz_json_set_strz(struct btz_arena *arena, struct btz_json *object, const char *key,
                       const char *value);
void btz_json_set_int(struct btz_arena *arena, struct btz_json *object, const char *key,
                      int64_t value);
void btz_json_set_bool(struct btz_arena *arena, struct btz_json *object, const char *key,
                       bool value);
/* Removes a member / an item; nothing happens if it is absent. Built containers only. */
void btz_json_remove(struct btz_json *object, struct btz_str key);
void btz_json_remove_at(struct btz_json *array, size_t index);
/* Replaces item `index` of a built array. */
void btz_json_replace_at(struct btz_json *array, size_t index, const struct btz_json *value);

/* Compact text in member order; number text unchanged. Control characters, quote and backslash
 * are escaped, everything else is written as UTF-8. No newline is ever written. */
int btz_json_write(struct btz_buf *out, const struct btz_json *value);
/* Two-space indented, for people. */
int btz_json_write_pretty(struct btz_buf *out, const struct btz_json *value);
/* Keys sorted by bytes, numbers normalised: equal values give equal bytes (for hashing). */
int btz_json_write_canonical(struct btz_buf *out, const struct btz_json *value);
/* Compact text in the arena, NUL-terminated. */
struct btz_str btz_json_text(struct btz_arena *arena, const struct btz_json *value);
/* Writes one string literal with its quotes. */
int btz_json_write_str(struct btz_buf *out, struct btz_str value);

#endif
