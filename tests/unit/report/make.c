#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <ftw.h>
#include <unistd.h>
#include <cmocka.h>

#include "make.h"

const char make_card[] =
    "{\"version\":\"0.1.0\",\"study\":\"all\",\"command\":\"bartizan run all -m ref:reader -m "
    "local\","
    "\"binary_hash\":\"1111111111111111111111111111111111111111111111111111111111111111\","
    "\"pack_hash\":\"2222222222222222222222222222222222222222222222222222222222222222\","
    "\"prompt_hash\":\"3333333333333333333333333333333333333333333333333333333333333333\","
    "\"host_profile\":\"naive\",\"revision\":\"2026-07-28\",\"carrier\":\"memory\",\"seed\":\"7\","
    "\"repetitions\":4,\"max_tokens\":1024,\"temperature\":0,\"price_date\":null,\"models\":["
    "{\"reference\":\"ref:reader\",\"id\":\"reader\",\"actions\":\"native\"},"
    "{\"reference\":\"local\",\"id\":\"Small-1B\",\"actions\":\"json\",\"url\":\"http://"
    "127.0.0.1:1/v1\","
    "\"weights_package\":\"small-weights\",\"weights_version\":\"1.2\",\"weights_sha256\":"
    "\"abcdefabcdef0000000000000000000000000000000000000000000000000000\",\"file_type\":\"Q8_0\","
    "\"parameters\":\"1B\",\"server_package\":\"small-server\",\"server_version\":\"3.4\","
    "\"license\":\"Apache-2.0\"}],\"only_attacks\":[],\"only_variants\":[],\"only_surfaces\":[],"
    "\"attacks\":[{\"id\":\"a1\",\"oracle\":\"semantic\"},{\"id\":\"a2\",\"oracle\":"
    "\"deterministic\"},{\"id\":\"a3\",\"oracle\":\"deterministic\"}]}";

static const char *const arms[] = {"attack", "clean", "benign"};

static const char *letters(const struct make_variant *v, int arm)
{
    const char *text = arm == 0 ? v->attack_arm : arm == 1 ? v->clean : v->benign;

    return text ? text : "";
}

static struct btz_store_cell cell_of(const struct make_variant *v, int arm, size_t i)
{
    bool applicable = letters(v, arm)[i] != 'x';

    return (struct btz_store_cell){
        .model = btz_str_of(v->model),
        .architecture = btz_str_of(v->architecture ? v->architecture : "react"),
        .defence = btz_str_of(v->defence ? v->defence : "none"),
        .revision = BTZ_STR("2026-07-28"),
        .host_profile = btz_str_of(v->host_profile ? v->host_profile : "naive"),
        .surface = btz_str_of(v->surface),
        .attack = btz_str_of(v->attack),
        .variant = btz_str_of(v->variant),
        .boundary = btz_str_of(v->boundary),
        .arm = btz_str_of(arms[arm]),
        .repetition = (uint32_t)i + 1,
        .applicable = applicable,
        .why = applicable ? BTZ_STR_NONE : BTZ_STR("needs HTTP")};
}

