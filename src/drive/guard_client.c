#include "drive/guard_client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/hash.h"
#include "drive/drive_int.h"

enum {
    SLOTS_FIRST = 1024,
    ATTEMPTS_MAX = 3,                 /* of a question: the trial waits, and can do without */
    KEPT_BYTES_MAX = 64 * 1024 * 1024 /* of replies; what comes after is asked each time */
};

struct waiter {
    struct waiter *next;
    const void *asker;
    void *tag;
    bool first; /* the question was sent for this one */
};

/* A question, under way or answered. */
struct entry {
    struct btz_hash key;
    bool asked, answered;
    struct btz_arena *parts; /* while it is asked: the trial that asked first may go */
    struct btz_str reply;
    int64_t took_us;
    struct waiter *waiting;
};

/* A waiter whose answer is there. */
struct ready {
    struct ready *next;
    struct waiter waiter;
    struct btz_answer answer;
    char *own; /* bytes of an answer that is not kept */
};

struct btz_drive_guard {
    struct btz_drive_model_client *client;
    struct btz_arena *arena; /* kept replies */
    size_t kept;
    struct entry **slots; /* open addressing by key */
    size_t cap, count;
    struct ready *ready, **ready_end;
    char *last;        /* bytes of the answer that was given last, where they are not kept */
    unsigned failures; /* in a row */
    char down[512];    /* what the last of them said */
};

int btz_drive_guard_new(struct btz_drive *drive, const struct btz_runner_options *options,
                        struct btz_drive_guard **out, struct btz_err *err)
{
    struct btz_drive_guard *guard = calloc(1, sizeof(*guard));
    struct btz_drive_model_options client = {
        .policy = {.in_flight = options->in_flight,
                   .max_attempts = ATTEMPTS_MAX,
                   .seed = options->seed,
                   .attempt_timeout_us = options->attempt_timeout_us},
        .key = options->key};
    int rc;

    if (!guard) {
        btz_panic("out of memory");
    }
    guard->arena = btz_arena_new();
    guard->ready_end = &guard->ready;
    rc = btz_drive_model_client_new(drive->loop, options->model, &client, &guard->client, err);
    if (rc != BTZ_OK) {
        btz_drive_guard_free(guard);
        return rc;
    }
    *out = guard;
    return BTZ_OK;
}

static void free_waiters(struct waiter *waiter)
{
    while (waiter) {
        struct waiter *next = waiter->next;

        free(waiter);
        waiter = next;
    }
}

void btz_drive_guard_free(struct btz_drive_guard *guard)
{
    if (!guard) {
        return;
    }
    btz_drive_model_client_free(guard->client);
    for (size_t i = 0; i < guard->cap; i++) {
        if (guard->slots[i]) {
            free_waiters(guard->slots[i]->waiting);
            btz_arena_free(guard->slots[i]->parts);
            free(guard->slots[i]);
        }
    }
    free(guard->slots);
    while (guard->ready) {
        struct ready *next = guard->ready->next;

        free(guard->ready->own);
        free(guard->ready);
        guard->ready = next;
    }
    free(guard->last);
    btz_arena_free(guard->arena);
    free(guard);
}

static struct btz_hash key_of(const struct btz_str *parts, size_t part_count)
{
    struct btz_hasher *hasher = btz_hasher_new();
    struct btz_hash key;

    for (size_t i = 0; i < part_count; i++) {
        btz_hasher_add_part(hasher, parts[i]);
    }
    key = btz_hasher_end(hasher);
    btz_hasher_free(hasher);
    return key;
}

static struct entry **place(struct entry **slots, size_t cap, const struct btz_hash *key)
{
    uint64_t at;

    memcpy(&at, key->bytes, sizeof(at));
    while (slots[at % cap] && memcmp(slots[at % cap]->key.bytes, key->bytes, sizeof(key->bytes))) {
        at++;
    }
    return &slots[at % cap];
}

