/* Attacks: what a schema cannot say about their data. Done once all servers are known. */
#include "lab/attack_int.h"
#include "base/mapping.h"

/* A file with more variants of an attack, which may come later in the order of files. */
static void add_extension(struct btz_lab *lab, struct script *script, struct btz_str folder)
{
    lab->extensions = btz_arena_grow(lab->arena, lab->extensions, lab->extension_count,
                                     &lab->extension_cap, sizeof(*lab->extensions));
    lab->extensions[lab->extension_count++] =
        (struct extension){btz_json_str(btz_json_getz(script->data, "extends")), folder, script};
}

int btz_lab_attack_add(struct btz_lab *lab, struct script *script, struct btz_str folder,
                       struct btz_err *err)
{
    struct attack *attack = BTZ_NEW(lab->arena, struct attack);
    struct btz_str surface = btz_json_str(btz_json_getz(script->data, "surface"));
    bool replaces = btz_json_bool(btz_json_getz(script->data, "replaces"), false);

    if (btz_json_getz(script->data, "extends")) {
        add_extension(lab, script, folder);
        return BTZ_OK;
    }
    attack->id = btz_json_str(btz_json_getz(script->data, "id"));
    attack->script = script;
    if (!btz_str_eq(surface, folder)) {
        return btz_lab_refuse(script, BTZ_STR("/surface"), err,
                              "the file is in attacks/%.*s/, so its surface must be \"%.*s\"",
                              BTZ_FMT(folder), BTZ_FMT(folder));
    }
    if (!btz_mapping_find(btz_json_str(btz_json_getz(script->data, "mapping")))) {
        return btz_lab_refuse(script, BTZ_STR("/mapping"), err,
                              "there is no such row of outside taxonomies; docs/packs/"
                              "script-api.md lists them (Texts of an attack)");
    }
    for (size_t i = 0; i < lab->attack_count; i++) {
        if (!btz_str_eq(lab->attacks[i]->id, attack->id)) {
            continue;
        }
        if (!replaces) {
            return btz_lab_refuse(script, BTZ_STR("/id"), err,
                                  "there is an attack %.*s already (%s); another id, or "
                                  "replaces = true",
                                  BTZ_FMT(attack->id), lab->attacks[i]->script->name.ptr);
        }
        lab->attacks[i] = attack;
        return BTZ_OK;
    }
    if (replaces) {
        return btz_lab_refuse(script, BTZ_STR("/replaces"), err,
                              "there is no attack %.*s to replace", BTZ_FMT(attack->id));
    }
    lab->attacks = btz_arena_grow(lab->arena, lab->attacks, lab->attack_count, &lab->attack_cap,
                                  sizeof(*lab->attacks));
    lab->attacks[lab->attack_count++] = attack;
    return BTZ_OK;
}

/* Every placeholder in the texts at `pointer` must be known. */
static int check_texts(struct checking *c, const struct btz_json *value, struct btz_str pointer,
                       bool with_payload)
{
    struct subst s = {
        .arena = c->lab->arena, .markers = c->markers, .payload = with_payload ? c->payload : NULL};
    const struct btz_json *out;

    if (btz_json_is(value, BTZ_JSON_STRING)) {
        if (btz_lab_subst_value(&s, value, &out) == BTZ_OK) {
            return BTZ_OK;
        }
        return btz_lab_refuse(c->script, pointer, c->err,
                              "{%.*s} is no marker of this variant%s; declare it in markers, or "
                              "write {=%.*s} for the text itself",
                              BTZ_FMT(s.unknown), with_payload ? " and no {payload.ID}" : "",
                              BTZ_FMT(s.unknown));
    }
    for (size_t i = 0; i < btz_json_count(value); i++) {
        bool array = btz_json_is(value, BTZ_JSON_ARRAY);
        struct btz_str key =
            array ? btz_arena_printf(c->lab->arena, "%zu", i) : btz_json_key_at(value, i);
        int code = check_texts(
            c, array ? btz_json_at(value, i) : btz_json_value_at(value, i),
            btz_arena_printf(c->lab->arena, "%.*s/%.*s", BTZ_FMT(pointer), BTZ_FMT(key)),
            with_payload);

        if (code != BTZ_OK) {
            return code;
        }
    }
    return BTZ_OK;
}

