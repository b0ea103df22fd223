/* Making a stage: servers, markers, worlds, payload, definitions, plans, in this order. */
#include <string.h>

#include "lab/lab_int.h"

enum { PLAIN_BUDGET = 12 }; /* model turns of a stage without a scenario */

void btz_stage_add_server(struct btz_stage *stage, const struct server *server,
                          const struct btz_json *uris)
{
    struct btz_arena *arena = stage->arena;
    struct stage_server *s = &stage->servers[stage->server_count++];
    struct btz_json *resources = btz_json_new_array(arena);

    s->server = server;
    s->pub.id = server->id;
    s->pub.label = server->label;
    s->pub.instructions = server->instructions;
    s->pub.tools = server->tools_json;
    s->tools = btz_arena_array(arena, server->tool_count + 1, sizeof(*s->tools));
    for (size_t i = 0; i < server->tool_count; i++) {
        s->tools[i].definition = server->tools[i].definition;
    }
    for (size_t i = 0; i < server->resource_count; i++) {
        bool present = !uris;

        for (size_t u = 0; u < btz_json_count(uris); u++) {
            present =
                present || btz_str_eq(btz_json_str(btz_json_at(uris, u)), server->resources[i].uri);
        }
        if (present) {
            btz_json_push(arena, resources, server->resources[i].definition);
        }
    }
    s->resources = resources;
    s->pub.resources = btz_json_shallow(arena, resources);
    s->pub.prompts = server->prompts_json;
    s->pub.templates = server->templates_json;
}

struct stage_server *btz_stage_server_of(struct btz_stage *stage, struct btz_str id)
{
    for (size_t i = 0; i < stage->server_count; i++) {
        if (btz_str_eq(stage->servers[i].pub.id, id)) {
            return &stage->servers[i];
        }
    }
    return NULL;
}

struct btz_str btz_stage_tool_name(const struct stage_server *server, size_t index)
{
    return btz_json_str(btz_json_getz(server->tools[index].definition, "name"));
}

/* The servers' seeded world, and markers whose values it does not hold. */
static int draw_and_seed(struct btz_stage *stage, struct btz_err *err)
{
    const struct btz_json *kinds =
        stage->variant ? btz_json_getz(stage->variant->pub.card, "markers") : NULL;
    struct btz_str parts[] = {BTZ_STR("trial"), {(const char *)&stage->seed, sizeof(stage->seed)}};
    int code = btz_lab_seeded_take(stage, err);

    if (code != BTZ_OK) {
        return code;
    }
    stage->random = btz_rng_of(btz_rng_key(parts, 2));
    stage->markers = btz_lab_markers_draw(stage, kinds);
    if (stage->markers) {
        return BTZ_OK;
    }
    return btz_err_set(err, BTZ_EINTERNAL,
                       "no marker values could be drawn that the worlds do not hold");
}

static int unknown(struct btz_stage *stage, const struct subst *s, struct btz_err *err)
{
    return btz_lab_refuse(stage->variant->script, stage->variant->path, err,
                          "{%.*s} is no marker of this variant", BTZ_FMT(s->unknown));
}

/* The fragments of the arm; one that a twin has no text for is left out there. */
static int make_payload(struct btz_stage *stage, struct subst *s, struct btz_err *err)
{
    const struct btz_json *card = stage->variant->pub.card;
    const struct btz_json *list = btz_json_getz(card, "payload");
    const struct btz_json *twin =
        btz_json_getz(btz_json_getz(card, "twins"), btz_arm_name(stage->arm));
    struct btz_json *texts = btz_json_new_object(stage->arena);

    stage->fragments =
        btz_arena_array(stage->arena, btz_json_count(list) + 1, sizeof(*stage->fragments));
    for (size_t n = 0; n < 2 * btz_json_count(list); n++) {
        bool unseen = n >= btz_json_count(list);
        const struct btz_json *data = btz_json_at(list, n % btz_json_count(list));
        struct btz_str id = btz_json_str(btz_json_getz(data, "id"));
        struct btz_fragment *fragment =
            &stage->fragments[stage->fragment_count + stage->unseen_count];
        struct btz_str text = btz_json_str(btz_json_getz(data, "text"));

        if (btz_json_bool(btz_json_getz(data, "unseen"), false) != unseen) {
            continue;
        }
        if (stage->arm != BTZ_ARM_ATTACK) {
            text = btz_json_str(btz_json_get(btz_json_getz(twin, "texts"), id));
        }
        if (btz_lab_subst_text(s, text, &text) != BTZ_OK) {
            return unknown(stage, s, err);
        }
        btz_json_set(stage->arena, texts, id, btz_json_new_str(stage->arena, text));
        if (text.len == 0) {
            continue;
        }
        if (btz_lab_subst_value(s, btz_json_getz(data, "operands"), &fragment->operands) !=
            BTZ_OK) {
            return unknown(stage, s, err);
        }
        fragment->id = id;
        fragment->at = btz_json_getz(data, "at");
        fragment->text = text;
        *(unseen ? &stage->unseen_count : &stage->fragment_count) += 1;
    }
    stage->payload = texts;
    return BTZ_OK;
}

