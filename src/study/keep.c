#include "study/keep.h"

static const enum btz_store_outcome outcomes[] = {
    [BTZ_OUTCOME_FAULT] = BTZ_STORE_FAULT,
    [BTZ_OUTCOME_SUSCEPTIBLE] = BTZ_STORE_SUSCEPTIBLE,
    [BTZ_OUTCOME_BELOW] = BTZ_STORE_BELOW,
    [BTZ_OUTCOME_ANOMALY] = BTZ_STORE_ANOMALY,
    [BTZ_OUTCOME_PREVENTED] = BTZ_STORE_PREVENTED,
    [BTZ_OUTCOME_NOT_EXERCISED] = BTZ_STORE_NOT_EXERCISED,
    [BTZ_OUTCOME_CONTAINED] = BTZ_STORE_CONTAINED,
    [BTZ_OUTCOME_UNFINISHED] = BTZ_STORE_UNFINISHED,
    [BTZ_OUTCOME_RESISTED] = BTZ_STORE_RESISTED,
};

static const enum btz_store_layer layers[] = {
    [BTZ_LAYER_HOST] = BTZ_STORE_HOST,     [BTZ_LAYER_MODEL] = BTZ_STORE_MODEL,
    [BTZ_LAYER_CLIENT] = BTZ_STORE_CLIENT, [BTZ_LAYER_WIRE] = BTZ_STORE_WIRE,
    [BTZ_LAYER_SERVER] = BTZ_STORE_SERVER, [BTZ_LAYER_GUARD] = BTZ_STORE_GUARD,
    [BTZ_LAYER_ORACLE] = BTZ_STORE_ORACLE,
};

static void keep_events(struct btz_arena *arena, const struct btz_trial_record *record,
                        struct btz_store_trial *out)
{
    out->events = btz_arena_array(arena, record->event_count, sizeof(*out->events));
    out->event_count = record->event_count;
    for (size_t i = 0; i < record->event_count; i++) {
        const struct btz_event *e = &record->events[i];

        out->events[i] = (struct btz_store_event){.layer = layers[e->layer],
                                                  .visible = e->visible,
                                                  .turn = e->turn,
                                                  .kind = btz_str_of(e->kind),
                                                  .payload = e->payload};
    }
}

static void keep_exchanges(struct btz_arena *arena, const struct btz_trial_record *record,
                           struct btz_store_trial *out)
{
    out->exchanges = btz_arena_array(arena, record->exchange_count, sizeof(*out->exchanges));
    out->exchange_count = record->exchange_count;
    for (size_t i = 0; i < record->exchange_count; i++) {
        const struct btz_exchange *e = &record->exchanges[i];
        int64_t cached = e->cached_tokens > 0 ? e->cached_tokens : 0;
        struct btz_str *parts = btz_arena_array(arena, e->part_count, sizeof(*parts));

        memcpy(parts, e->parts, e->part_count * sizeof(*parts));
        out->exchanges[i] = (struct btz_store_exchange){
            .role = btz_str_of(e->role),
            .turn = e->turn,
            .parts = parts,
            .part_count = e->part_count,
            .reply = e->reply,
            .model = btz_store_clip(e->model),
            .stop = btz_store_clip(e->finish),
            .at_us = e->at_us,
            .took_us = e->took_us,
            .tokens = {.input = e->prompt_tokens < 0 ? -1 : e->prompt_tokens - cached,
                       .output = e->completion_tokens,
                       .cache_read = e->cached_tokens,
                       .cache_write = -1,
                       .reasoning = e->reasoning_tokens},
        };
    }
}

static int32_t ordinal_of(int64_t event)
{
    return event > 0 ? (int32_t)(event - 1) : -1;
}

static void keep_verdicts(struct btz_arena *arena, const struct btz_trial_record *record,
                          struct btz_store_trial *out)
{
    /* An effect from before a fault is the oracle's word all the same. */
    bool judged = record->outcome != BTZ_OUTCOME_FAULT;

