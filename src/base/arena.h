/* An arena: memory that is given back all at once. One per message, per trial or per exchange,
 * reset and reused. Out of memory aborts, so calls never fail. Not for use by two threads. */
#ifndef BTZ_BASE_ARENA_H
#define BTZ_BASE_ARENA_H

#include <stddef.h>

#include "base/str.h"

struct btz_arena;

struct btz_arena *btz_arena_new(void);
/* One whose first block has room for `bytes`, as btz_arena_used counts them: for what is kept long
 * and has a known size. It grows like others. */
struct btz_arena *btz_arena_new_for(size_t bytes);
void btz_arena_free(struct btz_arena *arena); /* NULL is allowed */

/* Forgets all contents and keeps the memory (up to 1 MiB of it) for reuse. */
void btz_arena_reset(struct btz_arena *arena);

/* Bytes handed out since the last reset. */
size_t btz_arena_used(const struct btz_arena *arena);

/* `size` bytes aligned for any type; btz_arena_zalloc clears them. */
void *btz_arena_alloc(struct btz_arena *arena, size_t size);
void *btz_arena_zalloc(struct btz_arena *arena, size_t size);

/* Room for `count` things of `size` bytes, cleared; aborts when the product overflows. */
void *btz_arena_array(struct btz_arena *arena, size_t count, size_t size);

/* Room for one more item behind `count` of `size` bytes: `items` itself, or a copy twice as long
 * when
 * `*cap` is reached. The old items stay valid; new room is cleared. */
void *btz_arena_grow(struct btz_arena *arena, void *items, size_t count, size_t *cap, size_t size);

/* Copy of `s` with a NUL behind it (not counted in the length). */
struct btz_str btz_arena_dup(struct btz_arena *arena, struct btz_str s);
char *btz_arena_cstr(struct btz_arena *arena, struct btz_str s);
struct btz_str btz_arena_printf(struct btz_arena *arena, const char *fmt, ...) BTZ_PRINTF(2, 3);

#define BTZ_NEW(arena, type) ((type *)btz_arena_zalloc((arena), sizeof(type)))

#endif
