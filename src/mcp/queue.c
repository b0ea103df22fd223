#include "mcp/queue.h"

#include <stdlib.h>

void btz_mcp_queue_init(struct out_queue *queue, size_t max)
{
    *queue = (struct out_queue){.max = max};
}

static void item_free(struct out_item *item)
{
    if (item) {
        btz_buf_fini(&item->bytes);
        free(item->params);
        free(item);
    }
}

void btz_mcp_queue_fini(struct out_queue *queue)
{
    while (queue->head) {
        struct out_item *item = queue->head;

        queue->head = item->next;
        item_free(item);
    }
    item_free(queue->pulled);
    *queue = (struct out_queue){.max = queue->max};
}

static struct btz_str keep(char **room, struct btz_str s)
{
    char *to = *room;

    if (s.len) {
        memcpy(to, s.ptr, s.len);
    }
    *room += s.len;
    return (struct btz_str){to, s.len};
}

/* Bytes of everything that the views of a message point to. */
static size_t text_of(const struct btz_mcp_out *out)
{
    size_t text = out->id.text.len + out->related.text.len + out->method.len + out->name.len;

    for (size_t i = 0; i < out->param_count; i++) {
        text += out->params[i].name.len + out->params[i].value.len;
    }
    return text;
}

static size_t record_of(const struct btz_mcp_out *out)
{
    return sizeof(struct out_item) + text_of(out) + out->param_count * sizeof(*out->params);
}

static void keep_params(struct out_item *item, const struct btz_mcp_out *out, char **room)
{
    item->out.params = NULL;
    if (!out->param_count) {
        return;
    }
    item->params = calloc(out->param_count, sizeof(*item->params));
    if (!item->params) {
        btz_panic("out of memory (message)");
    }
    for (size_t i = 0; i < out->param_count; i++) {
        item->params[i].name = keep(room, out->params[i].name);
        item->params[i].value = keep(room, out->params[i].value);
    }
    item->out.params = item->params;
}

struct out_item *btz_mcp_queue_item(struct out_queue *queue, const struct btz_mcp_out *out)
{
    struct out_item *item = calloc(1, sizeof(*item) + text_of(out));
    size_t record = record_of(out);
    char *room;

    if (!item) {
        btz_panic("out of memory (message)");
    }
    room = item->text;
    item->out = *out;
    item->out.id.text = keep(&room, out->id.text);
    item->out.related.text = keep(&room, out->related.text);
    item->out.method = keep(&room, out->method);
    item->out.name = keep(&room, out->name);
    keep_params(item, out, &room);
    btz_buf_init(&item->bytes,
                 queue->max - queue->bytes > record ? queue->max - queue->bytes - record : 0);
    return item;
}

/* Bytes an item is charged with: without its record, many tiny messages would be nearly free. */
static size_t charge(const struct out_item *item)
{
    return item->bytes.len + record_of(&item->out);
}

int btz_mcp_queue_push(struct out_queue *queue, struct out_item *item)
{
    if (btz_buf_status(&item->bytes)) {
        item_free(item);
        return BTZ_ELIMIT;
    }
    item->out.bytes = btz_buf_view(&item->bytes);
    queue->bytes += charge(item);
    if (queue->tail) {
        queue->tail->next = item;
    } else {
        queue->head = item;
    }
    queue->tail = item;
    return BTZ_OK;
}

bool btz_mcp_queue_pull(struct out_queue *queue, struct btz_mcp_out *out)
{
    struct out_item *item = queue->head;

    item_free(queue->pulled);
    queue->pulled = NULL;
    if (!item) {
        return false;
    }
    queue->head = item->next;
    if (!queue->head) {
        queue->tail = NULL;
    }
    item->next = NULL;
    queue->bytes -= charge(item);
    queue->pulled = item;
    *out = item->out;
    return true;
}

struct btz_arena *btz_mcp_pool_take(struct arena_pool *pool)
{
    if (pool->count) {
        return pool->free[--pool->count];
    }
    return btz_arena_new();
}

void btz_mcp_pool_give(struct arena_pool *pool, struct btz_arena *arena)
{
    if (!arena) {
        return;
    }
    if (pool->count == ARENA_POOL) {
        btz_arena_free(arena);
        return;
    }
    btz_arena_reset(arena);
    pool->free[pool->count++] = arena;
}

void btz_mcp_pool_fini(struct arena_pool *pool)
{
    while (pool->count) {
        btz_arena_free(pool->free[--pool->count]);
    }
}