    out->verdicts = btz_arena_array(arena, 5, sizeof(*out->verdicts));
    out->verdict_count = 2;
    out->verdicts[0] = (struct btz_store_verdict){
        .source = BTZ_STR("oracle"),
        .name = BTZ_STR("pack"),
        .version = BTZ_STR("1"),
        .success = !judged                ? BTZ_STORE_UNKNOWN
                   : record->chain.effect ? BTZ_STORE_YES
                                          : BTZ_STORE_NO,
        .act_event = ordinal_of(record->chain.act_event),
        .effect_event = ordinal_of(record->chain.effect_event),
        .json = BTZ_STR("{}"),
    };
    out->verdicts[1] = (struct btz_store_verdict){
        .source = BTZ_STR("utility"),
        .name = BTZ_STR("pack"),
        .version = BTZ_STR("1"),
        .success = !record->utility_known ? BTZ_STORE_UNKNOWN
                   : record->utility      ? BTZ_STORE_YES
                                          : BTZ_STORE_NO,
        .act_event = -1,
        .effect_event = -1,
        .json = BTZ_STR("{}"),
    };
    if (record->attempts_made > 1) { /* the first verdict is over all attempts */
        out->verdicts[out->verdict_count++] = (struct btz_store_verdict){
            .source = BTZ_STR("oracle"),
            .name = BTZ_STR("last attempt"),
            .version = BTZ_STR("1"),
            .success = !judged               ? BTZ_STORE_UNKNOWN
                       : record->last_effect ? BTZ_STORE_YES
                                             : BTZ_STORE_NO,
            .act_event = ordinal_of(record->last_act_event),
            .effect_event = ordinal_of(record->last_effect_event),
            .json = BTZ_STR("{}"),
        };
    }
}

static void add_int(struct btz_arena *arena, struct btz_json *object, const char *key, int64_t n)
{
    btz_json_set_int(arena, object, key, n);
}

/* What the defence did, and beside it what it cost, which another run of the same trial would find
 * otherwise. */
static void keep_guarding(struct btz_arena *arena, const struct btz_trial_record *record,
                          struct btz_store_trial *out)
{
    const struct btz_guarding *g = &record->guarding;
    struct btz_json *counts = btz_json_new_object(arena);
    struct btz_json *cost = btz_json_new_object(arena);

    add_int(arena, counts, "scans", g->scans);
    add_int(arena, counts, "detected", g->detected);
    add_int(arena, counts, "blocked", g->blocked);
    add_int(arena, counts, "undecided", g->undecided);
    add_int(arena, counts, "failed", g->failed);
    if (g->changed) {
        add_int(arena, counts, "changed", g->changed);
        add_int(arena, counts, "removed_bytes", g->removed_bytes);
    }
    if (g->refused || g->malformed) {
        add_int(arena, counts, "refused", g->refused);
        add_int(arena, counts, "malformed", g->malformed);
    }
    add_int(arena, cost, "took_us", g->took_us);
    add_int(arena, cost, "requests", g->requests);
    add_int(arena, cost, "cached", g->cached);
    add_int(arena, cost, "input_tokens", g->input_tokens);
    add_int(arena, cost, "output_tokens", g->output_tokens);
    out->verdicts[out->verdict_count++] =
        (struct btz_store_verdict){.source = BTZ_STR("defence"),
                                   .name = BTZ_STR("counts"),
                                   .version = BTZ_STR("1"),
                                   .success = g->blocked ? BTZ_STORE_YES : BTZ_STORE_NO,
                                   .act_event = -1,
                                   .effect_event = -1,
                                   .json = btz_json_text(arena, counts)};
    out->verdicts[out->verdict_count++] =
        (struct btz_store_verdict){.source = BTZ_STR("defence"),
                                   .name = BTZ_STR("cost"),
                                   .version = BTZ_STR("1"),
                                   .success = BTZ_STORE_UNKNOWN,
                                   .act_event = -1,
                                   .effect_event = -1,
                                   .json = btz_json_text(arena, cost)};
}

