/* What a server's seed writes, before a variant adds its own. It is a function of seed and server
 * alone (a seed sees its own part of the world and nothing else) and is never changed afterwards,
 * so all scenarios, arms, agents and defences that meet the same seed share it; a stage holds a
 * reference to those of its servers as long as it lives.
 *
 * Running the servers' seeds costs far more than a trial may, so there are WORLDS different parts
 * for a server, chosen by the seed; markers and everything a variant adds follow the whole seed. */
#include <stdlib.h>

#include "lab/lab_int.h"

enum {
    WORLDS = 32,        /* that differ, for one server */
    KEPT = 512,         /* parts kept for reuse; those in use do not count against it */
    DAYS = 20,          /* the first day of a world is one of so many */
    START = 1772438400, /* 2026-03-02 08:00 UTC */
};

static struct btz_rng rng_for(uint64_t seed, const char *use, struct btz_str name)
{
    struct btz_str parts[] = {btz_str_of(use), {(const char *)&seed, sizeof(seed)}, name};

    return btz_rng_of(btz_rng_key(parts, 3));
}

static struct seeded **bucket_of(struct btz_lab *lab, const struct server *server, uint64_t seed)
{
    uint64_t hash = ((uint64_t)(uintptr_t)server + seed) * 0x9e3779b97f4a7c15ULL;

    return &lab->seeded[(size_t)(hash >> 32) % BTZ_LAB_SEEDED_BUCKETS];
}

/* Runs the seed of the only server of `maker`, a stage that serves for this alone. */
static int run_seed(struct btz_stage *maker, struct btz_err *err)
{
    struct btz_lab *lab = maker->lab;
    const struct stage_server *server = &maker->servers[0];
    struct btz_lua_arg args[] = {{NULL, lab->world_ref}, {NULL, lab->random_ref}};
    struct run run = {.stage = maker, .mode = RUN_SEED_SERVER, .server = server};
    int code;

    btz_json_set(maker->arena, maker->world.root, server->pub.id, server->server->base);
    if (server->server->seed == BTZ_LUA_NONE) {
        return BTZ_OK;
    }
    run.random = rng_for(maker->seed, "seed", server->pub.id);
    maker->random = rng_for(maker->seed, "seed ids", server->pub.id);
    code = btz_stage_run(&run, server->server->script, server->server->seed, args, 2,
                         &btz_lab_call_budget, NULL, err);
    if (code != BTZ_OK) {
        btz_err_prefix(err, "seed of %.*s: ", BTZ_FMT(server->pub.id));
    }
    return code;
}

static void drop(struct btz_lab *lab, struct seeded *s)
{
    struct seeded **link = bucket_of(lab, s->server, s->world);

    while (*link != s) {
        link = &(*link)->next;
    }
    *link = s->next;
    lab->seeded_count--;
    btz_arena_free(s->arena);
    free(s);
}

/* The one that was used longest ago goes first. */
static void make_room(struct btz_lab *lab)
{
    while (lab->seeded_count >= KEPT) {
        struct seeded *oldest = NULL;

        for (size_t b = 0; b < BTZ_LAB_SEEDED_BUCKETS; b++) {
            for (struct seeded *s = lab->seeded[b]; s; s = s->next) {
                if (s->users == 0 && (!oldest || s->used < oldest->used)) {
                    oldest = s;
                }
            }
        }
        if (!oldest) {
            return;
        }
        drop(lab, oldest);
    }
}

static int64_t first_moment(uint64_t world)
{
    struct btz_rng day = rng_for(world, "day", BTZ_STR_NONE);

    return START + 86400 * (int64_t)btz_rng_below(&day, DAYS);
}

/* Copies what the seed made out of its maker's memory, most of which is work space. A member that
 * the seed left alone is the server's own and shared. */
static void keep_in(struct btz_arena *arena, struct seeded *s, const struct btz_stage *maker)
{
    const struct btz_json *from = btz_json_get(maker->world.root, s->server->id);
    struct btz_json *part = btz_json_new_object(arena);

    for (size_t i = 0; i < btz_json_count(from); i++) {
        struct btz_str key = btz_json_key_at(from, i);
        const struct btz_json *value = btz_json_value_at(from, i);

        btz_json_set(arena, part, key,
                     value == btz_json_get(s->server->base, key) ? value
                                                                 : btz_json_dup(arena, value));
    }
    s->part = part;
    s->sinks = btz_json_dup(arena, btz_json_getz(maker->world.root, "sinks"));
    s->id_count = 0;
    s->ids = btz_arena_array(arena, maker->id_count + 1, sizeof(*s->ids));
    for (size_t i = 0; i < maker->id_count; i++) {
        s->ids[s->id_count++] = btz_arena_dup(arena, maker->ids[i]);
    }
    s->tokens = btz_tokens_new(arena);
    for (size_t i = 0; i < maker->journal_count; i++) {
        btz_tokens_add(s->tokens, maker->journal[i]);
    }
}