/* Only who accepts a form fills it in. */
static int check_fill(struct checking *c, const struct btz_json *fill, struct btz_str pointer)
{
    if (btz_json_getz(fill, "content") &&
        !btz_str_is(btz_json_str(btz_json_getz(fill, "action")), "accept")) {
        return btz_lab_refuse(c->script, pointer, c->err,
                              "content goes with the action \"accept\" alone");
    }
    return BTZ_OK;
}

static int check_replies(struct checking *c)
{
    const struct btz_json *replies = btz_json_getz(c->setting, "replies");
    int code = check_texts(c, replies, btz_lab_card_below(c, "/setting/replies", 0), false);

    for (size_t i = 0; code == BTZ_OK && i < btz_json_count(replies); i++) {
        code = check_fill(c, btz_json_at(replies, i),
                          btz_lab_card_below(c, "/setting/replies/%zu", i));
    }
    return code;
}

static int check_steps(struct checking *c, const struct btz_json *steps, struct btz_str pointer)
{
    for (size_t i = 0; i < btz_json_count(steps); i++) {
        const struct btz_json *step = btz_json_at(steps, i);
        const struct btz_json *call = btz_json_getz(step, "call");
        struct btz_str server = btz_json_str(btz_json_getz(call, "server"));
        struct btz_str tool = btz_json_str(btz_json_getz(call, "tool"));
        struct btz_str at = btz_arena_printf(c->lab->arena, "%.*s/%zu", BTZ_FMT(pointer), i);
        struct btz_str uri = btz_json_str(btz_json_pointer(step, BTZ_STR("/read/uri")));

        if (call && !btz_lab_lists(btz_json_getz(c->setting, "servers"), server)) {
            return btz_lab_refuse(c->script, at, c->err, "the setting has no server \"%.*s\"",
                                  BTZ_FMT(server));
        }
        if (call && !btz_lab_tool_of(btz_lab_server_in(c->lab, c->variant, server), tool)) {
            return btz_lab_refuse(c->script, at, c->err, "server %.*s has no tool \"%.*s\"",
                                  BTZ_FMT(server), BTZ_FMT(tool));
        }
        if (uri.len > 0 && uri.ptr[0] != '$' &&
            !btz_lab_lists(btz_json_getz(c->setting, "resources"), uri)) {
            return btz_lab_refuse(c->script, at, c->err, "\"%.*s\" is not among setting.resources",
                                  BTZ_FMT(uri));
        }
        if (check_fill(c, btz_json_getz(step, "fill"), at) != BTZ_OK) {
            return BTZ_EINVAL;
        }
    }
    return check_texts(c, steps, pointer, false);
}

/* Whether some tool that the address names asks the client by itself. */
static bool asks_itself(const struct checking *c, const struct btz_json *at, struct btz_str tool)
{
    const struct server *server =
        btz_lab_server_of(c->lab, btz_json_str(btz_json_getz(at, "server")));

    for (size_t i = 0; server && i < server->tool_count; i++) {
        if (server->tools[i].asks &&
            (btz_str_is(tool, "*") || btz_str_eq(server->tools[i].name, tool))) {
            return true;
        }
    }
    return false;
}

/* What a server asks with is put there by the variant's ask, or by a tool that asks. */
static int check_asked(struct checking *c)
{
    static const char *const keys[] = {"sampling", "elicitation"};
    const struct btz_json *payload = btz_json_getz(c->card, "payload");

    for (size_t i = 0; i < btz_json_count(payload); i++) {
        const struct btz_json *at = btz_json_getz(btz_json_at(payload, i), "at");

        for (size_t k = 0; k < 2; k++) {
            struct btz_str tool = btz_json_str(btz_json_getz(at, keys[k]));

            if (tool.len && !asks_itself(c, at, tool)) {
                return btz_lab_refuse(c->script, btz_lab_card_below(c, "/payload/%zu/at", i),
                                      c->err,
                                      "a text that a server asks with is put there by the "
                                      "variant's ask(w, markers, payload, call, ctx), which is "
                                      "missing");
            }
        }
    }
    return BTZ_OK;
}

/* A change that comes after all turns, or in a session that there is not, never comes. */
static int check_since(struct checking *c, const struct btz_json *since, const char *name,
                       struct btz_str path)
{
    size_t turns = btz_json_count(btz_json_getz(c->setting, "turns"));
    int64_t turn = 0;
    int64_t session = 0;
    int64_t sessions = 1;

