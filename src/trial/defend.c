/* Defence modes: what the guard's rules say of the texts that are about to reach the model
 * (suite.md section 4). `input` looks at the user's turns: a blocked one ends the trial. `context`
 * looks at tool definitions, a blocked tool is not shown, and at what tools and resources answer, a
 * blocked answer becomes an error after the call ran. Server instructions and prompts pass, as in
 * the paper. */
#include "base/clock.h"
#include "trial/trial_int.h"

static const struct {
    const char *name;
    bool input, context;
} modes[] = {
    {"none", false, false},
    {"input", true, false},
    {"context", false, true},
    {"combined", true, true},
};

static int take_word(struct btz_str word, bool first, struct btz_defence *out)
{
    for (size_t i = 0; first && i < sizeof(modes) / sizeof(modes[0]); i++) {
        if (btz_str_is(word, modes[i].name)) {
            out->input = modes[i].input;
            out->context = modes[i].context;
            return BTZ_OK;
        }
    }
    if (!first && btz_str_is(word, "rescan") && out->context && !out->rescan &&
        !out->fail_closed) {
        out->rescan = true;
        return BTZ_OK;
    }
    if (!first && btz_str_is(word, "closed") && (out->input || out->context) &&
        !out->fail_closed) {
        out->fail_closed = true;
        return BTZ_OK;
    }
    return BTZ_ENOTFOUND;
}

int btz_defence_named(struct btz_str name, struct btz_defence *out)
{
    struct btz_defence defence = {0};
    size_t from = 0;

    for (size_t i = 0; i <= name.len; i++) {
        if (i == name.len || name.ptr[i] == '+') {
            if (take_word(btz_str_sub(name, from, i - from), from == 0, &defence) != BTZ_OK) {
                return BTZ_ENOTFOUND;
            }
            from = i + 1;
        }
    }
    *out = defence;
    return BTZ_OK;
}

/* A scan that found something, or did not come to its end, is an event that the model never saw. */
static void record_scan(struct btz_trial *trial, enum btz_guard_target target,
                        struct btz_str server, struct btz_str name,
                        const struct btz_guard_report *report, bool blocked)
{
    struct btz_json *payload = btz_json_new_object(trial->arena);
    struct btz_json *findings = btz_json_new_array(trial->arena);

    btz_json_set_strz(trial->arena, payload, "target", btz_guard_target_name(target));
    btz_json_set_str(trial->arena, payload, "server", server);
    btz_json_set_str(trial->arena, payload, "name", name);
    btz_json_set_strz(trial->arena, payload, "verdict", btz_guard_verdict_name(report->verdict));
    btz_json_set_strz(trial->arena, payload, "action", blocked ? "block" : "pass");
    btz_json_set_int(trial->arena, payload, "score", report->score);
    btz_json_set_int(trial->arena, payload, "threshold", report->threshold);
    for (size_t i = 0; i < report->count; i++) {
        const struct btz_guard_finding *f = &report->findings[i];
        struct btz_json *item = btz_json_new_object(trial->arena);

        btz_json_set_str(trial->arena, item, "rule", f->rule->id);
        btz_json_set_int(trial->arena, item, "weight", f->weight);
        btz_json_set_int(trial->arena, item, "begin", (int64_t)f->begin);
        btz_json_set_int(trial->arena, item, "end", (int64_t)f->end);
        btz_json_push(trial->arena, findings, item);
    }
    btz_json_setz(trial->arena, payload, "findings", findings);
    trial_event_json(trial, BTZ_LAYER_GUARD, "scan", false, payload);
}

static bool blocks(struct btz_trial *trial, struct btz_str text, enum btz_guard_target target,
                   struct btz_str server, struct btz_str name)
{
    const struct btz_defence *defence = &trial->options.defence;
    struct btz_guarding *counts = &trial->record.guarding;
    struct btz_guard_report report;
    int64_t begun = btz_clock_mono_us();
    bool blocked;

    if (!trial->scanner) {
        trial->scanner = btz_guard_scanner_new(defence->rules);
    }
    btz_guard_scan(trial->scanner, text, target, name, NULL, trial->arena, &report);
    blocked = report.verdict == BTZ_GUARD_BLOCK ||
              (report.verdict == BTZ_GUARD_UNDECIDED && defence->fail_closed);
    counts->scans++;
    counts->blocked += blocked ? 1 : 0;
    counts->undecided += report.verdict == BTZ_GUARD_UNDECIDED ? 1 : 0;
    counts->took_us += btz_clock_mono_us() - begun;
    if (report.count || report.verdict != BTZ_GUARD_PASS) {
        record_scan(trial, target, server, name, &report, blocked);
    }
    return blocked;
}

bool defend_turn(struct btz_trial *trial, struct btz_str text)
{
    return trial->options.defence.input &&
           blocks(trial, text, BTZ_GUARD_TASK, BTZ_STR_NONE, BTZ_STR("user"));
}

bool defend_answer(struct btz_trial *trial, enum btz_guard_target target,
                   const struct conn *conn, struct btz_str name, struct btz_str *text)
{
    if (!trial->options.defence.context ||
        !blocks(trial, *text, target, conn->server->id, name)) {
        return false;
    }
    *text = BTZ_STR("Error: the answer was withheld: a defence found text in it that tries to "
                    "steer the assistant");
    return true;
}

/* One verdict a tool: of its first definition, or with `rescan` of each new one. */
bool defend_withholds(struct btz_trial *trial, const struct conn *conn,
                      const struct btz_json *definition)
{
    struct btz_str name = btz_json_str(btz_json_getz(definition, "name"));
    struct btz_str text;
    struct judged_tool *judged = trial->judged;

    if (!trial->options.defence.context) {
        return false;
    }
    text = btz_json_text(trial->arena, definition);
    while (judged && !(btz_str_eq(judged->name, name) &&
                       btz_str_eq(judged->server, conn->server->id) &&
                       (!trial->options.defence.rescan || btz_str_eq(judged->text, text)))) {
        judged = judged->next;
    }
    if (!judged) {
        judged = BTZ_NEW(trial->arena, struct judged_tool);
        *judged = (struct judged_tool){
            .next = trial->judged,
            .server = conn->server->id,
            .name = name,
            .text = text,
            .withheld = blocks(trial, text, BTZ_GUARD_DEFINITION, conn->server->id, name),
        };
        trial->judged = judged;
    }
    return judged->withheld;
}
