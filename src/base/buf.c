#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void btz_buf_init(struct btz_buf *buf, size_t max)
{
    *buf = (struct btz_buf){.max = max};
}

void btz_buf_fini(struct btz_buf *buf)
{
    free(buf->ptr);
    *buf = (struct btz_buf){.max = buf->max};
}

void btz_buf_reset(struct btz_buf *buf)
{
    buf->len = 0;
    buf->failed = false;
}

char *btz_buf_room(struct btz_buf *buf, size_t len)
{
    size_t need;
    size_t cap;
    char *ptr;

    if (buf->failed || __builtin_add_overflow(buf->len, len, &need) || need > buf->max) {
        size_t max = buf->max;

        btz_buf_fini(buf);
        buf->max = max;
        buf->failed = true;
        return NULL;
    }
    if (need <= buf->cap && buf->ptr) {
        return buf->ptr + buf->len;
    }
    cap = buf->cap ? buf->cap : 256;
    while (cap < need) {
        cap *= 2;
    }
    if (cap > buf->max) {
        cap = buf->max;
    }
    ptr = realloc(buf->ptr, cap ? cap : 1);
    if (!ptr) {
        btz_panic("out of memory (buffer of %zu bytes)", cap);
    }
    buf->ptr = ptr;
    buf->cap = cap;
    return buf->ptr + buf->len;
}

void btz_buf_grow_by(struct btz_buf *buf, size_t len)
{
    if (buf->failed || len > buf->cap - buf->len) {
        btz_panic("a buffer was grown past its room");
    }
    buf->len += len;
}

int btz_buf_add_more(struct btz_buf *buf, const void *bytes, size_t len)
{
    char *room = btz_buf_room(buf, len);

    if (!room) {
        return BTZ_ELIMIT;
    }
    if (len) {
        memcpy(room, bytes, len);
    }
    buf->len += len;
    return BTZ_OK;
}

int btz_buf_printf(struct btz_buf *buf, const char *fmt, ...)
{
    char small[512];
    char *large = NULL;
    va_list args;
    int len;
    int rc;

    va_start(args, fmt);
    len = vsnprintf(small, sizeof(small), fmt, args);
    va_end(args);
    if (len < 0) {
        return BTZ_EINVAL;
    }
    if ((size_t)len < sizeof(small)) {
        return btz_buf_add(buf, small, (size_t)len);
    }
    va_start(args, fmt);
    len = vasprintf(&large, fmt, args);
    va_end(args);
    if (len < 0) {
        btz_panic("out of memory");
    }
    rc = btz_buf_add(buf, large, (size_t)len);
    free(large);
    return rc;
}

void btz_buf_consume(struct btz_buf *buf, size_t len)
{
    if (len > buf->len) {
        len = buf->len;
    }
    if (len && len < buf->len) {
        memmove(buf->ptr, buf->ptr + len, buf->len - len);
    }
    buf->len -= len;
}