static int seed_variant(struct btz_stage *stage, struct btz_err *err)
{
    struct btz_lua_arg args[] = {
        {NULL, stage->lab->world_ref}, {stage->markers, 0}, {stage->payload, 0}};
    struct run run = {.stage = stage, .mode = RUN_SEED_VARIANT};
    int code = btz_stage_run(&run, stage->variant->script, stage->variant->seed, args, 3,
                             &btz_lab_call_budget, NULL, err);

    if (code != BTZ_OK) {
        btz_err_prefix(err, "seed of %.*s: ", BTZ_FMT(stage->variant->pub.id));
    }
    return code;
}

/* Tools and prompts in an address or trigger have the names that a model sees. */
static const struct btz_json *visible(struct btz_stage *stage, const struct btz_json *place)
{
    static const char *const keys[] = {"tool", "result", "sampling", "elicitation", "prompt"};
    enum { PROMPT = 4, KEYS };
    const struct stage_server *s =
        btz_stage_server_of(stage, btz_json_str(btz_json_getz(place, "server")));
    struct btz_json *copy = NULL;

    for (size_t i = 0; s && i < KEYS; i++) {
        struct btz_str name = btz_json_str(btz_json_getz(place, keys[i]));
        struct tool *tool = name.len > 0 && i < PROMPT ? btz_lab_tool_of(s->server, name) : NULL;
        struct prompt *prompt =
            name.len > 0 && i == PROMPT ? btz_lab_prompt_of(s->server, name) : NULL;

        if (tool || prompt) {
            copy = copy ? copy : btz_json_shallow(stage->arena, place);
            btz_json_set_str(stage->arena, copy, keys[i],
                             tool ? btz_stage_tool_name(s, (size_t)(tool - s->server->tools))
                                  : prompt->shown);
        }
    }
    return copy ? copy : place;
}

/* The attacker's server has a neutral name, which texts may give as {attacker}. */
static void name_attacker(struct btz_stage *stage, struct btz_str attacker)
{
    struct btz_str label = btz_lab_attacker_label(stage->lab, stage->arena, stage->seed);
    struct btz_json *markers = btz_json_shallow(stage->arena, stage->markers);

    for (size_t i = 0; i < stage->server_count; i++) {
        struct btz_stage_server *pub = &stage->servers[i].pub;

        pub->attacker = btz_str_eq(pub->id, attacker);
        if (pub->attacker) {
            pub->label = label;
        }
    }
    btz_json_set_str(stage->arena, markers, BTZ_LAB_ATTACKER, label);
    stage->markers = markers;
}

/* Labels that the user of this setting has chosen. */
static int give_labels(struct btz_stage *stage, struct subst *s, const struct btz_json *labels,
                       struct btz_err *err)
{
    for (size_t i = 0; i < btz_json_count(labels); i++) {
        struct btz_str label;

        if (btz_lab_subst_text(s, btz_json_str(btz_json_value_at(labels, i)), &label) != BTZ_OK) {
            return unknown(stage, s, err);
        }
        btz_stage_server_of(stage, btz_json_key_at(labels, i))->pub.label = label;
    }
    for (size_t n = 0; n < stage->server_count; n++) {
        stage->servers[n].label = stage->servers[n].pub.label;
    }
    return BTZ_OK;
}

