/* The record of a trial: events for people and the store, the trajectory and journal that oracles
 * read, and the hash that tells two trials equal. */
#include <string.h>

#include "trial/trial_int.h"

int64_t trial_event(struct btz_trial *trial, enum btz_layer layer, const char *kind, bool visible,
                    struct btz_str payload)
{
    trial->events = btz_arena_grow(trial->arena, trial->events, trial->event_count,
                                   &trial->event_cap, sizeof(*trial->events));
    trial->events[trial->event_count++] = (struct btz_event){
        .layer = layer, .kind = kind, .turn = trial->turn, .visible = visible, .payload = payload};
    return (int64_t)trial->event_count;
}

int64_t trial_event_json(struct btz_trial *trial, enum btz_layer layer, const char *kind,
                         bool visible, const struct btz_json *payload)
{
    return trial_event(trial, layer, kind, visible, btz_json_text(trial->arena, payload));
}

struct btz_json *trial_note(struct btz_trial *trial, int64_t id, const char *kind)
{
    struct btz_json *note = btz_json_new_object(trial->arena);

    btz_json_set_int(trial->arena, note, "id", id);
    btz_json_set_strz(trial->arena, note, "kind", kind);
    btz_json_set_int(trial->arena, note, "turn", trial->turn);
    btz_json_push(trial->arena, trial->trajectory, note);
    return note;
}

void trial_take_journal(struct btz_trial *trial)
{
    size_t count = btz_stage_journal_count(trial->stage);

    for (; trial->journal_taken < count; trial->journal_taken++) {
        const struct btz_json *entry = btz_stage_journal_at(trial->stage, trial->journal_taken);
        struct btz_json *noted = btz_json_new_object(trial->arena);
        int64_t cause = 0;

        (void)btz_json_int64(btz_json_getz(entry, "event"), &cause);
        if (cause == 0) {
            continue; /* seeding the world is no act of anybody in the trial */
        }
        btz_json_set_int(trial->arena, noted, "id",
                         trial_event_json(trial, BTZ_LAYER_SERVER, "journal", false, entry));
        for (size_t i = 0; i < btz_json_count(entry); i++) {
            btz_json_set(trial->arena, noted, btz_json_key_at(entry, i),
                         btz_json_value_at(entry, i));
        }
        btz_json_push(trial->arena, trial->journal, noted);
    }
}

static struct btz_hash hash_record(struct btz_trial *trial)
{
    struct btz_hasher *hasher = btz_hasher_new();
    struct btz_hash hash;

    btz_hasher_add_part(hasher, btz_json_text(trial->arena, trial->trajectory));
    btz_hasher_add_part(hasher, btz_json_text(trial->arena, trial->journal));
    hash = btz_hasher_end(hasher);
    btz_hasher_free(hasher);
    return hash;
}

static bool is_guards(const struct btz_exchange *e)
{
    return strcmp(e->role, BTZ_ROLE_GUARD) == 0 || strcmp(e->role, BTZ_ROLE_REWRITE) == 0;
}

/* Of the model under test; those of guard and rewriting model are in `guarding`. */
static void add_up_tokens(struct btz_trial *trial)
{
    struct btz_trial_record *record = &trial->record;

    record->prompt_tokens = record->completion_tokens = -1;
    record->cached_tokens = record->reasoning_tokens = -1;
    for (size_t i = 0; i < trial->exchange_count; i++) {
        if (!is_guards(&trial->exchanges[i])) {
            record->prompt_tokens = record->completion_tokens = 0;
        }
    }
    for (size_t i = 0; i < trial->exchange_count; i++) {
        const struct btz_exchange *e = &trial->exchanges[i];

        if (is_guards(e)) {
            continue;
        }
        if (e->prompt_tokens < 0 || e->completion_tokens < 0) {
            record->prompt_tokens = record->completion_tokens = -1;
            break;
        }
        record->prompt_tokens += e->prompt_tokens;
        record->completion_tokens += e->completion_tokens;
    }
    for (size_t i = 0; i < trial->exchange_count; i++) {
        const struct btz_exchange *e = &trial->exchanges[i];

        if (is_guards(e)) {
            continue;
        }
        if (e->cached_tokens >= 0) {
            record->cached_tokens =
                (record->cached_tokens < 0 ? 0 : record->cached_tokens) + e->cached_tokens;
        }
        if (e->reasoning_tokens >= 0) {
            record->reasoning_tokens =
                (record->reasoning_tokens < 0 ? 0 : record->reasoning_tokens) + e->reasoning_tokens;
        }
    }
}

void trial_finish(struct btz_trial *trial, enum btz_stop stop, struct btz_str why)
{
    struct btz_json *payload = btz_json_new_object(trial->arena);

    if (trial->done || trial->attempt_over) {
        return;
    }
    if (trial->options.arch != BTZ_ARCH_REACT && trial->attempt < MAX_ATTEMPTS &&
        stop != BTZ_STOP_FAULT && stop != BTZ_STOP_DEFENDED) {
        btz_json_set_strz(trial->arena, payload, "reason", btz_stop_name(stop));
        trial_event_json(trial, BTZ_LAYER_HOST, "attempt", false, payload);
        trial_take_journal(trial);
        trial->attempt_over = true;
        return;
    }
    trial->done = true;
    trial->record.stop = stop;
    if (stop == BTZ_STOP_FAULT) {
        trial->record.fault = btz_arena_dup(trial->arena, why);
    }
    btz_json_set_strz(trial->arena, payload, "reason", btz_stop_name(stop));
    if (why.len) {
        btz_json_set_str(trial->arena, payload, "text", why);
    }
    trial_event_json(trial, BTZ_LAYER_HOST, "stop", false, payload);
    trial_take_journal(trial);
    trial->record.turns = trial->turn;
    trial->record.trajectory = trial->trajectory;
    trial->record.journal = trial->journal;
    trial->record.trajectory_hash = hash_record(trial);
    add_up_tokens(trial);
    outcome_decide(trial);
    trial->record.events = trial->events;
    trial->record.event_count = trial->event_count;
    trial->record.exchanges = trial->exchanges;
    trial->record.exchange_count = trial->exchange_count;
}
