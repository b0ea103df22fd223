/* Defence modes: what the guard says of the texts that are about to reach the model (suite.md
 * section 4). `input` looks at the user's turns: a blocked one ends the trial. `context` looks at
 * tool definitions, a blocked tool is not shown, and at what tools and resources answer, a blocked
 * answer becomes an error after the call ran. Server instructions and prompts pass, as in the
 * paper. Rules judge here and at once, a guard model in defend_ask.c. */
#include "base/clock.h"
#include "trial/trial_int.h"

const char defend_withheld_text[] =
    "Error: the answer was withheld: a defence found text in it that tries to steer the assistant";

static const struct {
    const char *name;
    bool input, context;
} modes[] = {
    {"none", false, false},
    {"input", true, false},
    {"context", false, true},
    {"combined", true, true},
};

static int take_mode(struct btz_str word, struct btz_defence *out)
{
    struct btz_str mode = word;
    int64_t colon = btz_str_find(word, BTZ_STR(":"));

    if (colon >= 0) {
        mode = btz_str_sub(word, 0, (size_t)colon);
        out->model = btz_str_is(btz_str_sub(word, (size_t)colon, word.len), ":model");
    }
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        if (btz_str_is(mode, modes[i].name)) {
            out->input = modes[i].input;
            out->context = modes[i].context;
            return colon < 0 || (out->model && i > 0) ? BTZ_OK : BTZ_ENOTFOUND;
        }
    }
    return BTZ_ENOTFOUND;
}

static int take_switch(struct btz_str word, struct btz_defence *out)
{
    if (btz_str_is(word, "rescan") && out->context && !out->rescan && !out->fail_closed) {
        out->rescan = true;
        return BTZ_OK;
    }
    if (btz_str_is(word, "closed") && (out->input || out->context) && !out->fail_closed) {
        out->fail_closed = true;
        return BTZ_OK;
    }
    return BTZ_ENOTFOUND;
}

/* The arm is the longest name that `*rest` begins with; what stands behind it and a "+" is left, or
 * nothing at all (a NULL pointer). */
static int take_arm(struct btz_str *rest, struct btz_defence *out)
{
    size_t best = 0;

    for (int a = 0; a < BTZ_CANON_ARMS; a++) {
        struct btz_str arm = btz_str_of(btz_canon_arm_name((enum btz_canon_arm)a));

        if (arm.len > best && btz_str_starts(*rest, arm) &&
            (arm.len == rest->len || rest->ptr[arm.len] == '+')) {
            best = arm.len;
            out->arm = (enum btz_canon_arm)a;
        }
    }
    if (best == 0) {
        return BTZ_ENOTFOUND;
    }
    out->canon = true;
    *rest = best == rest->len ? BTZ_STR_NONE : btz_str_sub(*rest, best + 1, rest->len);
    return BTZ_OK;
}

int btz_defence_named(struct btz_str name, struct btz_defence *out)
{
    struct btz_defence defence = {0};
    struct btz_str rest = name;
    struct btz_str word;
    int rc;

    if (btz_str_starts(name, BTZ_STR("proxy:"))) {
        defence.proxy.target = btz_str_sub(name, strlen("proxy:"), name.len);
        if (btz_gateway_check(defence.proxy.target, NULL) != BTZ_OK) {
            return BTZ_ENOTFOUND;
        }
        *out = defence;
        return BTZ_OK;
    }
    if (btz_str_starts(name, BTZ_STR("canon:"))) {
        rest = btz_str_sub(name, strlen("canon:"), name.len);
        if (take_arm(&rest, &defence) != BTZ_OK) {
            return BTZ_ENOTFOUND;
        }
        if (!rest.ptr) {
            *out = defence;
            return BTZ_OK;
        }
    }
    rc = btz_str_cut(&rest, '+', &word) ? take_mode(word, &defence) : BTZ_ENOTFOUND;
    if (defence.canon && !defence.input && !defence.context) {
        return BTZ_ENOTFOUND;
    }

    while (rc == BTZ_OK && rest.ptr && btz_str_cut(&rest, '+', &word)) {
        rc = take_switch(word, &defence);
    }
    if (rc == BTZ_OK) {
        *out = defence;
    }
    return rc;
}

void defend_record(struct btz_trial *trial, enum btz_guard_target target, struct btz_str server,
                   struct btz_str name, struct btz_json *details, const char *verdict, bool blocked)
{
    struct btz_json *payload = btz_json_new_object(trial->arena);