static int stage_scenario(struct btz_stage *stage, struct btz_err *err)
{
    const struct btz_json *card = stage->variant->pub.card;
    const struct btz_json *setting = btz_json_getz(card, "setting");
    const struct btz_json *twin =
        btz_json_getz(btz_json_getz(card, "twins"), btz_arm_name(stage->arm));
    const struct btz_json *turns = btz_json_getz(twin, "turns");
    struct btz_str attacker = btz_json_str(btz_json_getz(setting, "attacker"));
    struct subst s = {.arena = stage->arena, .rename = stage->lab};
    const struct btz_json *sites = NULL;
    int64_t budget = PLAIN_BUDGET;
    int code;

    name_attacker(stage, attacker);
    s.markers = stage->markers;
    code = give_labels(stage, &s, btz_json_getz(setting, "labels"), err);
    code = code != BTZ_OK ? code : make_payload(stage, &s, err);
    if (code == BTZ_OK &&
        (btz_lab_subst_value(&s, btz_json_getz(setting, "replies"), &stage->replies) != BTZ_OK ||
         btz_lab_subst_value(&s, btz_json_getz(setting, "about_user"), &stage->about_user) !=
             BTZ_OK)) {
        return unknown(stage, &s, err);
    }
    if (code != BTZ_OK) {
        return code;
    }
    code = seed_variant(stage, err);
    if (code == BTZ_OK) {
        code = btz_stage_overlay(stage, err);
    }
    if (code != BTZ_OK) {
        return code;
    }
    s.payload = stage->payload;
    if (btz_lab_subst_value(&s, btz_json_getz(setting, "authorization"), &sites) != BTZ_OK) {
        return unknown(stage, &s, err);
    }
    btz_lab_sites_make(stage, sites, btz_json_getz(setting, "authorization"));
    if (btz_lab_subst_value(&s, turns ? turns : btz_json_getz(setting, "turns"), &stage->turns) !=
        BTZ_OK) {
        return unknown(stage, &s, err);
    }
    for (size_t i = 0; i < stage->fragment_count + stage->unseen_count; i++) {
        stage->fragments[i].at = visible(stage, stage->fragments[i].at);
    }
    stage->trigger = visible(stage, btz_json_getz(card, "trigger"));
    (void)btz_json_int64(btz_json_getz(setting, "budget"), &budget);
    stage->budget = (int)budget;
    return btz_stage_plans_make(stage, err);
}

struct btz_stage *btz_stage_make(struct btz_lab *lab, uint64_t seed, size_t servers)
{
    struct btz_arena *arena = btz_arena_new();
    struct btz_stage *stage = BTZ_NEW(arena, struct btz_stage);
    struct btz_json *plans = btz_json_new_object(arena);

    stage->arena = arena;
    stage->lab = lab;
    stage->seed = seed;
    stage->budget = PLAIN_BUDGET;
    stage->progress = (struct btz_stage_progress){.session = 1, .turn = 1};
    if (btz_host_profile_named(BTZ_STR("hardened"), &stage->profile) != BTZ_OK) {
        btz_panic("host profile hardened is missing");
    }
    stage->servers = btz_arena_array(arena, servers + 1, sizeof(*stage->servers));
    stage->markers = stage->payload = btz_json_new_object(arena);
    stage->trigger = btz_json_new_object(arena);
    stage->turns = btz_json_new_array(arena);
    btz_json_setz(arena, plans, "benign", btz_json_new_array(arena));
    btz_json_setz(arena, plans, "obey", btz_json_new_array(arena));
    btz_json_setz(arena, plans, "routes", btz_json_new_array(arena));
    btz_json_setz(arena, plans, "operands", btz_json_new_array(arena));
    stage->plans = plans;
    btz_world_init(&stage->world, arena, NULL);
    return stage;
}

int btz_stage_new(struct btz_lab *lab, const struct btz_scenario *scenario, enum btz_arm arm,
                  uint64_t seed, struct btz_stage **out, struct btz_err *err)
{
    const struct btz_json *setting = btz_json_getz(scenario->card, "setting");
    const struct btz_json *servers = btz_json_getz(setting, "servers");
    struct btz_stage *stage = btz_stage_make(lab, seed, btz_json_count(servers));
    int code;

    stage->variant = (const struct variant *)(const void *)scenario;
    stage->arm = arm;
    for (size_t i = 0; i < btz_json_count(servers); i++) {
        btz_stage_add_server(
            stage, btz_lab_server_in(lab, stage->variant, btz_json_str(btz_json_at(servers, i))),
            btz_json_getz(setting, "resources"));
    }
    code = draw_and_seed(stage, err);
    if (code == BTZ_OK) {
        code = stage_scenario(stage, err);
    }
    if (code != BTZ_OK) {
        if (err) {
            err->code = BTZ_EINTERNAL;
        }
        btz_stage_free(stage);
        return BTZ_EINTERNAL;
    }
    *out = stage;
    return BTZ_OK;
}

