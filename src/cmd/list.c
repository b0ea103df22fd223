/* list: what there is - servers, tools, resources, attacks, scenarios, studies, runs. */
#include <time.h>

#include "cmd/cmd.h"
#include "base/mapping.h"
#include "report/attack_page.h"
#include "report/csv.h"
#include "study/file.h"

struct listing {
    struct btz_arena *arena;
    struct btz_json *items;
};

static struct btz_json *add(struct listing *l)
{
    struct btz_json *item = btz_json_new_object(l->arena);

    btz_json_push(l->arena, l->items, item);
    return item;
}

static void list_servers(struct listing *l, struct btz_lab *lab)
{
    for (size_t i = 0; i < btz_lab_server_count(lab); i++) {
        const struct btz_json *server = btz_lab_server_at(lab, i);
        struct btz_json *item = add(l);

        btz_json_setz(l->arena, item, "id", btz_json_getz(server, "id"));
        btz_json_setz(l->arena, item, "title", btz_json_getz(server, "title"));
        btz_json_set_int(l->arena, item, "tools",
                         (int64_t)btz_json_count(btz_json_getz(server, "tools")));
        btz_json_set_int(l->arena, item, "resources",
                         (int64_t)btz_json_count(btz_json_getz(server, "resources")));
    }
}

static void list_tools(struct listing *l, struct btz_lab *lab)
{
    for (size_t i = 0; i < btz_lab_server_count(lab); i++) {
        const struct btz_json *server = btz_lab_server_at(lab, i);
        const struct btz_json *tools = btz_json_getz(server, "tools");

        for (size_t t = 0; t < btz_json_count(tools); t++) {
            const struct btz_json *tool = btz_json_at(tools, t);
            const struct btz_json *hints = btz_json_getz(tool, "annotations");
            bool read_only = btz_json_bool(btz_json_getz(hints, "readOnlyHint"), false);
            const struct btz_json *sink = btz_json_getz(tool, "sink");
            struct btz_json *item = add(l);

            btz_json_setz(l->arena, item, "server", btz_json_getz(server, "id"));
            btz_json_setz(l->arena, item, "name", btz_json_getz(tool, "name"));
            btz_json_set_bool(l->arena, item, "read_only", read_only);
            /* The hint's default in the specification is true for tools that are not read-only. */
            btz_json_set_bool(l->arena, item, "destructive",
                              !read_only &&
                                  btz_json_bool(btz_json_getz(hints, "destructiveHint"), true));
            btz_json_setz(l->arena, item, "sink", sink ? sink : btz_json_null(l->arena));
        }
    }
}

static void list_resources(struct listing *l, struct btz_lab *lab)
{
    for (size_t i = 0; i < btz_lab_server_count(lab); i++) {
        const struct btz_json *server = btz_lab_server_at(lab, i);
        const struct btz_json *resources = btz_json_getz(server, "resources");

        for (size_t r = 0; r < btz_json_count(resources); r++) {
            struct btz_json *item = add(l);

            btz_json_setz(l->arena, item, "server", btz_json_getz(server, "id"));
            btz_json_setz(l->arena, item, "uri", btz_json_getz(btz_json_at(resources, r), "uri"));
        }
    }
}

static struct btz_json *texts(struct btz_arena *arena, const char *const *list)
{
    struct btz_json *out = btz_json_new_array(arena);

    for (; list && *list; list++) {
        btz_json_push(arena, out, btz_json_new_strz(arena, *list));
    }
    return out;
}

/* The ids of the row `m` of the mapping; NULL: unknown. */
static void add_taxonomies(struct btz_arena *arena, struct btz_json *out,
                           const struct btz_mapping *m)
{
    btz_json_setz(arena, out, "owasp", texts(arena, m ? m->owasp : NULL));
    btz_json_setz(arena, out, "atlas", texts(arena, m ? m->atlas : NULL));
    btz_json_setz(arena, out, "cwe", texts(arena, m ? m->cwe : NULL));
}