static void grow(struct btz_drive_guard *guard)
{
    size_t cap = guard->cap ? 2 * guard->cap : SLOTS_FIRST;
    struct entry **slots = calloc(cap, sizeof(struct entry *));

    if (!slots) {
        btz_panic("out of memory");
    }
    for (size_t i = 0; i < guard->cap; i++) {
        if (guard->slots[i]) {
            *place(slots, cap, &guard->slots[i]->key) = guard->slots[i];
        }
    }
    free(guard->slots);
    guard->slots = slots;
    guard->cap = cap;
}

static struct entry *entry_of(struct btz_drive_guard *guard, const struct btz_hash *key)
{
    struct entry **slot;

    if (2 * guard->count >= guard->cap) {
        grow(guard);
    }
    slot = place(guard->slots, guard->cap, key);
    if (!*slot) {
        *slot = calloc(1, sizeof(**slot));
        if (!*slot) {
            btz_panic("out of memory");
        }
        (*slot)->key = *key;
        guard->count++;
    }
    return *slot;
}

static void make_ready(struct btz_drive_guard *guard, const struct waiter *waiter,
                       const struct btz_answer *answer, bool kept)
{
    struct ready *ready = calloc(1, sizeof(*ready));

    if (!ready) {
        btz_panic("out of memory");
    }
    ready->waiter = *waiter;
    ready->answer = *answer;
    if (!kept && answer->bytes.len) {
        ready->own = malloc(answer->bytes.len);
        if (!ready->own) {
            btz_panic("out of memory");
        }
        memcpy(ready->own, answer->bytes.ptr, answer->bytes.len);
        ready->answer.bytes.ptr = ready->own;
    }
    *guard->ready_end = ready;
    guard->ready_end = &ready->next;
}

static void unlink_ready(struct btz_drive_guard *guard, struct ready **link)
{
    *link = (*link)->next;
    if (!*link) {
        guard->ready_end = link;
    }
}

static int ask(struct btz_drive_guard *guard, struct entry *entry, const struct btz_need *need)
{
    struct btz_str *parts;
    int rc;

    entry->parts = btz_arena_new();
    parts = btz_arena_array(entry->parts, need->part_count, sizeof(*parts));
    for (size_t i = 0; i < need->part_count; i++) {
        parts[i] = btz_arena_dup(entry->parts, need->parts[i]);
    }
    rc = btz_drive_model_client_ask(guard->client, (uintptr_t)entry, parts, need->part_count,
                                    need->deadline_us);
    if (rc != BTZ_OK) {
        btz_arena_free(entry->parts);
        entry->parts = NULL;
        return BTZ_EINTERNAL;
    }
    entry->asked = true;
    return BTZ_OK;
}

int btz_drive_guard_ask(struct btz_drive_guard *guard, const void *asker, void *tag,
                        const struct btz_need *need)
{
    struct btz_hash key = key_of(need->parts, need->part_count);
    struct entry *entry = entry_of(guard, &key);
    struct waiter *waiter;
    int rc;

    if (entry->answered) {
        make_ready(guard, &(struct waiter){.asker = asker, .tag = tag},
                   &(struct btz_answer){.status = BTZ_ANSWER_OK,
                                        .now_us = btz_clock_mono_us(),
                                        .took_us = entry->took_us,
                                        .bytes = entry->reply},
                   true);
        return BTZ_OK;
    }
    if (!entry->asked && (rc = ask(guard, entry, need)) != BTZ_OK) {
        return rc;
    }
    waiter = calloc(1, sizeof(*waiter));
    if (!waiter) {
        btz_panic("out of memory");
    }
    *waiter = (struct waiter){
        .next = entry->waiting, .asker = asker, .tag = tag, .first = !entry->waiting};
    entry->waiting = waiter;
    return BTZ_OK;
}

static void note_failure(struct btz_drive_guard *guard, const struct btz_answer *answer)
{
    if (answer->status == BTZ_ANSWER_OK || answer->status == BTZ_ANSWER_REJECTED) {
        guard->failures = 0;
        return;
    }
    guard->failures++;
    (void)snprintf(guard->down, sizeof(guard->down), "%.*s", BTZ_FMT(answer->bytes));
}

