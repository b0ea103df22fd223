/* Inside the room: waiting outgoing messages of a machine, bounded by bytes. */
#ifndef BTZ_MCP_QUEUE_H
#define BTZ_MCP_QUEUE_H

#include "mcp/codec.h"

struct out_item {
    struct out_item *next;
    struct btz_buf bytes;
    struct btz_mcp_out out;
    struct btz_mcp_param *params; /* copy of out.params; their texts are in `text` */
    char text[];                  /* what the views of `out` point to */
};

struct out_queue {
    struct out_item *head;
    struct out_item *tail;
    struct out_item *pulled; /* given to the owner, freed at the next pull */
    size_t bytes;            /* of messages and their records */
    size_t max;
};

void btz_mcp_queue_init(struct out_queue *queue, size_t max);
void btz_mcp_queue_fini(struct out_queue *queue);

/* A message that is being built: write into `item->bytes`, then push. The ids and names in `out`
 * are copied. */
struct out_item *btz_mcp_queue_item(struct out_queue *queue, const struct btz_mcp_out *out);

/* Takes the item in any case. BTZ_ELIMIT if it does not fit (nothing is queued). */
int btz_mcp_queue_push(struct out_queue *queue, struct out_item *item) BTZ_WARN_UNUSED;
bool btz_mcp_queue_pull(struct out_queue *queue, struct btz_mcp_out *out);

/* Arenas for messages: a few are kept for reuse. */
#define ARENA_POOL 8
struct arena_pool {
    struct btz_arena *free[ARENA_POOL];
    size_t count;
};
struct btz_arena *btz_mcp_pool_take(struct arena_pool *pool);
void btz_mcp_pool_give(struct arena_pool *pool, struct btz_arena *arena); /* NULL is allowed */
void btz_mcp_pool_fini(struct arena_pool *pool);

#endif