    path = btz_arena_printf(c->lab->arena, "%.*s/%s", BTZ_FMT(path), name);
    (void)btz_json_int64(btz_json_getz(c->setting, "sessions"), &sessions);
    if (btz_json_int64(btz_json_getz(since, "turn"), &turn) && turn > (int64_t)turns) {
        return btz_lab_refuse(c->script, path, c->err,
                              "turn is the number of a user turn, and setting.turns has %zu",
                              turns);
    }
    if (btz_json_int64(btz_json_getz(since, "session"), &session) && session > sessions) {
        return btz_lab_refuse(c->script, path, c->err,
                              "the setting has one session; a second needs sessions = 2 and "
                              "second_session_turn");
    }
    return BTZ_OK;
}

/* Only definitions hold what the host reads and the model does not. */
static int check_unseen(struct checking *c, const struct btz_json *fragment, struct btz_str path)
{
    bool unseen = btz_json_bool(btz_json_getz(fragment, "unseen"), false);

    if (unseen && !btz_json_pointer(fragment, BTZ_STR("/at/field"))) {
        return btz_lab_refuse(c->script, btz_arena_printf(c->lab->arena, "%s/unseen", path.ptr),
                              c->err, "only a field of a definition can be unseen");
    }
    return BTZ_OK;
}

static int check_later(struct checking *c, const struct btz_json *fragment, struct btz_str path)
{
    static const char *const names[] = {"since", "until"};
    const struct btz_json *at = btz_json_getz(fragment, "at");
    int code = BTZ_OK;

    for (size_t i = 0; code == BTZ_OK && i < 2; i++) {
        const struct btz_json *when = btz_json_getz(fragment, names[i]);
        struct btz_str where = btz_arena_printf(c->lab->arena, "%.*s/%s", BTZ_FMT(path), names[i]);

        if (when && !btz_json_getz(at, "field") && !btz_json_getz(at, "instructions") &&
            !btz_json_getz(at, "label") && !btz_json_getz(at, "handler")) {
            return btz_lab_refuse(c->script, where, c->err,
                                  "only definitions, labels and handlers change later: an address "
                                  "with field, instructions, label or handler");
        }
        if (when && btz_json_getz(at, "tool") &&
            btz_str_is(btz_json_str(btz_json_getz(at, "field")), "name")) {
            return btz_lab_refuse(c->script, where, c->err,
                                  "a tool has one name from the beginning");
        }
        code = check_since(c, when, names[i], path);
    }
    return code;
}

/* Tools that are held back, of the setting or of a twin. */
static int check_withheld(struct checking *c, const struct btz_json *list, struct btz_str path)
{
    int code = BTZ_OK;

    for (size_t i = 0; code == BTZ_OK && i < btz_json_count(list); i++) {
        const struct btz_json *item = btz_json_at(list, i);
        struct btz_str server = btz_json_str(btz_json_getz(item, "server"));
        struct btz_str tool = btz_json_str(btz_json_getz(item, "tool"));
        struct btz_str at = btz_arena_printf(c->lab->arena, "%.*s/%zu", BTZ_FMT(path), i);

        if (!btz_lab_lists(btz_json_getz(c->setting, "servers"), server)) {
            return btz_lab_refuse(c->script, at, c->err, "the setting has no server \"%.*s\"",
                                  BTZ_FMT(server));
        }
        if (!btz_lab_tool_of(btz_lab_server_of(c->lab, server), tool)) {
            return btz_lab_refuse(c->script, at, c->err, "server %.*s has no tool \"%.*s\"",
                                  BTZ_FMT(server), BTZ_FMT(tool));
        }
        code = check_since(c, btz_json_getz(item, "since"), "since", at);
    }
    return code;
}