struct btz_str btz_drive_guard_down(const struct btz_drive_guard *guard)
{
    return guard->failures < BTZ_DRIVE_GUARD_FAILURES ? BTZ_STR_NONE
           : guard->down[0]                           ? btz_str_of(guard->down)
                                                      : BTZ_STR("it gives no answers");
}

static bool has_room(const struct btz_drive_guard *guard, struct btz_str reply)
{
    return guard->kept + reply.len <= KEPT_BYTES_MAX;
}

static void keep_answer(struct btz_drive_guard *guard, struct entry *entry, struct btz_str reply,
                        int64_t took_us)
{
    entry->answered = true;
    entry->reply = btz_arena_dup(guard->arena, reply);
    entry->took_us = took_us;
    guard->kept += reply.len;
}

void btz_drive_guard_remember(struct btz_drive_guard *guard, const struct btz_str *parts,
                              size_t part_count, struct btz_str reply, int64_t took_us)
{
    struct btz_hash key = key_of(parts, part_count);
    struct entry *entry;

    if (!has_room(guard, reply)) {
        return;
    }
    entry = entry_of(guard, &key);
    if (!entry->asked && !entry->answered) {
        keep_answer(guard, entry, reply, took_us);
    }
}

/* Hands one answer to all who wait for it. */
static void take_in(struct btz_drive_guard *guard, const struct btz_drive_model_answer *got)
{
    struct entry *entry = (struct entry *)(uintptr_t)got->id;
    struct btz_answer answer = {.status = drive_status(got->status),
                                .now_us = btz_clock_mono_us(),
                                .took_us = got->total_us,
                                .bytes = got->status == BTZ_LLM_OK ? got->bytes : got->text};
    bool keep = answer.status == BTZ_ANSWER_OK && has_room(guard, answer.bytes);
    struct waiter *waiting = entry->waiting;

    note_failure(guard, &answer);
    btz_arena_free(entry->parts);
    entry->parts = NULL;
    entry->waiting = NULL;
    entry->asked = false;
    if (keep) {
        keep_answer(guard, entry, answer.bytes, answer.took_us);
        answer.bytes = entry->reply;
    }
    for (struct waiter *w = waiting; w; w = w->next) {
        answer.attempts = w->first ? (int)got->attempts : 0;
        make_ready(guard, w, &answer, keep);
    }
    free_waiters(waiting);
}

bool btz_drive_guard_next(struct btz_drive_guard *guard, const void *asker, void **tag,
                          struct btz_answer *answer)
{
    struct btz_drive_model_answer got;

    while (btz_drive_model_client_next(guard->client, &got)) {
        take_in(guard, &got);
    }
    for (struct ready **link = &guard->ready; *link; link = &(*link)->next) {
        struct ready *ready = *link;

        if (ready->waiter.asker == asker) {
            unlink_ready(guard, link);
            *tag = ready->waiter.tag;
            *answer = ready->answer;
            free(guard->last);
            guard->last = ready->own;
            free(ready);
            return true;
        }
    }
    return false;
}

void btz_drive_guard_forget(struct btz_drive_guard *guard, const void *asker)
{
    struct ready **link = &guard->ready;

    for (size_t i = 0; i < guard->cap; i++) {
        struct waiter **w = guard->slots[i] ? &guard->slots[i]->waiting : NULL;

        while (w && *w) {
            struct waiter *waiter = *w;

            if (waiter->asker == asker) {
                *w = waiter->next;
                free(waiter);
            } else {
                w = &waiter->next;
            }
        }
    }
    while (*link) {
        struct ready *ready = *link;

        if (ready->waiter.asker == asker) {
            unlink_ready(guard, link);
            free(ready->own);
            free(ready);
        } else {
            link = &ready->next;
        }
    }
}