static void list_attacks(struct listing *l, struct btz_lab *lab)
{
    struct btz_json *item = NULL;
    struct btz_str last = BTZ_STR_NONE;
    int64_t variants = 0;
    char boundary = 0;

    for (size_t i = 0; i < btz_lab_scenario_count(lab); i++) {
        const struct btz_scenario *s = btz_lab_scenario_at(lab, i);

        if (!item || !btz_str_eq(s->attack, last)) {
            const struct btz_mapping *m =
                btz_mapping_find(btz_json_str(btz_json_getz(s->attack_card, "mapping")));

            item = add(l);
            last = s->attack;
            variants = 0;
            boundary = s->boundary;
            btz_json_set_str(l->arena, item, "id", s->attack);
            btz_json_set_str(l->arena, item, "surface", s->surface);
            btz_json_set_strz(l->arena, item, "boundary", "");
            btz_json_set_strz(l->arena, item, "oracle", s->semantic ? "semantic" : "deterministic");
            btz_json_set_int(l->arena, item, "variants", 0);
            add_taxonomies(l->arena, item, m);
        }
        boundary = boundary == s->boundary ? boundary : 'M';
        btz_json_set_int(l->arena, item, "variants", ++variants);
        btz_json_set_strz(l->arena, item, "boundary",
                          boundary == 'M'   ? "mixed"
                          : boundary == 'B' ? "B"
                                            : "V");
    }
}

/* The attack as report/attack_page.h wants it; NULL if there is none of that name. */
static struct btz_json *one_attack(struct btz_arena *arena, struct btz_lab *lab, struct btz_str id)
{
    struct btz_json *out = NULL;
    struct btz_json *variants = btz_json_new_array(arena);

    for (size_t i = 0; i < btz_lab_scenario_count(lab); i++) {
        const struct btz_scenario *s = btz_lab_scenario_at(lab, i);
        struct btz_json *variant;

        if (!btz_str_eq(s->attack, id)) {
            continue;
        }
        if (!out) {
            const struct btz_mapping *m =
                btz_mapping_find(btz_json_str(btz_json_getz(s->attack_card, "mapping")));
            struct btz_json *mapping = btz_json_new_object(arena);

            out = btz_json_new_object(arena);
            btz_json_set_str(arena, out, "id", id);
            btz_json_setz(arena, out, "card", s->attack_card);
            btz_json_set_strz(arena, mapping, "family", m ? m->family : "");
            add_taxonomies(arena, mapping, m);
            btz_json_setz(arena, mapping, "aisvs", texts(arena, m ? m->aisvs : NULL));
            btz_json_setz(arena, out, "mapping", mapping);
            btz_json_setz(arena, out, "variants", variants);
        }
        variant = btz_json_new_object(arena);
        btz_json_set_str(arena, variant, "id", s->variant);
        btz_json_setz(arena, variant, "card", s->card);
        btz_json_push(arena, variants, variant);
    }
    return out;
}

static int no_attack(struct btz_context *context, struct btz_lab *lab, const char *id,
                     struct btz_err *err)
{
    size_t count = btz_lab_scenario_count(lab);
    const char **known = btz_arena_array(context->arena, count + 1, sizeof(*known));
    const char *near;

    for (size_t i = 0; i < count; i++) {
        known[i] = btz_arena_cstr(context->arena, btz_lab_scenario_at(lab, i)->attack);
    }
    near = btz_args_nearest(id, known, count);
    return btz_err_set(err, BTZ_EUSAGE,
                       "there is no attack \"%s\"%s%s%s; see `bartizan list attacks`", id,
                       near ? "; did you mean \"" : "", near ? near : "", near ? "\"" : "");
}

/* list attacks ID: its card as a page. */
static int show_attack(struct btz_context *context, const char *id, struct btz_err *err)
{
    struct btz_lab *lab = NULL;
    struct btz_json *attack;
    struct btz_buf out;
    int rc = btz_cmd_lab(context, &lab, err);

    if (rc != BTZ_OK) {
        return rc;
    }
    btz_buf_init(&out, 4 * 1024 * 1024);
    attack = one_attack(context->arena, lab, btz_str_of(id));
    if (!attack) {
        rc = no_attack(context, lab, id, err);
    } else if (context->json) {
        rc = btz_cmd_print_json(context, attack, err);
    } else {
        rc = btz_attack_page(attack, btz_args_flag(context->args, "markdown"), &context->out, &out,
                             err);
        rc = rc == BTZ_OK ? btz_cmd_print(&out, err) : rc;
    }
    btz_buf_fini(&out);
    btz_lab_free(lab);
    return rc;
}