static int check_payload(struct checking *c)
{
    const struct btz_json *payload = btz_json_getz(c->card, "payload");
    int code = BTZ_OK;

    for (size_t i = 0; code == BTZ_OK && i < btz_json_count(payload); i++) {
        const struct btz_json *fragment = btz_json_at(payload, i);
        struct btz_str id = btz_json_str(btz_json_getz(fragment, "id"));
        struct btz_str path = btz_lab_card_below(c, "/payload/%zu", i);

        if (btz_json_get(c->payload, id)) {
            return btz_lab_refuse(c->script, path, c->err, "two fragments are named \"%.*s\"",
                                  BTZ_FMT(id));
        }
        btz_json_set(c->lab->arena, c->payload, id, btz_json_getz(fragment, "text"));
        code = btz_lab_address_check(c->lab, c->variant, path, fragment, c->err);
        code = code != BTZ_OK ? code : check_later(c, fragment, path);
        code = code != BTZ_OK ? code : check_unseen(c, fragment, path);
        if (code == BTZ_OK) {
            code = check_texts(c, btz_json_getz(fragment, "text"),
                               btz_lab_card_below(c, "/payload/%zu/text", i), false);
        }
        if (code == BTZ_OK) {
            code = check_texts(c, btz_json_getz(fragment, "operands"),
                               btz_lab_card_below(c, "/payload/%zu/operands", i), false);
        }
    }
    return code;
}

static int check_trigger(struct checking *c)
{
    const struct btz_json *trigger = btz_json_getz(c->card, "trigger");
    struct btz_str id = btz_json_str(btz_json_getz(trigger, "server"));
    struct btz_str tool = btz_json_str(btz_json_getz(trigger, "tool"));
    struct btz_str path = btz_lab_card_below(c, "/trigger", 0);

    if (id.len > 0 && !btz_lab_lists(btz_json_getz(c->setting, "servers"), id)) {
        return btz_lab_refuse(c->script, path, c->err, "the setting has no server \"%.*s\"",
                              BTZ_FMT(id));
    }
    if (tool.len > 0 && id.len == 0) {
        return btz_lab_refuse(c->script, path, c->err, "tool \"%.*s\" needs the server that has it",
                              BTZ_FMT(tool));
    }
    if (tool.len > 0 && !btz_lab_tool_of(btz_lab_server_in(c->lab, c->variant, id), tool)) {
        return btz_lab_refuse(c->script, path, c->err, "server %.*s has no tool \"%.*s\"",
                              BTZ_FMT(id), BTZ_FMT(tool));
    }
    return BTZ_OK;
}

/* A whole plan ends with an answer and has one for each user turn; a turn that begins with "/" may
 * be a command of the host's own, which gets none. Otherwise the agents of certification run out of
 * steps, which looks like a model that gave up. */
static int check_answers(struct checking *c, const struct btz_json *steps,
                         const struct btz_json *turns, struct btz_str pointer)
{
    size_t count = btz_json_count(steps);
    size_t answers = 0;
    size_t commands = 0;

    for (size_t i = 0; i < count; i++) {
        answers += btz_json_getz(btz_json_at(steps, i), "answer") != NULL;
    }
    for (size_t i = 0; i < btz_json_count(turns); i++) {
        commands += btz_str_starts(btz_json_str(btz_json_at(turns, i)), BTZ_STR("/"));
    }
    if (count == 0 || !btz_json_getz(btz_json_at(steps, count - 1), "answer")) {
        return btz_lab_refuse(
            c->script, pointer, c->err,
            "the last step of a whole plan is answer(\"...\"); for steps that are "
            "put into the benign plan write insert_before_answer {...}");
    }
    if (answers > btz_json_count(turns) || answers + commands < btz_json_count(turns)) {
        return btz_lab_refuse(
            c->script, pointer, c->err,
            "the plan has %zu answers for %zu user turns; each turn ends with one", answers,
            btz_json_count(turns));
    }
    return BTZ_OK;
}

static int check_twin(struct checking *c, const char *which)
{
    struct btz_str base = btz_arena_printf(c->lab->arena, "%s/twins/%s", c->path.ptr, which);
    const struct btz_json *twin = btz_json_getz(btz_json_getz(c->card, "twins"), which);
    const struct btz_json *texts = btz_json_getz(twin, "texts");
    struct btz_str at = btz_arena_printf(c->lab->arena, "%s/texts", base.ptr);
    int code;

    for (size_t i = 0; i < btz_json_count(texts); i++) {
        if (!btz_json_get(c->payload, btz_json_key_at(texts, i))) {
            return btz_lab_refuse(c->script, at, c->err, "there is no fragment \"%.*s\"",
                                  BTZ_FMT(btz_json_key_at(texts, i)));
        }
    }
    code = check_texts(c, texts, at, false);
    if (code == BTZ_OK) {
        code = check_texts(c, btz_json_getz(twin, "turns"),
                           btz_arena_printf(c->lab->arena, "%s/turns", base.ptr), true);
    }
    if (code == BTZ_OK) {
        code = check_steps(c, btz_json_getz(twin, "plan"),
                           btz_arena_printf(c->lab->arena, "%s/plan", base.ptr));
    }
    if (code == BTZ_OK) {
        code = check_withheld(c, btz_json_getz(twin, "withheld"),
                              btz_arena_printf(c->lab->arena, "%s/withheld", base.ptr));
    }
    if (code == BTZ_OK) {
        code = btz_lab_reconfigured_check(
            c, btz_json_getz(twin, "reconfigured"),
            btz_arena_printf(c->lab->arena, "%s/reconfigured", base.ptr));
    }
    if (code == BTZ_OK && btz_json_getz(twin, "plan")) {
        const struct btz_json *turns = btz_json_getz(twin, "turns");

        code = check_answers(c, btz_json_getz(twin, "plan"),
                             turns ? turns : btz_json_getz(c->setting, "turns"),
                             btz_arena_printf(c->lab->arena, "%s/plan", base.ptr));
    }
    return code;
}

