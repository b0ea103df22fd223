#include <stdlib.h>

#include "mcp/endpoint_int.h"

#define FIRST_SIZE 64 /* a power of two */

/* Keys are counters or hashes that only this program chooses, so spreading them is enough. */
static size_t slot_of(const struct table *table, uint64_t key)
{
    return (size_t)((key * UINT64_C(0x9E3779B97F4A7C15)) >> 32) & (table->size - 1);
}

static void resize(struct table *table, size_t size)
{
    struct table old = *table;

    table->slots = calloc(size, sizeof(struct node *));
    if (!table->slots) {
        btz_panic("out of memory (endpoint table)");
    }
    table->size = size;
    for (size_t i = 0; i < old.size; i++) {
        struct node *next;

        for (struct node *node = old.slots[i]; node; node = next) {
            size_t slot = slot_of(table, node->key);

            next = node->next;
            node->next = table->slots[slot];
            table->slots[slot] = node;
        }
    }
    free(old.slots);
}

void btz_mcp_table_put(struct table *table, struct node *node)
{
    size_t slot;

    if (table->count == table->size) {
        resize(table, table->size ? table->size * 2 : FIRST_SIZE);
    }
    slot = slot_of(table, node->key);
    node->next = table->slots[slot];
    table->slots[slot] = node;
    table->count++;
}

void btz_mcp_table_drop(struct table *table, struct node *node)
{
    struct node **at = &table->slots[slot_of(table, node->key)];

    while (*at != node) {
        at = &(*at)->next;
    }
    *at = node->next;
    node->next = NULL;
    table->count--;
}

struct node *btz_mcp_table_get(const struct table *table, uint64_t key)
{
    struct node *node = table->size ? table->slots[slot_of(table, key)] : NULL;

    while (node && node->key != key) {
        node = node->next;
    }
    return node;
}

struct node *btz_mcp_table_next(const struct table *table, size_t *at, const struct node *last)
{
    if (last && last->next) {
        return last->next;
    }
    while (*at < table->size) {
        struct node *node = table->slots[(*at)++];

        if (node) {
            return node;
        }
    }
    return NULL;
}

void btz_mcp_table_fini(struct table *table)
{
    free(table->slots);
    *table = (struct table){0};
}