static bool all_passed(const struct btz_store_cert *certs, size_t count, struct btz_str scenario,
                       bool *known)
{
    bool passed = true;

    *known = false;
    for (size_t i = 0; i < count; i++) {
        if (btz_str_eq(certs[i].scenario, scenario)) {
            *known = true;
            passed = passed && certs[i].passed;
        }
    }
    return passed;
}

/* `certified` is null where this program has not certified these packs yet, `chance` where nothing
 * has to be chosen. */
static int list_scenarios(struct btz_context *context, struct listing *l, struct btz_lab *lab,
                          struct btz_err *err)
{
    struct btz_store *store = NULL;
    struct btz_store_cert *certs = NULL;
    struct btz_hash binary;
    struct btz_hash pack = btz_lab_pack_hash(lab);
    struct btz_err ignored;
    size_t count = 0;
    int rc = btz_cmd_binary_hash(&binary, err);

    if (rc == BTZ_OK && btz_cmd_store(context, BTZ_STORE_READ, &store, &ignored) == BTZ_OK) {
        rc = btz_store_cert_get(store, &binary, &pack, context->arena, &certs, &count, err);
    }
    for (size_t i = 0; rc == BTZ_OK && i < btz_lab_scenario_count(lab); i++) {
        const struct btz_scenario *s = btz_lab_scenario_at(lab, i);
        struct btz_json *item = add(l);
        bool known = false;
        bool passed = all_passed(certs, count, s->id, &known);
        int64_t choices = 0;
        bool chosen =
            btz_json_int64(btz_json_pointer(s->card, BTZ_STR("/setting/choices")), &choices);

        btz_json_set_str(l->arena, item, "id", s->id);
        btz_json_set_str(l->arena, item, "attack", s->attack);
        btz_json_set_str(l->arena, item, "variant", s->variant);
        btz_json_set_strz(l->arena, item, "boundary", s->boundary == 'B' ? "B" : "V");
        btz_json_setz(l->arena, item, "certified",
                      known ? btz_json_new_bool(l->arena, passed) : btz_json_null(l->arena));
        btz_json_setz(l->arena, item, "chance",
                      chosen ? btz_json_new_str(l->arena, btz_arena_printf(l->arena, "1/%lld",
                                                                           (long long)choices))
                             : btz_json_null(l->arena));
    }
    btz_store_close(store);
    return rc;
}

static int list_studies(struct listing *l, struct btz_lab *lab, struct btz_err *err)
{
    for (size_t i = 0; btz_study_name(i).len; i++) {
        const char *name = btz_arena_cstr(l->arena, btz_study_name(i));
        struct btz_study_file study;
        struct btz_json *item;
        int rc = btz_study_load(l->arena, lab, name, &study, err);

        if (rc != BTZ_OK) {
            return rc;
        }
        item = add(l);
        btz_json_set_strz(l->arena, item, "id", name);
        btz_json_set_str(l->arena, item, "about", study.about);
    }
    return BTZ_OK;
}

static struct btz_str cell_text(struct btz_arena *arena, const struct btz_json *value)
{
    struct btz_str text = BTZ_STR("");

    switch (btz_json_kind(value)) {
    case BTZ_JSON_NULL:
        return BTZ_STR("-");
    case BTZ_JSON_BOOL:
        return btz_json_bool(value, false) ? BTZ_STR("yes") : BTZ_STR("no");
    case BTZ_JSON_STRING:
        return btz_json_str(value);
    case BTZ_JSON_ARRAY:
        for (size_t i = 0; i < btz_json_count(value); i++) {
            text = btz_arena_printf(arena, "%.*s%s%.*s", BTZ_FMT(text), i ? ", " : "",
                                    BTZ_FMT(btz_json_str(btz_json_at(value, i))));
        }
        return text;
    default:
        return btz_json_text(arena, value);
    }
}