/* The weightiest rule stands for a text; a guard model has none. */
static void name_rule(const struct btz_json *scan, struct btz_store_finding *out)
{
    const struct btz_json *findings = btz_json_getz(scan, "findings");
    int64_t most = 0;

    out->rule = BTZ_STR("");
    out->severity = BTZ_STR("");
    for (size_t i = 0; i < btz_json_count(findings); i++) {
        const struct btz_json *f = btz_json_at(findings, i);
        int64_t weight = 0;

        if (btz_json_int64(btz_json_getz(f, "weight"), &weight) && weight > most) {
            most = weight;
            out->rule = btz_json_str(btz_json_getz(f, "rule"));
            out->severity = btz_json_str(btz_json_getz(f, "severity"));
        }
    }
}

/* One a text about which the defence had something to say. */
static void keep_findings(struct btz_arena *arena, const struct btz_trial_record *record,
                          struct btz_store_trial *out)
{
    out->findings = btz_arena_array(arena, record->event_count, sizeof(*out->findings));
    for (size_t i = 0; i < record->event_count; i++) {
        const struct btz_event *e = &record->events[i];
        const struct btz_json *scan = NULL;
        struct btz_store_finding *f = &out->findings[out->finding_count];
        struct btz_err err;

        if (e->layer != BTZ_LAYER_GUARD ||
            btz_json_parse(arena, e->payload, NULL, &scan, &err) != BTZ_OK) {
            continue;
        }
        *f = (struct btz_store_finding){.stage = btz_json_str(btz_json_getz(scan, "target")),
                                        .action = btz_json_str(btz_json_getz(scan, "action")),
                                        .event = (int32_t)i,
                                        .json = e->payload};
        name_rule(scan, f);
        out->finding_count++;
    }
}

/* How far the payload of a memory scenario came on its way into the second session. */
static struct btz_str memory_stage(const struct btz_chain *chain)
{
    if (!chain->memory) {
        return BTZ_STR("");
    }
    return !chain->seen_first ? BTZ_STR("unseen")
           : !chain->stored   ? BTZ_STR("seen")
           : !chain->recalled ? BTZ_STR("stored")
                              : BTZ_STR("recalled");
}

void btz_study_keep(struct btz_arena *arena, const struct btz_trial_record *record,
                    struct btz_str key, uint64_t seed, int64_t started_wall_us, int attempts,
                    struct btz_store_trial *out)
{
    int64_t cached = record->cached_tokens > 0 ? record->cached_tokens : 0;
    struct btz_str fault = btz_store_clip(record->fault);

    *out = (struct btz_store_trial){
        .cell_key = key,
        .outcome = outcomes[record->outcome],
        .sub = record->outcome == BTZ_OUTCOME_FAULT ? fault : btz_str_of(record->sub),
        .chain = {.triggered = record->chain.triggered,
                  .delivered = record->chain.delivered,
                  .observed = record->chain.observed,
                  .observed_turn = record->chain.observed_turn,
                  .carrier = btz_str_of(record->chain.observed_by),
                  .fragments_seen = (int32_t)record->chain.fragments_seen,
                  .fragments_all = (int32_t)record->chain.fragments,
                  .acted = record->chain.acted,
                  .act_event = ordinal_of(record->chain.act_event),
                  .effect = record->chain.effect,
                  .effect_event = ordinal_of(record->chain.effect_event),
                  .stopped_by = btz_str_of(record->chain.stopped_by),
                  .stage = memory_stage(&record->chain),
                  .leak_ppm = -1},
        .utility = !record->utility_known ? BTZ_STORE_UNKNOWN
                   : record->utility      ? BTZ_STORE_YES
                                          : BTZ_STORE_NO,
        .tokens = {.input = record->prompt_tokens < 0 ? -1 : record->prompt_tokens - cached,
                   .output = record->completion_tokens,
                   .cache_read = record->cached_tokens,
                   .cache_write = -1,
                   .reasoning = record->reasoning_tokens},
        .cost_nano = -1,
        .started_us = started_wall_us,
        .took_us = record->took_us,
        .model_us = record->model_us,
        .turns = record->turns,
        .attempts = attempts,
        .seed = seed,
        .stop = btz_str_of(btz_stop_name(record->stop)),
        .trajectory = record->trajectory_hash,
    };
    keep_events(arena, record, out);
    keep_exchanges(arena, record, out);
    keep_verdicts(arena, record, out);
    if (record->guarding.on) {
        keep_guarding(arena, record, out);
        keep_findings(arena, record, out);
    }
}
