/* Inside the room: reading members of an object with messages that name them. */
#ifndef BTZ_SIEVE_SIEVE_INT_H
#define BTZ_SIEVE_SIEVE_INT_H

#include "sieve/item.h"

/* An object that is being read; `path` is the JSON pointer of the object ("" for the line). */
struct fields {
    const struct btz_json *object;
    const char *path;
    struct btz_err *err;
};

/* Refuses members that are not in `names` (ends with NULL). */
int btz_sieve_fields_known(const struct fields *f, const char *const *names) BTZ_WARN_UNUSED;
/* The same, and names that are missing. */
int btz_sieve_fields_check(const struct fields *f, const char *const *names) BTZ_WARN_UNUSED;

/* BTZ_EINVAL with "PATH/NAME: message". */
int btz_sieve_field_wrong(const struct fields *f, const char *name, const char *fmt, ...)
    BTZ_PRINTF(3, 4);

/* A text that is not empty; of `max` bytes at most. */
int btz_sieve_field_text(const struct fields *f, const char *name, size_t max,
                         struct btz_str *out) BTZ_WARN_UNUSED;
/* The same, or null: then empty. */
int btz_sieve_field_text_or_null(const struct fields *f, const char *name, size_t max,
                                 struct btz_str *out) BTZ_WARN_UNUSED;
/* Index of the text in `words` (ends with NULL); null gives the number of words if `nullable`. */
int btz_sieve_field_word(const struct fields *f, const char *name, const char *const *words,
                         bool nullable, int *out) BTZ_WARN_UNUSED;
/* `digits` lower-case hexadecimal digits. */
int btz_sieve_field_hex(const struct fields *f, const char *name, size_t digits,
                        struct btz_str *out) BTZ_WARN_UNUSED;
int btz_sieve_field_count(const struct fields *f, const char *name, int64_t *out) BTZ_WARN_UNUSED;
/* An existing day, YYYY-MM-DD. */
int btz_sieve_field_date(const struct fields *f, const char *name,
                         struct btz_str *out) BTZ_WARN_UNUSED;
/* An object, or null (NULL) if `nullable`. */
int btz_sieve_field_object(const struct fields *f, const char *name, bool nullable,
                           const struct btz_json **out) BTZ_WARN_UNUSED;
int btz_sieve_field_array(const struct fields *f, const char *name, size_t max,
                          const struct btz_json **out) BTZ_WARN_UNUSED;
/* A tool definition: an object with a `name`; its pointer is PATH/NAME. */
int btz_sieve_field_tool(const struct fields *f, const char *name,
                         const struct btz_json **out) BTZ_WARN_UNUSED;

extern const char *const btz_sieve_kind_words[], *const btz_sieve_paradigm_words[],
                                                     *const btz_sieve_risk_words[],
                                                         *const btz_sieve_phrasing_words[],
                                                             *const btz_sieve_split_words[],
                                                                 *const btz_sieve_method_words[];

/* SHA-256 of the canonical JSON of a tool, and the id of (source, tool). */
void btz_sieve_tool_hashes(struct btz_arena *arena, struct btz_str source,
                           const struct btz_json *tool, struct btz_str *id, struct btz_str *hash);

#endif