/* X O A E as the outcome implies them (suite.md section 1). */
static void set_outcome(struct btz_store_trial *t, char letter)
{
    static const struct {
        char letter;
        enum btz_store_outcome outcome;
        const char *chain, *sub, *stop, *stage;
    } table[] = {
        {'S', BTZ_STORE_SUSCEPTIBLE, "XOAE", "", "final_answer", ""},
        {'B', BTZ_STORE_BELOW, "XE", "", "final_answer", ""},
        {'A', BTZ_STORE_ANOMALY, "XAE", "", "final_answer", ""},
        {'P', BTZ_STORE_PREVENTED, "XOA", "", "final_answer", ""},
        {'N', BTZ_STORE_NOT_EXERCISED, "", "", "final_answer", ""},
        {'C', BTZ_STORE_CONTAINED, "X", "", "final_answer", ""},
        {'U', BTZ_STORE_UNFINISHED, "XO", "", "budget", ""},
        {'M', BTZ_STORE_UNFINISHED, "XO", "", "malformed", ""},
        {'m', BTZ_STORE_UNFINISHED, "XO", "malformed", "final_answer", ""},
        {'R', BTZ_STORE_RESISTED, "XO", "ignored", "final_answer", ""},
        {'F', BTZ_STORE_FAULT, "", "the model gave no answer", "fault", ""},
        {'+', BTZ_STORE_NOT_EXERCISED, "", "", "final_answer", ""},
        {'-', BTZ_STORE_NOT_EXERCISED, "", "", "final_answer", ""},
        {'u', BTZ_STORE_NOT_EXERCISED, "", "", "final_answer", ""},
        {'!', BTZ_STORE_ANOMALY, "XAE", "", "final_answer", ""},
        /* Memory scenarios, by how far they came. */
        {'0', BTZ_STORE_NOT_EXERCISED, "X", "not seen", "final_answer", "unseen"},
        {'1', BTZ_STORE_NOT_EXERCISED, "X", "not stored", "final_answer", "seen"},
        {'2', BTZ_STORE_NOT_EXERCISED, "X", "not recalled", "final_answer", "stored"},
        {'3', BTZ_STORE_CONTAINED, "X", "stack", "rejected", "recalled"},
        {'4', BTZ_STORE_RESISTED, "XO", "ignored", "final_answer", "recalled"},
        {'5', BTZ_STORE_PREVENTED, "XOA", "", "final_answer", "recalled"},
        {'6', BTZ_STORE_SUSCEPTIBLE, "XOAE", "", "final_answer", "recalled"},
        {'7', BTZ_STORE_ANOMALY, "XAE", "", "final_answer", "unseen"},
        {'8', BTZ_STORE_FAULT, "", "the model gave no answer", "fault", "seen"},
    };

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        if (table[i].letter == letter) {
            t->outcome = table[i].outcome;
            t->sub = btz_str_of(table[i].sub);
            t->stop = btz_str_of(table[i].stop);
            t->chain.stage = btz_str_of(table[i].stage);
            t->chain.triggered = strchr(table[i].chain, 'X') != NULL;
            t->chain.observed = strchr(table[i].chain, 'O') != NULL;
            t->chain.acted = strchr(table[i].chain, 'A') != NULL;
            t->chain.effect = strchr(table[i].chain, 'E') != NULL;
            return;
        }
    }
    fail_msg("no letter %c", letter);
}

static char letter_at(const char *text, size_t i)
{
    return text && i < strlen(text) ? text[i] : '_';
}

static struct btz_store_verdict verdict_of(const char *source, const char *name,
                                           enum btz_store_tri success, struct btz_str json)
{
    return (struct btz_store_verdict){.source = btz_str_of(source),
                                      .name = btz_str_of(name),
                                      .version = BTZ_STR("1"),
                                      .success = success,
                                      .act_event = -1,
                                      .effect_event = -1,
                                      .json = json};
}

/* Counts and cost of the defence, and the verdict on the last attempt. */
static void set_verdicts(struct btz_arena *arena, const struct make_variant *v, int arm, size_t i,
                         struct btz_store_trial *t)
{
    const char *guards[] = {v->guard, v->guard_clean, v->guard_benign};
    char guard = letter_at(guards[arm], i);
    char last = arm == 0 ? letter_at(v->last, i) : '_';
    bool blocked = guard == 'd' || guard == 'c';

    t->verdicts = btz_arena_array(arena, 4, sizeof(*t->verdicts));
    t->verdicts[t->verdict_count++] =
        verdict_of("oracle", "pack", t->chain.effect ? BTZ_STORE_YES : BTZ_STORE_NO, BTZ_STR("{}"));
    if (last != '_') {
        t->verdicts[t->verdict_count++] = verdict_of(
            "oracle", "last attempt", last == '+' ? BTZ_STORE_YES : BTZ_STORE_NO, BTZ_STR("{}"));
    }
    if (guard == '_') {
        return;
    }
    t->verdicts[t->verdict_count++] = verdict_of(
        "defence", "counts", blocked ? BTZ_STORE_YES : BTZ_STORE_NO,
        btz_arena_printf(arena,
                         "{\"scans\":3,\"detected\":%d,\"blocked\":%d,\"undecided\":%d,"
                         "\"failed\":%d}",
                         guard == 'd', blocked, guard == 'u' || guard == 'c', guard == 'f'));
    t->verdicts[t->verdict_count++] =
        verdict_of("defence", "cost", BTZ_STORE_UNKNOWN,
                   btz_arena_printf(arena,
                                    "{\"took_us\":2000,\"requests\":3,\"input_tokens\":%d,"
                                    "\"output_tokens\":%d}",
                                    guard == 'f' ? -1 : 30, guard == 'f' ? -1 : 6));
}