/* The keys of the first item are the columns: every item of a listing has the same. */
static int print_items(struct btz_context *context, const struct btz_json *items,
                       struct btz_err *err)
{
    const struct btz_json *first = btz_json_at(items, 0);
    size_t width = btz_json_count(first);
    struct btz_column *columns = btz_arena_array(context->arena, width + 1, sizeof(*columns));
    struct btz_table *table;
    struct btz_buf out;
    int rc;

    btz_buf_init(&out, 64 * 1024 * 1024);
    for (size_t c = 0; c < width; c++) {
        columns[c].title = btz_arena_cstr(context->arena, btz_json_key_at(first, c));
        columns[c].align = btz_json_is(btz_json_value_at(first, c), BTZ_JSON_NUMBER)
                               ? BTZ_ALIGN_RIGHT
                               : BTZ_ALIGN_LEFT;
    }
    if (context->csv) {
        for (size_t i = 0; i <= btz_json_count(items) && width; i++) {
            for (size_t c = 0; c < width; c++) {
                (void)btz_buf_add_text(&out, c ? "," : "");
                btz_csv_add(&out, i == 0
                                      ? btz_str_of(columns[c].title)
                                      : cell_text(context->arena,
                                                  btz_json_value_at(btz_json_at(items, i - 1), c)));
            }
            (void)btz_buf_add_byte(&out, '\n');
        }
    } else if (width) {
        table = btz_table_new(columns, width);
        for (size_t i = 0; i < btz_json_count(items); i++) {
            for (size_t c = 0; c < width; c++) {
                btz_table_cell(
                    table, cell_text(context->arena, btz_json_value_at(btz_json_at(items, i), c)),
                    BTZ_COLOUR_NONE);
            }
        }
        if (btz_table_print(table, context->out.colour, &out) != BTZ_OK) {
            out.failed = true; /* btz_cmd_print says so */
        }
        btz_table_free(table);
    }
    rc = btz_cmd_print(&out, err);
    btz_buf_fini(&out);
    return rc;
}

/* The models of a run, from its card. */
static int models_of(struct btz_context *context, struct btz_store *store, int64_t no,
                     const struct btz_json **out, struct btz_err *err)
{
    struct btz_str *models;
    struct btz_str card;
    size_t count = 0;
    struct btz_json *list = btz_json_new_array(context->arena);
    int rc = btz_store_provenance(store, no, context->arena, &card, err);

    rc = rc ? rc : btz_study_models_of(context->arena, card, &models, &count, err);
    for (size_t i = 0; rc == BTZ_OK && i < count; i++) {
        btz_json_push(context->arena, list, btz_json_new_str(context->arena, models[i]));
    }
    *out = list;
    return rc;
}

/* Runs of the bench, newest first. */
static int list_runs(struct btz_context *context, struct listing *l, struct btz_err *err)
{
    struct btz_store *store = NULL;
    struct btz_store_run *runs = NULL;
    const struct btz_json *models;
    size_t count = 0;
    int rc = btz_cmd_store(context, BTZ_STORE_READ, &store, err);

    rc = rc ? rc : btz_store_runs(store, context->arena, &runs, &count, err);
    for (size_t i = 0; rc == BTZ_OK && i < count; i++) {
        time_t started = (time_t)(runs[i].created_us / 1000000);
        struct btz_json *item;
        char text[40] = "";
        struct tm day;

        rc = models_of(context, store, runs[i].no, &models, err);
        if (rc != BTZ_OK) {
            break;
        }
        if (gmtime_r(&started, &day)) {
            (void)strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &day);
        }
        item = add(l);
        btz_json_set_strz(l->arena, item, "id", runs[i].id);
        btz_json_set_str(l->arena, item, "study", runs[i].study);
        btz_json_set_strz(l->arena, item, "started", text);
        btz_json_set_strz(l->arena, item, "status", btz_store_run_status_name(runs[i].status));
        btz_json_set_int(l->arena, item, "finished", runs[i].finished);
        btz_json_set_int(l->arena, item, "planned", runs[i].planned);
        btz_json_set_int(l->arena, item, "faults", runs[i].faults);
        btz_json_setz(l->arena, item, "models", models);
    }
    btz_store_close(store);
    return rc;
}

