#include "drive/sieve_client.h"

#include <stdlib.h>

#include "base/arena.h"

/* A request under way and all who ask it. */
struct flight {
    struct flight *next;
    struct btz_hash request;
    struct btz_arena *arena; /* holds parts and ids */
    uint64_t *ids;
    size_t count, cap;
};

struct btz_drive_sieve {
    struct btz_drive_model_client *client;
    struct flight *flights;
    struct flight *done; /* whose answer is being handed out */
    size_t handed;       /* of its ids */
    struct btz_drive_sieve_answer answer;
    size_t pending, requests;
    unsigned failures;
};

int btz_drive_sieve_new(struct btz_net_loop *loop, const struct btz_llm_model *model,
                        const struct btz_drive_model_options *options, struct btz_drive_sieve **out,
                        struct btz_err *err)
{
    struct btz_drive_sieve *sieve = calloc(1, sizeof(*sieve));
    int rc;

    if (!sieve) {
        btz_panic("out of memory");
    }
    rc = btz_drive_model_client_new(loop, model, options, &sieve->client, err);
    if (rc != BTZ_OK) {
        free(sieve);
        return rc;
    }
    *out = sieve;
    return BTZ_OK;
}

static void free_flight(struct flight *flight)
{
    if (flight) {
        btz_arena_free(flight->arena);
        free(flight);
    }
}

void btz_drive_sieve_free(struct btz_drive_sieve *sieve)
{
    if (!sieve) {
        return;
    }
    btz_drive_model_client_free(sieve->client);
    while (sieve->flights) {
        struct flight *next = sieve->flights->next;

        free_flight(sieve->flights);
        sieve->flights = next;
    }
    free_flight(sieve->done);
    free(sieve);
}

struct btz_hash btz_drive_sieve_request(const struct btz_str *parts, size_t count)
{
    struct btz_hasher *hasher = btz_hasher_new();
    struct btz_hash hash;

    for (size_t i = 0; i < count; i++) {
        btz_hasher_add_part(hasher, parts[i]);
    }
    hash = btz_hasher_end(hasher);
    btz_hasher_free(hasher);
    return hash;
}

static void add_id(struct flight *flight, uint64_t id)
{
    flight->ids =
        btz_arena_grow(flight->arena, flight->ids, flight->count, &flight->cap, sizeof(id));
    flight->ids[flight->count++] = id;
}

int btz_drive_sieve_ask(struct btz_drive_sieve *sieve, uint64_t id, const struct btz_str *parts,
                        size_t count)
{
    struct btz_hash request = btz_drive_sieve_request(parts, count);
    struct flight *flight = sieve->flights;
    struct btz_str *own;

    while (flight && !btz_hash_eq(&flight->request, &request)) {
        flight = flight->next;
    }
    if (!flight) {
        flight = calloc(1, sizeof(*flight));
        if (!flight) {
            btz_panic("out of memory");
        }
        flight->request = request;
        flight->arena = btz_arena_new();
        own = btz_arena_array(flight->arena, count, sizeof(*own));
        for (size_t i = 0; i < count; i++) {
            own[i] = btz_arena_dup(flight->arena, parts[i]);
        }
        if (btz_drive_model_client_ask(sieve->client, (uintptr_t)flight, own, count, 0) != BTZ_OK) {
            free_flight(flight);
            return BTZ_EINTERNAL;
        }
        flight->next = sieve->flights;
        sieve->flights = flight;
        sieve->requests++;
    }
    add_id(flight, id);
    sieve->pending++;
    return BTZ_OK;
}

static bool hand_out(struct btz_drive_sieve *sieve, struct btz_drive_sieve_answer *out)
{
    if (!sieve->done || sieve->handed == sieve->done->count) {
        return false;
    }
    sieve->answer.id = sieve->done->ids[sieve->handed];
    sieve->answer.attempts = sieve->handed ? 0 : sieve->answer.attempts;
    sieve->handed++;
    sieve->pending--;
    *out = sieve->answer;
    return true;
}

bool btz_drive_sieve_next(struct btz_drive_sieve *sieve, struct btz_drive_sieve_answer *out)
{
    struct btz_drive_model_answer got;
    struct flight **link = &sieve->flights;
    struct flight *flight;

    if (hand_out(sieve, out)) {
        return true;
    }
    free_flight(sieve->done);
    sieve->done = NULL;
    if (!btz_drive_model_client_next(sieve->client, &got)) {
        return false;
    }
    flight = (struct flight *)(uintptr_t)got.id;
    while (*link != flight) {
        link = &(*link)->next;
    }
    *link = flight->next;
    sieve->requests--;
    sieve->failures =
        got.status == BTZ_LLM_OK || got.status == BTZ_LLM_REJECTED ? 0 : sieve->failures + 1;
    sieve->done = flight;
    sieve->handed = 0;
    /* The client's bytes go with its next answer: this one's asks may outlive that. */
    sieve->answer =
        (struct btz_drive_sieve_answer){.request = flight->request,
                                        .status = got.status,
                                        .bytes = btz_arena_dup(flight->arena, got.bytes),
                                        .text = btz_arena_dup(flight->arena, got.text),
                                        .took_us = got.total_us,
                                        .attempts = got.attempts};
    return hand_out(sieve, out);
}

size_t btz_drive_sieve_pending(const struct btz_drive_sieve *sieve)
{
    return sieve->pending;
}

size_t btz_drive_sieve_requests(const struct btz_drive_sieve *sieve)
{
    return sieve->requests;
}

unsigned btz_drive_sieve_failures(const struct btz_drive_sieve *sieve)
{
    return sieve->failures;
}