/* Hundreds of these are kept, so each gets the memory that it needs and no more. */
static void keep(struct seeded *s, const struct btz_stage *maker)
{
    struct btz_arena *draft = btz_arena_new();

    keep_in(draft, s, maker);
    s->arena = btz_arena_new_for(btz_arena_used(draft));
    btz_arena_free(draft);
    keep_in(s->arena, s, maker);
}

static int seeded_make(struct btz_lab *lab, const struct server *server, uint64_t world,
                       struct seeded **out, struct btz_err *err)
{
    struct btz_stage *maker = btz_stage_make(lab, world, 1);
    int code;

    btz_stage_add_server(maker, server, NULL);
    maker->time = first_moment(world);
    code = run_seed(maker, err);
    if (code == BTZ_OK) {
        struct seeded **bucket = bucket_of(lab, server, world);
        struct seeded *s = calloc(1, sizeof(*s));

        if (!s) {
            btz_panic("out of memory");
        }
        s->server = server;
        s->world = world;
        keep(s, maker);
        s->next = *bucket;
        *bucket = s;
        lab->seeded_count++;
        *out = s;
    }
    btz_stage_free(maker);
    return code;
}

static int seeded_get(struct btz_lab *lab, const struct server *server, uint64_t world,
                      struct seeded **out, struct btz_err *err)
{
    struct seeded *s = *bucket_of(lab, server, world);
    int code = BTZ_OK;

    while (s && (s->world != world || s->server != server)) {
        s = s->next;
    }
    if (!s) {
        make_room(lab);
        code = seeded_make(lab, server, world, &s, err);
    }
    if (code == BTZ_OK) {
        s->users++;
        s->used = ++lab->seeded_clock;
        *out = s;
    }
    return code;
}

/* What seeds put into sinks, server by server. */
static void add_sinks(struct btz_stage *stage, const struct btz_json *sinks)
{
    static const char name[] = "sinks";
    struct btz_json *root = stage->world.root;
    struct btz_json *all;

    if (btz_json_count(sinks) == 0) {
        return;
    }
    all = btz_json_getz(root, name) ? btz_json_shallow(stage->arena, btz_json_getz(root, name))
                                    : btz_json_new_object(stage->arena);
    for (size_t i = 0; i < btz_json_count(sinks); i++) {
        const struct btz_json *before = btz_json_get(all, btz_json_key_at(sinks, i));
        const struct btz_json *records = btz_json_value_at(sinks, i);
        struct btz_json *list =
            before ? btz_json_shallow(stage->arena, before) : btz_json_new_array(stage->arena);

        for (size_t n = 0; n < btz_json_count(records); n++) {
            btz_json_push(stage->arena, list, btz_json_at(records, n));
        }
        btz_json_set(stage->arena, all, btz_json_key_at(sinks, i), list);
    }
    btz_json_setz(stage->arena, root, name, all);
}

int btz_lab_seeded_take(struct btz_stage *stage, struct btz_err *err)
{
    uint64_t world = stage->seed % WORLDS;
    size_t ids = 0;

    stage->seeded = btz_arena_array(stage->arena, stage->server_count + 1, sizeof(*stage->seeded));
    stage->time = first_moment(world);
    for (size_t i = 0; i < stage->server_count; i++) {
        const struct stage_server *server = &stage->servers[i];
        int code = seeded_get(stage->lab, server->server, world, &stage->seeded[i], err);

        if (code != BTZ_OK) {
            return code;
        }
        ids += stage->seeded[i]->id_count;
        btz_json_set(stage->arena, stage->world.root, server->pub.id, stage->seeded[i]->part);
        add_sinks(stage, stage->seeded[i]->sinks);
    }
    stage->ids = btz_arena_array(stage->arena, ids + 1, sizeof(*stage->ids));
    stage->id_cap = ids + 1;
    for (size_t i = 0; i < stage->server_count; i++) {
        for (size_t n = 0; n < stage->seeded[i]->id_count; n++) {
            stage->ids[stage->id_count++] = stage->seeded[i]->ids[n];
        }
    }
    return BTZ_OK;
}

void btz_lab_seeded_put(struct btz_stage *stage)
{
    for (size_t i = 0; stage->seeded && i < stage->server_count; i++) {
        if (stage->seeded[i]) {
            stage->seeded[i]->users--;
        }
    }
}

bool btz_lab_seeded_word(const struct btz_stage *stage, struct btz_str word)
{
    for (size_t i = 0; i < stage->server_count; i++) {
        if (btz_tokens_word(stage->seeded[i]->tokens, word)) {
            return true;
        }
    }
    return false;
}

void btz_lab_seeded_free(struct btz_lab *lab)
{
    for (size_t b = 0; b < BTZ_LAB_SEEDED_BUCKETS; b++) {
        while (lab->seeded[b]) {
            drop(lab, lab->seeded[b]);
        }
    }
}