void btz_stage_set_profile(struct btz_stage *stage, const struct btz_host_profile *profile)
{
    stage->profile = *profile;
}

int btz_stage_new_plain(struct btz_lab *lab, const struct btz_str *servers, size_t server_count,
                        uint64_t seed, struct btz_stage **out, struct btz_err *err)
{
    struct btz_stage *stage = btz_stage_make(lab, seed, server_count);
    int code = BTZ_OK;

    for (size_t i = 0; code == BTZ_OK && i < server_count; i++) {
        struct server *server = btz_lab_server_of(lab, servers[i]);

        if (server) {
            btz_stage_add_server(stage, server, NULL);
        } else {
            code = btz_err_set(err, BTZ_ENOTFOUND, "there is no server \"%.*s\" in the packs",
                               BTZ_FMT(servers[i]));
        }
    }
    if (code == BTZ_OK) {
        code = draw_and_seed(stage, err);
    }
    if (code != BTZ_OK) {
        btz_stage_free(stage);
        return code;
    }
    *out = stage;
    return BTZ_OK;
}

void btz_stage_free(struct btz_stage *stage)
{
    if (!stage) {
        return;
    }
    for (size_t s = 0; s < stage->server_count; s++) {
        for (size_t t = 0; t < stage->servers[s].server->tool_count; t++) {
            btz_schema_free(stage->servers[s].tools[t].input);
        }
    }
    btz_lab_seeded_put(stage);
    btz_arena_free(stage->arena); /* the stage itself is in it */
}

size_t btz_stage_server_count(const struct btz_stage *stage)
{
    return stage->server_count;
}

const struct btz_stage_server *btz_stage_server_at(const struct btz_stage *stage, size_t index)
{
    return index < stage->server_count ? &stage->servers[index].pub : NULL;
}

size_t btz_stage_fragment_count(const struct btz_stage *stage)
{
    return stage->fragment_count;
}

const struct btz_fragment *btz_stage_fragment_at(const struct btz_stage *stage, size_t index)
{
    return index < stage->fragment_count ? &stage->fragments[index] : NULL;
}

const struct btz_json *btz_stage_turns(const struct btz_stage *stage)
{
    return stage->turns;
}

int btz_stage_budget(const struct btz_stage *stage)
{
    return stage->budget;
}

const struct btz_json *btz_stage_markers(const struct btz_stage *stage)
{
    return stage->markers;
}

const struct btz_json *btz_stage_trigger(const struct btz_stage *stage)
{
    return stage->trigger;
}

const struct btz_json *btz_stage_plans(const struct btz_stage *stage)
{
    return stage->plans;
}

static size_t turn_mark(const struct btz_stage *stage, const char *name)
{
    const struct btz_json *setting =
        stage->variant ? btz_json_getz(stage->variant->pub.card, "setting") : NULL;
    int64_t turn = 0;

    return btz_json_int64(btz_json_getz(setting, name), &turn) ? (size_t)turn - 1 : SIZE_MAX;
}

size_t btz_stage_second_session(const struct btz_stage *stage)
{
    return turn_mark(stage, "second_session_turn");
}

size_t btz_stage_reconnect(const struct btz_stage *stage)
{
    return turn_mark(stage, "reconnect_turn");
}

struct btz_str btz_stage_memory_server(const struct btz_stage *stage)
{
    return stage->variant ? btz_json_str(btz_json_pointer(stage->variant->pub.card,
                                                          BTZ_STR("/setting/memory")))
                          : BTZ_STR_NONE;
}

bool btz_stage_other_user(const struct btz_stage *stage)
{
    return stage->variant &&
           btz_json_bool(btz_json_pointer(stage->variant->pub.card, BTZ_STR("/setting/other_user")),
                         false);
}

const struct btz_json *btz_stage_replies(const struct btz_stage *stage)
{
    return stage->replies;
}

const struct btz_json *btz_stage_about_user(const struct btz_stage *stage)
{
    return stage->about_user;
}

struct btz_str btz_stage_approver(const struct btz_stage *stage)
{
    return stage->variant ? btz_json_str(btz_json_pointer(stage->variant->pub.card,
                                                          BTZ_STR("/setting/approver")))
                          : BTZ_STR_NONE;
}

size_t btz_stage_memory(const struct btz_stage *stage)
{
    return btz_arena_used(stage->arena);
}