static int check_plans(struct checking *c)
{
    const struct btz_json *plan = btz_json_getz(c->card, "plan");
    const struct btz_json *obey = btz_json_getz(plan, "obey");
    const struct btz_json *inserted = btz_json_getz(obey, "insert_before_answer");
    int code =
        check_steps(c, btz_json_getz(plan, "benign"), btz_lab_card_below(c, "/plan/benign", 0));

    if (code == BTZ_OK) {
        code = inserted ? check_steps(c, inserted,
                                      btz_lab_card_below(c, "/plan/obey/insert_before_answer", 0))
                        : check_steps(c, obey, btz_lab_card_below(c, "/plan/obey", 0));
    }
    if (code == BTZ_OK) {
        code =
            check_steps(c, btz_json_getz(c->card, "routes"), btz_lab_card_below(c, "/routes", 0));
    }
    if (code == BTZ_OK) {
        code = check_answers(c, btz_json_getz(plan, "benign"), btz_json_getz(c->setting, "turns"),
                             btz_lab_card_below(c, "/plan/benign", 0));
    }
    if (code == BTZ_OK && !inserted) {
        code = check_answers(c, obey, btz_json_getz(c->setting, "turns"),
                             btz_lab_card_below(c, "/plan/obey", 0));
    }
    return code;
}

static int check_names(struct checking *c)
{
    const struct btz_json *switches = btz_json_getz(c->card, "switches");
    const struct btz_json *fires = btz_json_getz(c->card, "cross_fires");

    for (size_t i = 0; i < btz_json_count(switches); i++) {
        bool known = false;

        for (size_t s = 0; btz_switch_name((enum btz_switch)s); s++) {
            known = known || btz_str_is(btz_json_str(btz_json_at(switches, i)),
                                        btz_switch_name((enum btz_switch)s));
        }
        if (!known) {
            return btz_lab_refuse(c->script, btz_lab_card_below(c, "/switches/%zu", i), c->err,
                                  "there is no host-profile switch of that name; "
                                  "docs/internals/host-profiles.md lists them");
        }
    }
    for (size_t i = 0; i < btz_json_count(fires); i++) {
        bool known = false;

        for (size_t a = 0; a < c->lab->attack_count; a++) {
            known =
                known || btz_str_eq(btz_json_str(btz_json_at(fires, i)), c->lab->attacks[a]->id);
        }
        if (!known) {
            return btz_lab_refuse(c->script, btz_lab_card_below(c, "/cross_fires/%zu", i), c->err,
                                  "there is no attack of that name; `bartizan list attacks` "
                                  "names them");
        }
    }
    return BTZ_OK;
}

static int check_labels(struct checking *c)
{
    const struct btz_json *labels = btz_json_getz(c->setting, "labels");
    struct btz_str at = btz_lab_card_below(c, "/setting/labels", 0);

    for (size_t i = 0; i < btz_json_count(labels); i++) {
        if (!btz_lab_lists(btz_json_getz(c->setting, "servers"), btz_json_key_at(labels, i))) {
            return btz_lab_refuse(c->script, at, c->err, "the setting has no server \"%.*s\"",
                                  BTZ_FMT(btz_json_key_at(labels, i)));
        }
    }
    return check_texts(c, labels, at, false);
}