    btz_json_set_strz(trial->arena, payload, "target", btz_guard_target_name(target));
    btz_json_set_str(trial->arena, payload, "server", server);
    btz_json_set_str(trial->arena, payload, "name", name);
    btz_json_set_strz(trial->arena, payload, "verdict", verdict);
    btz_json_set_strz(trial->arena, payload, "action", blocked ? "block" : "pass");
    for (size_t i = 0; i < btz_json_count(details); i++) {
        btz_json_set(trial->arena, payload, btz_json_key_at(details, i),
                     btz_json_value_at(details, i));
    }
    trial->record.guarding.blocked += blocked ? 1 : 0;
    trial_event_json(trial, BTZ_LAYER_GUARD, "scan", false, payload);
}

static struct btz_json *details_of(struct btz_trial *trial, const struct btz_guard_report *report)
{
    struct btz_json *details = btz_json_new_object(trial->arena);
    struct btz_json *findings = btz_json_new_array(trial->arena);

    btz_json_set_int(trial->arena, details, "score", report->score);
    btz_json_set_int(trial->arena, details, "threshold", report->threshold);
    for (size_t i = 0; i < report->count; i++) {
        const struct btz_guard_finding *f = &report->findings[i];
        struct btz_json *item = btz_json_new_object(trial->arena);

        btz_json_set_str(trial->arena, item, "rule", f->rule->id);
        btz_json_set_strz(trial->arena, item, "severity",
                          btz_guard_severity_name(f->rule->severity));
        btz_json_set_int(trial->arena, item, "weight", f->weight);
        btz_json_set_int(trial->arena, item, "begin", (int64_t)f->begin);
        btz_json_set_int(trial->arena, item, "end", (int64_t)f->end);
        btz_json_push(trial->arena, findings, item);
    }
    btz_json_setz(trial->arena, details, "findings", findings);
    return details;
}

/* What the rules say. Only what they found, or could not finish, is recorded one by one. */
static bool rules_block(struct btz_trial *trial, struct btz_str text, enum btz_guard_target target,
                        struct btz_str server, struct btz_str name)
{
    const struct btz_defence *defence = &trial->options.defence;
    struct btz_guarding *counts = &trial->record.guarding;
    struct btz_guard_report report;
    int64_t begun = btz_clock_mono_us();
    bool blocked;

    btz_guard_scan(defence->scanner, text, target, name, NULL, trial->arena, &report);
    blocked = report.verdict == BTZ_GUARD_BLOCK ||
              (report.verdict == BTZ_GUARD_UNDECIDED && defence->fail_closed);
    counts->scans++;
    counts->detected += report.verdict == BTZ_GUARD_BLOCK ? 1 : 0;
    counts->undecided += report.verdict == BTZ_GUARD_UNDECIDED ? 1 : 0;
    counts->took_us += btz_clock_mono_us() - begun;
    if (report.count || report.verdict != BTZ_GUARD_PASS) {
        defend_record(trial, target, server, name, details_of(trial, &report),
                      btz_guard_verdict_name(report.verdict), blocked);
    }
    return blocked;
}

void defend_turn(struct btz_trial *trial, struct btz_str text)
{
    if (!trial->options.defence.input) {
        return;
    }
    if (trial->options.defence.model) {
        ask_about_turn(trial, text);
    } else if (rules_block(trial, text, BTZ_GUARD_TASK, BTZ_STR_NONE, BTZ_STR("user"))) {
        trial_finish(trial, BTZ_STOP_DEFENDED, BTZ_STR("the defence blocked the user's turn"));
    }
}

bool defend_answer(struct btz_trial *trial, enum btz_guard_target target, const struct conn *conn,
                   struct btz_str name, struct btz_str *text)
{
    if (!trial->options.defence.context) {
        return false;
    }
    if (trial->options.defence.model) {
        ask_about_answer(trial, target, conn->server->id, name, *text, trial->part_count);
        return false;
    }
    if (!rules_block(trial, *text, target, conn->server->id, name)) {
        return false;
    }
    *text = btz_str_of(defend_withheld_text);
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
    while (judged &&
           !(btz_str_eq(judged->name, name) && btz_str_eq(judged->server, conn->server->id) &&
             (!trial->options.defence.rescan || btz_str_eq(judged->text, text)))) {
        judged = judged->next;
    }
    if (!judged) {
        judged = BTZ_NEW(trial->arena, struct judged_tool);
        *judged = (struct judged_tool){.next = trial->judged,
                                       .server = conn->server->id,
                                       .name = btz_arena_dup(trial->arena, name),
                                       .text = text,
                                       .withheld = true};
        trial->judged = judged;
        if (trial->options.defence.model) {
            ask_about_tool(trial, judged);
        } else {
            judged->withheld =
                rules_block(trial, text, BTZ_GUARD_DEFINITION, conn->server->id, name);
        }
    }
    return judged->withheld;
}