static int every_pack(struct btz_context *context, struct btz_lab **out, struct btz_err *err)
{
    size_t count = 0;
    const char **names;

    while (btz_lab_pack_builtin(count)) {
        count++;
    }
    names = btz_arena_array(context->arena, count, sizeof(*names));
    for (size_t i = 0; i < count; i++) {
        names[i] = btz_lab_pack_builtin(i);
    }
    return btz_cmd_lab_with(context, names, count, out, err);
}

static int fill(struct btz_context *context, struct listing *l, const char *what,
                struct btz_err *err)
{
    static const char *const known[] = {"servers",   "tools",   "resources", "attacks",
                                        "scenarios", "studies", "runs"};
    struct btz_str word = btz_str_of(what);
    struct btz_lab *lab = NULL;
    const char *near;
    int rc;

    if (btz_str_is(word, "runs")) {
        return list_runs(context, l, err);
    }
    /* Every study is read, also those about packs that are loaded only where they are asked for. */
    rc = btz_str_is(word, "studies") ? every_pack(context, &lab, err)
                                     : btz_cmd_lab(context, &lab, err);
    if (rc != BTZ_OK) {
        return rc;
    }
    if (btz_str_is(word, "servers")) {
        list_servers(l, lab);
    } else if (btz_str_is(word, "tools")) {
        list_tools(l, lab);
    } else if (btz_str_is(word, "resources")) {
        list_resources(l, lab);
    } else if (btz_str_is(word, "attacks")) {
        list_attacks(l, lab);
    } else if (btz_str_is(word, "scenarios")) {
        rc = list_scenarios(context, l, lab, err);
    } else if (btz_str_is(word, "studies")) {
        rc = list_studies(l, lab, err);
    } else {
        near = btz_args_nearest(what, known, sizeof(known) / sizeof(known[0]));
        rc = btz_err_set(
            err, BTZ_EUSAGE,
            "there is no list of \"%s\"%s%s%s; lists: servers, tools, resources, attacks, "
            "scenarios, studies, runs",
            what, near ? "; did you mean \"" : "", near ? near : "", near ? "\"" : "");
    }
    l->items = btz_json_dup(l->arena, l->items); /* values borrow from the lab */
    btz_lab_free(lab);
    return rc;
}

static int run(struct btz_context *context, struct btz_err *err)
{
    struct listing l = {.arena = context->arena, .items = btz_json_new_array(context->arena)};
    const char *what = btz_args_positional(context->args, 0);
    bool one = btz_args_count(context->args) > 1;
    int rc;

    if (one && strcmp(what, "attacks") != 0) {
        return btz_err_set(err, BTZ_EUSAGE, "only attacks have a page each: list attacks ID");
    }
    if (!one && btz_args_flag(context->args, "markdown")) {
        return btz_err_set(err, BTZ_EUSAGE,
                           "--markdown is for the page of one attack: list attacks ID --markdown");
    }
    if (one) {
        return show_attack(context, btz_args_positional(context->args, 1), err);
    }
    rc = fill(context, &l, what, err);
    if (rc != BTZ_OK) {
        return rc;
    }
    return context->json ? btz_cmd_print_json(context, l.items, err)
                         : print_items(context, l.items, err);
}

static const char *const usage[] = {"servers|tools|resources|attacks|scenarios|studies|runs",
                                    "attacks ID", NULL};
static const struct btz_option options[] = {
    {"markdown", 0, BTZ_OPTION_FLAG, NULL, "with attacks ID: as Markdown", 0, 0},
    {NULL, 0, BTZ_OPTION_FLAG, NULL, NULL, 0, 0},
};
static const char *const examples[] = {"bartizan list scenarios", "bartizan list tools --json",
                                       "bartizan list attacks tool-poisoning", "bartizan list runs",
                                       NULL};

const struct btz_command btz_command_list = {
    .args = {.name = "list",
             .summary =
                 "list what there is: servers, tools, resources, attacks, scenarios, studies, runs",
             .usage = usage,
             .options = options,
             .examples = examples,
             .min_positionals = 1,
             .max_positionals = 2},
    .csv = true,
    .run = run,
};
