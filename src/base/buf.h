/* A byte buffer that grows up to a hard maximum given at birth. Once an addition would pass the
 * maximum the buffer is *failed*: it frees its bytes, refuses everything with BTZ_ELIMIT until
 * reset, so that a caller may append many times and check once. */
#ifndef BTZ_BASE_BUF_H
#define BTZ_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct btz_buf {
    char *ptr;
    size_t len;
    size_t cap;
    size_t max;
    bool failed;
};

void btz_buf_init(struct btz_buf *buf, size_t max);
void btz_buf_fini(struct btz_buf *buf);
void btz_buf_reset(struct btz_buf *buf); /* length 0, not failed; keeps the memory */

/* btz_buf_add where the room at hand does not do. */
int btz_buf_add_more(struct btz_buf *buf, const void *bytes, size_t len);

/* Each returns 0 or BTZ_ELIMIT. The result may be ignored if btz_buf_status is asked later. A trial
 * adds thousands of short pieces, so the common case is inline. */
static inline int btz_buf_add(struct btz_buf *buf, const void *bytes, size_t len)
{
    if (len == 0 || len > buf->cap - buf->len) {
        return btz_buf_add_more(buf, bytes, len);
    }
    memcpy(buf->ptr + buf->len, bytes, len);
    buf->len += len;
    return BTZ_OK;
}

static inline int btz_buf_add_str(struct btz_buf *buf, struct btz_str s)
{
    return btz_buf_add(buf, s.ptr, s.len);
}

static inline int btz_buf_add_text(struct btz_buf *buf, const char *text)
{
    return btz_buf_add(buf, text, strlen(text));
}

static inline int btz_buf_add_byte(struct btz_buf *buf, char byte)
{
    return btz_buf_add(buf, &byte, 1);
}

int btz_buf_printf(struct btz_buf *buf, const char *fmt, ...) BTZ_PRINTF(2, 3);

/* Room for `len` more bytes that the caller writes itself and then counts with btz_buf_grow_by;
 * NULL when that would pass the maximum. */
char *btz_buf_room(struct btz_buf *buf, size_t len);
void btz_buf_grow_by(struct btz_buf *buf, size_t len);

/* Removes `len` bytes from the front. */
void btz_buf_consume(struct btz_buf *buf, size_t len);

static inline int btz_buf_status(const struct btz_buf *buf)
{
    return buf->failed ? BTZ_ELIMIT : BTZ_OK;
}

/* Borrowed view; ends at the next change of the buffer. */
static inline struct btz_str btz_buf_view(const struct btz_buf *buf)
{
    return (struct btz_str){buf->ptr, buf->len};
}

#endif