/* Protected servers are the setting's; texts may name markers and fragments. */
static int check_authorization(struct checking *c)
{
    const struct btz_json *list = btz_json_getz(c->setting, "authorization");

    for (size_t i = 0; i < btz_json_count(list); i++) {
        const struct btz_json *entry = btz_json_at(list, i);
        struct btz_str server = btz_json_str(btz_json_getz(entry, "server"));
        struct btz_str tool = btz_json_str(btz_json_pointer(entry, BTZ_STR("/step_up/tool")));

        if (!btz_lab_lists(btz_json_getz(c->setting, "servers"), server)) {
            return btz_lab_refuse(c->script,
                                  btz_lab_card_below(c, "/setting/authorization/%zu/server", i),
                                  c->err, "must be one of setting.servers");
        }
        if (tool.len && !btz_lab_tool_of(btz_lab_server_in(c->lab, c->variant, server), tool)) {
            return btz_lab_refuse(c->script,
                                  btz_lab_card_below(c, "/setting/authorization/%zu/step_up", i),
                                  c->err, "the server has no such tool");
        }
    }
    return check_texts(c, list, btz_lab_card_below(c, "/setting/authorization", 0), true);
}

static int check_variant(struct checking *c)
{
    int code = btz_lab_clones_make(c->lab, c->variant, c->err);

    code = code != BTZ_OK ? code : btz_lab_setting_check(c);
    c->payload = btz_json_new_object(c->lab->arena);
    c->markers = btz_json_shallow(c->lab->arena, btz_json_getz(c->card, "markers"));
    btz_json_set_str(c->lab->arena, c->markers, BTZ_LAB_ATTACKER, BTZ_STR(BTZ_LAB_ATTACKER));
    code = code != BTZ_OK ? code : check_labels(c);
    code = code != BTZ_OK ? code : check_replies(c);
    code = code != BTZ_OK ? code
                          : check_texts(c, btz_json_getz(c->setting, "about_user"),
                                        btz_lab_card_below(c, "/setting/about_user", 0), false);
    code = code != BTZ_OK ? code : check_payload(c);
    code = code != BTZ_OK ? code : check_authorization(c);
    code = code != BTZ_OK ? code
                          : check_withheld(c, btz_json_getz(c->setting, "withheld"),
                                           btz_lab_card_below(c, "/setting/withheld", 0));
    code = code != BTZ_OK ? code
                          : check_texts(c, btz_json_getz(c->setting, "turns"),
                                        btz_lab_card_below(c, "/setting/turns", 0), true);
    code = code != BTZ_OK ? code
                          : check_texts(c, btz_json_getz(c->card, "flag_text"),
                                        btz_lab_card_below(c, "/flag_text", 0), false);
    code = code != BTZ_OK ? code : check_trigger(c);
    code = code != BTZ_OK ? code : check_plans(c);
    code = code != BTZ_OK ? code : check_twin(c, "clean");
    code = code != BTZ_OK ? code : check_twin(c, "benign");
    return code != BTZ_OK ? code : check_names(c);
}

static int functions(struct checking *c, struct variant *v)
{
    static const char *const wanted[] = {"seed(w, markers, payload)",
                                         "utility(trajectory, journal, markers)",
                                         "oracle(trajectory, journal, markers)"};
    int *const refs[] = {&v->seed, &v->utility, &v->oracle};
    const struct btz_json *payload = btz_json_getz(c->card, "payload");

    for (size_t i = 0; i < 3; i++) {
        struct btz_str name = btz_str_sub(btz_str_of(wanted[i]), 0, strcspn(wanted[i], "("));
        struct btz_str path =
            btz_arena_printf(c->lab->arena, "%s/%.*s", c->path.ptr, BTZ_FMT(name));

        *refs[i] = btz_lab_function(c->script, path);
        if (*refs[i] == BTZ_LUA_NONE) {
            return btz_lab_refuse(c->script, path, c->err, "expected function %s", wanted[i]);
        }
    }
    v->clean_utility =
        btz_lab_function(c->script, btz_lab_card_below(c, "/twins/clean/utility", 0));
    v->benign_utility =
        btz_lab_function(c->script, btz_lab_card_below(c, "/twins/benign/utility", 0));
    v->relay = btz_lab_function(c->script, btz_lab_card_below(c, "/relay", 0));
    v->benign_relay = btz_lab_function(c->script, btz_lab_card_below(c, "/twins/benign/relay", 0));
    v->ask = btz_lab_function(c->script, btz_lab_card_below(c, "/ask", 0));
    if (v->ask == BTZ_LUA_NONE && check_asked(c) != BTZ_OK) {
        return c->err->code;
    }
    v->site = btz_lab_function(c->script, btz_lab_card_below(c, "/site", 0));
    v->handler = btz_lab_function(c->script, btz_lab_card_below(c, "/handler", 0));
    for (size_t i = 0; i < btz_json_count(payload); i++) {
        const struct btz_json *at = btz_json_getz(btz_json_at(payload, i), "at");

        if (v->handler == BTZ_LUA_NONE && btz_json_getz(at, "handler")) {
            return btz_lab_refuse(c->script, btz_lab_card_below(c, "/payload/%zu/at", i), c->err,
                                  "what a tool does from then on is the variant's handler(w, args, "
                                  "ctx, original, text), which is missing");
        }
        if (v->relay == BTZ_LUA_NONE && btz_json_getz(at, "wire")) {
            return btz_lab_refuse(c->script, btz_lab_card_below(c, "/payload/%zu/at", i), c->err,
                                  "a fragment on the wire is put there by the variant's "
                                  "relay(w, markers, message, payload), which is missing");
        }
    }
    return BTZ_OK;
}