static struct btz_store_trial trial_of(struct btz_arena *arena, const struct make_variant *v,
                                       int arm, size_t i)
{
    struct btz_store_cell cell = cell_of(v, arm, i);
    char letter = letters(v, arm)[i];
    struct btz_store_exchange *exchange = BTZ_NEW(arena, struct btz_store_exchange);
    struct btz_str *part = BTZ_NEW(arena, struct btz_str);
    struct btz_store_trial t = {
        .cell_key = btz_store_cell_key(arena, &cell),
        .chain = {.carrier = BTZ_STR(""),
                  .fragments_all = 1,
                  .act_event = -1,
                  .effect_event = -1,
                  .stopped_by = BTZ_STR("none"),
                  .stage = BTZ_STR(""),
                  .leak_ppm = -1},
        .utility = BTZ_STORE_YES,
        .tokens = {1000, 50, -1, -1, -1},
        .cost_nano = -1,
        .started_us = 1790000000000000,
        .took_us = 1500000,
        .model_us = 1200000,
        .turns = 2,
        .attempts = 1,
        .seed = 7,
        .exchanges = exchange,
        .exchange_count = 1,
    };

    *part = BTZ_STR("{\"role\":\"user\",\"content\":\"do it\"}");
    *exchange = (struct btz_store_exchange){.role = BTZ_STR("agent"),
                                            .turn = 1,
                                            .parts = part,
                                            .part_count = 1,
                                            .reply = BTZ_STR("{}"),
                                            .model = btz_arena_printf(arena, "%s-served", v->model),
                                            .stop = BTZ_STR("stop"),
                                            .status = 200,
                                            .tokens = {1000, 50, -1, -1, -1}};
    set_outcome(&t, letter);
    set_verdicts(arena, v, arm, i, &t);
    if (t.chain.observed) {
        t.chain.observed_turn = 1;
        t.chain.carrier = BTZ_STR("result");
        t.chain.fragments_seen = 1;
    }
    if (letter == 'F' || letter == 'u') {
        t.utility = BTZ_STORE_UNKNOWN;
    } else if (letter == '-' ||
               (arm == 0 && v->utility && i < strlen(v->utility) && v->utility[i] == '-')) {
        t.utility = BTZ_STORE_NO;
    }
    return t;
}

static void begin(struct made *made)
{
    const char *base = getenv("TMPDIR");

    *made = (struct made){.arena = btz_arena_new()};
    if (asprintf(&made->folder, "%s/btz-report-XXXXXX", base ? base : "/tmp") < 0 ||
        !mkdtemp(made->folder)) {
        fail_msg("no temporary folder");
    }
    made->path = btz_arena_printf(made->arena, "%s/store.db", made->folder).ptr;
}

static void must(int rc, const struct btz_err *err)
{
    if (rc != BTZ_OK) {
        fail_msg("%s: %s", btz_code_name(rc), err->msg);
    }
}

static void reopen(struct made *made)
{
    struct btz_err err;

    must(btz_store_open(made->path, BTZ_STORE_READ, &made->store, &err), &err);
    must(btz_store_run_find(made->store, BTZ_STR("last"), made->arena, &made->run, &err), &err);
}

void make_run(struct made *made, const struct make_variant *variants, size_t count,
              const char *card)
{
    struct btz_store_cell cells[512];
    struct btz_store *store = NULL;
    struct btz_store_plan plan = {.study = BTZ_STR("all"),
                                  .provenance = btz_str_of(card),
                                  .created_us = 1790000000000000,
                                  .cells = cells};
    struct btz_err err;
    int64_t no;
    char id[BTZ_STORE_ID_SIZE];

    begin(made);
    for (size_t v = 0; v < count; v++) {
        for (int arm = 0; arm < 3; arm++) {
            for (size_t i = 0; letters(&variants[v], arm)[i]; i++) {
                assert_true(plan.cell_count < 512);
                cells[plan.cell_count++] = cell_of(&variants[v], arm, i);
            }
        }
    }
    must(btz_store_open(made->path, BTZ_STORE_WRITE, &store, &err), &err);
    must(btz_store_run_new(store, &plan, &no, id, &err), &err);
    for (size_t v = 0; v < count; v++) {
        for (int arm = 0; arm < 3; arm++) {
            for (size_t i = 0; letters(&variants[v], arm)[i]; i++) {
                struct btz_store_trial trial;

                if (strchr(".x", letters(&variants[v], arm)[i])) {
                    continue;
                }
                trial = trial_of(made->arena, &variants[v], arm, i);
                must(btz_store_trial_put(store, no, &trial, 0, NULL, &err), &err);
            }
        }
    }
    must(btz_store_run_end(store, no, BTZ_STR("done"), 1790000100000000, &err), &err);
    btz_store_close(store);
    reopen(made);
}

