#include "base/arena.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* Blocks double up to BLOCK_MAX; a request larger than that gets a block of its own. After a reset
 * blocks are reused front to back as long as their sum stays under KEEP_MAX, because glibc maps
 * and faults large blocks anew each time they are allocated. */
enum { BLOCK_MIN = 4096, BLOCK_MAX = 256 * 1024, KEEP_MAX = 1024 * 1024 };

struct block {
    struct block *next;
    size_t size;
    size_t used;
    alignas(max_align_t) char bytes[];
};

struct btz_arena {
    struct block *first;
    struct block *current;
    size_t used;
};

struct btz_arena *btz_arena_new(void)
{
    struct btz_arena *arena = calloc(1, sizeof(*arena));

    if (!arena) {
        btz_panic("out of memory");
    }
    return arena;
}

static struct block *block_add(struct btz_arena *arena, size_t need)
{
    size_t size = arena->current ? arena->current->size * 2 : BLOCK_MIN;
    struct block *b;

    if (size > BLOCK_MAX) {
        size = BLOCK_MAX;
    }
    if (size < need) {
        size = need;
    }
    b = malloc(sizeof(*b) + size);
    if (!b) {
        btz_panic("out of memory (arena block of %zu bytes)", size);
    }
    b->size = size;
    b->used = 0;
    if (arena->current) {
        b->next = arena->current->next;
        arena->current->next = b;
    } else {
        b->next = arena->first;
        arena->first = b;
    }
    arena->current = b;
    return b;
}

struct btz_arena *btz_arena_new_for(size_t bytes)
{
    struct btz_arena *arena = btz_arena_new();

    (void)block_add(arena, bytes);
    return arena;
}

void btz_arena_free(struct btz_arena *arena)
{
    struct block *next;

    if (!arena) {
        return;
    }
    for (struct block *b = arena->first; b; b = next) {
        next = b->next;
        free(b);
    }
    free(arena);
}

void btz_arena_reset(struct btz_arena *arena)
{
    struct block **link = &arena->first;
    size_t kept = 0;

    while (*link) {
        struct block *b = *link;

        if (kept + b->size > KEEP_MAX) {
            *link = b->next;
            free(b);
            continue;
        }
        kept += b->size;
        b->used = 0;
        link = &b->next;
    }
    arena->current = arena->first;
    arena->used = 0;
}

size_t btz_arena_used(const struct btz_arena *arena)
{
    return arena->used;
}

void *btz_arena_alloc(struct btz_arena *arena, size_t size)
{
    const size_t align = alignof(max_align_t);
    struct block *b = arena->current;
    void *out;

    if (size > SIZE_MAX / 2) {
        btz_panic("out of memory (arena request of %zu bytes)", size);
    }
    size = (size + align - 1) & ~(align - 1);
    while (b && b->size - b->used < size && b->next) {
        b = arena->current = b->next;
    }
    if (!b || b->size - b->used < size) {
        b = block_add(arena, size);
    }
    out = b->bytes + b->used;
    b->used += size;
    arena->used += size;
    return out;
}

void *btz_arena_zalloc(struct btz_arena *arena, size_t size)
{
    return memset(btz_arena_alloc(arena, size), 0, size);
}

void *btz_arena_array(struct btz_arena *arena, size_t count, size_t size)
{
    size_t total;

    if (__builtin_mul_overflow(count, size, &total)) {
        btz_panic("out of memory (%zu items of %zu bytes)", count, size);
    }
    return btz_arena_zalloc(arena, total);
}

void *btz_arena_grow(struct btz_arena *arena, void *items, size_t count, size_t *cap, size_t size)
{
    void *out;

    if (count < *cap) {
        return items;
    }
    *cap = *cap ? *cap * 2 : 8;
    out = btz_arena_array(arena, *cap, size);
    if (count > 0) {
        memcpy(out, items, count * size);
    }
    return out;
}

char *btz_arena_cstr(struct btz_arena *arena, struct btz_str s)
{
    char *out = btz_arena_alloc(arena, s.len + 1);

    if (s.len) {
        memcpy(out, s.ptr, s.len);
    }
    out[s.len] = '\0';
    return out;
}

struct btz_str btz_arena_dup(struct btz_arena *arena, struct btz_str s)
{
    return (struct btz_str){btz_arena_cstr(arena, s), s.len};
}

struct btz_str btz_arena_printf(struct btz_arena *arena, const char *fmt, ...)
{
    va_list args;
    va_list again;
    int len;
    char *out;

    va_start(args, fmt);
    va_copy(again, args);
    len = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    if (len < 0) {
        btz_panic("a format string could not be printed");
    }
    out = btz_arena_alloc(arena, (size_t)len + 1);
    (void)vsnprintf(out, (size_t)len + 1, fmt, again);
    va_end(again);
    return (struct btz_str){out, (size_t)len};
}