/* A card that says a surface where its attacker does not stand would be counted under the wrong one
 * in every table. Only what is plainly wrong is refused: a client can mishandle anything, so any
 * address fits cl; and what a memory gives back enters the model as the user's own, so it fits ma.
 */
static int check_surface(struct checking *c, const struct variant *v)
{
    const struct btz_json *payload = btz_json_getz(c->card, "payload");
    bool remembered = btz_json_getz(c->setting, "memory") != NULL;
    size_t in_turns = 0;

    for (size_t i = 0; i < btz_json_count(payload); i++) {
        in_turns += btz_json_pointer(btz_json_at(payload, i), BTZ_STR("/at/turn")) != NULL;
    }
    if (btz_str_is(v->pub.surface, "ma") && in_turns == 0 && !remembered) {
        return btz_lab_refuse(c->script, btz_lab_card_below(c, "/payload", 0), c->err,
                              "surface ma is the user's task: a fragment must stand in a turn, "
                              "at = { turn = N }, or the setting must have a memory");
    }
    if (btz_str_is(v->pub.surface, "tr") && v->relay == BTZ_LUA_NONE) {
        return btz_lab_refuse(c->script, c->path, c->err,
                              "surface tr is the wire: the variant must have a "
                              "relay(w, markers, message, payload)");
    }
    if (btz_str_is(v->pub.surface, "st") && in_turns > 0 && in_turns == btz_json_count(payload)) {
        return btz_lab_refuse(c->script, btz_lab_card_below(c, "/payload", 0), c->err,
                              "surface st is servers and tools, but every fragment stands in the "
                              "user's turns; that is surface ma");
    }
    return BTZ_OK;
}

static bool has(const struct btz_json *list, const char *text)
{
    return btz_lab_lists(list, btz_str_of(text));
}

/* A form or an address that the user is asked for needs elicitation; the card names the rest. */
static enum btz_mcp_revision first_revision(const struct btz_json *card)
{
    const struct btz_json *payload = btz_json_getz(card, "payload");
    enum btz_mcp_revision first =
        btz_mcp_revision_parse(btz_json_str(btz_json_getz(card, "first_revision")));

    first = first ? first : BTZ_MCP_2024_11_05;
    for (size_t i = 0; i < btz_json_count(payload); i++) {
        if (btz_json_getz(btz_json_getz(btz_json_at(payload, i), "at"), "elicitation") &&
            first < BTZ_MCP_2025_06_18) {
            first = BTZ_MCP_2025_06_18;
        }
    }
    return first;
}

