#include "auth/store.h"

#include <stdlib.h>

#include "auth/url.h"
#include "base/arena.h"

enum { MAX_ENTRIES = 256 };

/* Each entry has an arena of its own, so that replacing one gives its memory back. */
struct entry {
    struct entry *next;
    struct btz_arena *arena;
    struct btz_auth_client client;
    struct btz_auth_token token;
};

struct btz_auth_store {
    struct entry *clients, *tokens; /* newest first */
};

struct btz_auth_store *btz_auth_store_new(void)
{
    struct btz_auth_store *store = calloc(1, sizeof(*store));

    if (!store) {
        btz_panic("out of memory (credentials)");
    }
    return store;
}

static void free_list(struct entry *list)
{
    while (list) {
        struct entry *next = list->next;

        btz_arena_free(list->arena);
        list = next;
    }
}

void btz_auth_store_free(struct btz_auth_store *store)
{
    if (store) {
        free_list(store->clients);
        free_list(store->tokens);
        free(store);
    }
}

static struct entry *new_entry(struct entry **list)
{
    struct btz_arena *arena = btz_arena_new();
    struct entry *entry = BTZ_NEW(arena, struct entry);
    struct entry **link = list;

    entry->arena = arena;
    for (size_t i = 0; *link; i++, link = &(*link)->next) {
        if (i + 1 == MAX_ENTRIES) {
            free_list(*link);
            *link = NULL;
            break;
        }
    }
    entry->next = *list;
    *list = entry;
    return entry;
}

static void drop(struct entry **link)
{
    struct entry *entry = *link;

    *link = entry->next;
    btz_arena_free(entry->arena);
}

void btz_auth_store_put_client(struct btz_auth_store *store, const struct btz_auth_client *client)
{
    struct entry *entry = new_entry(&store->clients);

    entry->client = (struct btz_auth_client){.issuer = btz_arena_dup(entry->arena, client->issuer),
                                             .id = btz_arena_dup(entry->arena, client->id),
                                             .secret = btz_arena_dup(entry->arena, client->secret),
                                             .method = btz_arena_dup(entry->arena, client->method)};
    for (struct entry **link = &entry->next; *link;) {
        if (btz_str_eq((*link)->client.issuer, entry->client.issuer)) {
            drop(link);
        } else {
            link = &(*link)->next;
        }
    }
}

static void forget(struct entry **link, struct btz_str issuer, struct btz_str resource)
{
    while (*link) {
        if (btz_str_eq((*link)->token.issuer, issuer) &&
            btz_str_eq((*link)->token.resource, resource)) {
            drop(link); /* there is one of a key; `issuer` may have been its own */
            return;
        }
        link = &(*link)->next;
    }
}

void btz_auth_store_put_token(struct btz_auth_store *store, const struct btz_auth_token *token)
{
    struct entry *entry = new_entry(&store->tokens);

    entry->token = (struct btz_auth_token){.issuer = btz_arena_dup(entry->arena, token->issuer),
                                           .resource = btz_arena_dup(entry->arena, token->resource),
                                           .access = btz_arena_dup(entry->arena, token->access),
                                           .refresh = btz_arena_dup(entry->arena, token->refresh),
                                           .scope = btz_arena_dup(entry->arena, token->scope),
                                           .expires_us = token->expires_us};
    forget(&entry->next, entry->token.issuer, entry->token.resource);
}

void btz_auth_store_forget_token(struct btz_auth_store *store, struct btz_str issuer,
                                 struct btz_str resource)
{
    forget(&store->tokens, issuer, resource);
}

const struct btz_auth_client *btz_auth_store_client(const struct btz_auth_store *store,
                                                    struct btz_str issuer)
{
    for (const struct entry *e = store->clients; e; e = e->next) {
        if (btz_str_eq(e->client.issuer, issuer)) {
            return &e->client;
        }
    }
    return NULL;
}

const struct btz_auth_token *btz_auth_store_token(const struct btz_auth_store *store,
                                                  struct btz_str issuer, struct btz_str resource)
{
    for (const struct entry *e = store->tokens; e; e = e->next) {
        if ((!issuer.len || btz_str_eq(e->token.issuer, issuer)) &&
            btz_str_eq(e->token.resource, resource)) {
            return &e->token;
        }
    }
    return NULL;
}

const struct btz_auth_token *btz_auth_store_token_of_host(const struct btz_auth_store *store,
                                                          struct btz_str resource)
{
    struct btz_auth_url wanted;
    struct btz_auth_url kept;

    if (btz_auth_url_parse(resource, &wanted) != BTZ_OK) {
        return NULL;
    }
    for (const struct entry *e = store->tokens; e; e = e->next) {
        if (btz_auth_url_parse(e->token.resource, &kept) == BTZ_OK &&
            btz_auth_url_same_origin(&wanted, &kept)) {
            return &e->token;
        }
    }
    return NULL;
}