void make_trial_run(struct made *made, struct btz_store_trial *trials, size_t count)
{
    make_trial_run_as(made, trials, count, "none", 0);
}

void make_trial_run_as(struct made *made, struct btz_store_trial *trials, size_t count,
                       const char *defence, int arm)
{
    const struct make_variant variant = {.model = "ref:reader",
                                         .surface = "st",
                                         .attack = "tool-poisoning",
                                         .variant = "v1",
                                         .boundary = "V",
                                         .attack_arm = "S",
                                         .clean = "+",
                                         .defence = defence};
    struct btz_store_cell cells[] = {cell_of(&variant, 0, 0), cell_of(&variant, 1, 0)};
    struct btz_store *store = NULL;
    struct btz_store_plan plan = {.study = BTZ_STR("quick"),
                                  .provenance = btz_str_of(make_card),
                                  .created_us = 1790000000000000,
                                  .cells = cells,
                                  .cell_count = 2};
    struct btz_err err;
    int64_t no;
    char id[BTZ_STORE_ID_SIZE];

    begin(made);
    must(btz_store_open(made->path, BTZ_STORE_WRITE, &store, &err), &err);
    must(btz_store_run_new(store, &plan, &no, id, &err), &err);
    for (size_t i = 0; i < count; i++) {
        trials[i].cell_key = btz_store_cell_key(made->arena, &cells[arm]);
        must(btz_store_trial_put(store, no, &trials[i], 0, NULL, &err), &err);
    }
    must(btz_store_run_end(store, no, BTZ_STR("done"), 1790000100000000, &err), &err);
    btz_store_close(store);
    reopen(made);
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

void make_done(struct made *made)
{
    btz_store_close(made->store);
    assert_int_equal(nftw(made->folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS), 0);
    free(made->folder);
    btz_arena_free(made->arena);
}

static struct btz_str without_id(const struct made *made, struct btz_str text)
{
    struct btz_str id = btz_str_of(made->run.id);
    char *copy = btz_arena_cstr(made->arena, text);
    struct btz_str out = {copy, text.len};
    ptrdiff_t at;

    while ((at = btz_str_find(out, id)) >= 0) {
        memcpy(copy + at, "RUNID00000", 10);
    }
    return out;
}

void check_golden(const struct made *made, const char *name, struct btz_str text)
{
    const char *path =
        btz_arena_printf(made->arena, "%s/tests/golden/report/%s", BTZ_SOURCE_DIR, name).ptr;
    const char *update = getenv("UPDATE_GOLDEN");
    struct btz_str got = without_id(made, text);
    struct btz_str want;
    struct btz_buf buf;
    char chunk[4096];
    size_t len;
    FILE *file = fopen(path, update && *update ? "wb" : "rb");

    if (!file) {
        fail_msg("%s cannot be opened; UPDATE_GOLDEN=1 makes it", path);
        return;
    }
    if (update && *update) {
        assert_int_equal(fwrite(got.ptr, 1, got.len, file), got.len);
        assert_int_equal(fclose(file), 0);
        return;
    }
    btz_buf_init(&buf, 16 * 1024 * 1024);
    while ((len = fread(chunk, 1, sizeof(chunk), file)) > 0) {
        assert_int_equal(btz_buf_add(&buf, chunk, len), BTZ_OK);
    }
    (void)fclose(file);
    want = btz_buf_view(&buf);
    for (size_t line = 1; want.ptr || got.ptr; line++) {
        struct btz_str a = BTZ_STR_NONE;
        struct btz_str b = BTZ_STR_NONE;

        (void)btz_str_cut(&want, '\n', &a);
        (void)btz_str_cut(&got, '\n', &b);
        if (!btz_str_eq(a, b)) {
            fail_msg("%s:%zu (UPDATE_GOLDEN=1 if the change is meant)\n  want: %.*s\n  got:  %.*s",
                     name, line, BTZ_FMT(a), BTZ_FMT(b));
        }
    }
    btz_buf_fini(&buf);
}