static void describe(struct variant *v, const struct btz_json *attack, struct btz_arena *arena)
{
    struct btz_scenario *pub = &v->pub;

    pub->attack = btz_json_str(btz_json_getz(attack, "id"));
    pub->variant = btz_json_str(btz_json_getz(pub->card, "id"));
    pub->id = btz_arena_printf(arena, "%.*s/%.*s", BTZ_FMT(pub->attack), BTZ_FMT(pub->variant));
    pub->surface = btz_json_str(btz_json_getz(attack, "surface"));
    pub->suite = btz_json_str(btz_json_getz(attack, "suite"));
    pub->boundary = btz_json_str(btz_json_getz(pub->card, "boundary")).ptr[0];
    pub->semantic = btz_str_is(btz_json_str(btz_json_getz(attack, "oracle_kind")), "semantic");
    pub->legacy = has(btz_json_getz(pub->card, "revisions"), "legacy");
    pub->modern = has(btz_json_getz(pub->card, "revisions"), "modern");
    pub->first_revision = first_revision(pub->card);
    pub->memory = has(btz_json_getz(pub->card, "carriers"), "memory");
    pub->stdio = has(btz_json_getz(pub->card, "carriers"), "stdio");
    pub->http = has(btz_json_getz(pub->card, "carriers"), "http");
    pub->switches = btz_json_getz(pub->card, "switches");
}

/* The variants of one file; `data` is the card of their attack. */
static int finish_variants(struct btz_lab *lab, struct script *script, const struct btz_json *data,
                           const struct btz_json *attack_card, struct btz_err *err)
{
    const struct btz_json *variants = btz_json_getz(script->data, "variants");
    int code = BTZ_OK;

    for (size_t i = 0; code == BTZ_OK && i < btz_json_count(variants); i++) {
        struct variant *v = BTZ_NEW(lab->arena, struct variant);
        struct checking c = {.lab = lab, .variant = v, .script = script, .err = err};
        const struct btz_scenario *other;

        c.card = v->pub.card = btz_json_at(variants, i);
        c.setting = btz_json_getz(c.card, "setting");
        c.path = v->path = btz_arena_printf(lab->arena, "/variants/%zu", i);
        v->script = script;
        v->pub.attack_card = attack_card;
        describe(v, data, lab->arena);
        other = btz_lab_scenario_find(lab, v->pub.id);
        if (other && ((const struct variant *)(const void *)other)->script == script) {
            return btz_lab_refuse(script, c.path, err, "there are two variants %.*s",
                                  BTZ_FMT(v->pub.variant));
        }
        if (other) {
            return btz_lab_refuse(script, c.path, err,
                                  "there is a variant %.*s already (%s); choose another id",
                                  BTZ_FMT(v->pub.id),
                                  ((const struct variant *)(const void *)other)->script->name.ptr);
        }
        code = check_variant(&c);
        if (code == BTZ_OK) {
            code = functions(&c, v);
        }
        code = code != BTZ_OK ? code : check_surface(&c, v);
        lab->variants = btz_arena_grow(lab->arena, lab->variants, lab->variant_count,
                                       &lab->variant_cap, sizeof(*lab->variants));
        lab->variants[lab->variant_count++] = v;
    }
    return code;
}

/* The attack's own variants, then those that other files add, in the order of these. */
static int finish_attack(struct btz_lab *lab, const struct attack *attack, struct btz_err *err)
{
    const struct btz_json *data = attack->script->data;
    struct btz_str surface = btz_json_str(btz_json_getz(data, "surface"));
    struct btz_json *card = btz_json_shallow(lab->arena, data);
    int code;

    btz_json_remove(card, BTZ_STR("variants"));
    code = finish_variants(lab, attack->script, data, card, err);
    for (size_t i = 0; code == BTZ_OK && i < lab->extension_count; i++) {
        struct extension *extension = &lab->extensions[i];

        if (!btz_str_eq(extension->attack, attack->id)) {
            continue;
        }
        extension->used = true;
        if (!btz_str_eq(extension->folder, surface)) {
            return btz_lab_refuse(extension->script, BTZ_STR("/extends"), err,
                                  "the attack is of surface %.*s, so the file belongs into "
                                  "attacks/%.*s/",
                                  BTZ_FMT(surface), BTZ_FMT(surface));
        }
        code = finish_variants(lab, extension->script, data, card, err);
    }
    return code;
}

int btz_lab_attacks_finish(struct btz_lab *lab, struct btz_err *err)
{
    int code = BTZ_OK;

    for (size_t i = 0; code == BTZ_OK && i < lab->attack_count; i++) {
        code = finish_attack(lab, lab->attacks[i], err);
    }
    for (size_t i = 0; code == BTZ_OK && i < lab->extension_count; i++) {
        if (!lab->extensions[i].used) {
            code = btz_lab_refuse(lab->extensions[i].script, BTZ_STR("/extends"), err,
                                  "there is no attack %.*s in the packs",
                                  BTZ_FMT(lab->extensions[i].attack));
        }
    }
    return code;
}
