/* A borrowed run of bytes. Not NUL-terminated unless the function that made it says so. */
#ifndef BTZ_BASE_STR_H
#define BTZ_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/err.h"

struct btz_str {
    const char *ptr;
    size_t len;
};

#define BTZ_STR(literal) ((struct btz_str){(literal), sizeof(literal) - 1})
#define BTZ_STR_NONE ((struct btz_str){NULL, 0})
#define BTZ_FMT(s) (int)(s).len, (s).ptr /* for "%.*s" */

/* View of a NUL-terminated string (NULL gives the empty view). */
static inline struct btz_str btz_str_of(const char *text)
{
    return (struct btz_str){text, text ? strlen(text) : 0};
}

static inline bool btz_str_eq(struct btz_str a, struct btz_str b)
{
    return a.len == b.len && (a.len == 0 || (a.ptr && b.ptr && memcmp(a.ptr, b.ptr, a.len) == 0));
}

static inline bool btz_str_is(struct btz_str a, const char *text)
{
    return btz_str_eq(a, btz_str_of(text));
}

/* Byte order comparison, a prefix sorts first; <0, 0, >0. */
int btz_str_cmp(struct btz_str a, struct btz_str b);
bool btz_str_starts(struct btz_str s, struct btz_str prefix);
bool btz_str_ends(struct btz_str s, struct btz_str suffix);

/* 0 to 15 for a hexadecimal digit of either case, else -1; any value may be given. */
static inline int btz_hex_value(int c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Offset of the first `needle` in `hay`, or -1. An empty needle is found at 0. */
ptrdiff_t btz_str_find(struct btz_str hay, struct btz_str needle);

/* Part of `s` from `from` on, at most `len` bytes; clamps to the bounds of `s`. */
struct btz_str btz_str_sub(struct btz_str s, size_t from, size_t len);

/* `s` without ASCII white space at both ends. */
struct btz_str btz_str_trim(struct btz_str s);

/* Takes the part of `*rest` before `sep` and moves `*rest` behind it; without a `sep` takes all.
 * Returns false once `*rest` is used up (ptr NULL). */
bool btz_str_cut(struct btz_str *rest, char sep, struct btz_str *part);

/* Decimal integer, whole string, optional '-', no leading '+' or space. EINVAL or ELIMIT. */
int btz_str_int64(struct btz_str s, int64_t *out) BTZ_WARN_UNUSED;

#endif
