/* UTF-8, byte by byte (RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF). */
#ifndef BTZ_HTTP_SSE_INT_H
#define BTZ_HTTP_SSE_INT_H

#include <stdbool.h>

#include "base/str.h"

struct btz_http_utf8 {
    unsigned char more;      /* bytes that the character under way still needs */
    unsigned char low, high; /* bounds of the next one */
};

/* False if `c` cannot come next; the state is then of no use. */
bool btz_http_utf8_step(struct btz_http_utf8 *state, unsigned char c);
bool btz_http_utf8_is(struct btz_str s); /* `s` is whole characters */

#endif
