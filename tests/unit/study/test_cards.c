/* Rules that the cards of the core pack keep as a whole (suite.md sections 1 and 4): how much the
 * model is shown, and that no kind of marker tells an attack's texts from those of its twins. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "bench.h"

static struct btz_lab *lab;

enum { FEWEST_SERVERS = 2, MOST_SERVERS = 5, MOST_TOOLS = 24 };

static const struct btz_json *setting_of(const struct btz_scenario *s)
{
    return btz_json_getz(s->card, "setting");
}

/* Of a clone only the tools that the setting lists. */
static const struct btz_json *clone_of(const struct btz_json *setting, struct btz_str server)
{
    return btz_json_get(btz_json_getz(setting, "clones"), server);
}

static size_t tools_of(const struct btz_json *setting, struct btz_str server)
{
    const struct btz_json *clone = clone_of(setting, server);

    return btz_json_count(btz_json_getz(clone ? clone : btz_lab_server_find(lab, server), "tools"));
}

/* At any time of the trial, also where the host's configuration changes. No scenario is excepted.
 */
static void two_to_five_servers(void **state)
{
    (void)state;
    assert_int_equal(btz_lab_scenario_count(lab), 125);
    for (size_t i = 0; i < btz_lab_scenario_count(lab); i++) {
        const struct btz_scenario *s = btz_lab_scenario_at(lab, i);
        const struct btz_json *setting = setting_of(s);
        const struct btz_json *servers = btz_json_getz(setting, "servers");
        const struct btz_json *change = btz_json_getz(setting, "reconfigured");
        size_t count = btz_json_count(servers);
        size_t before = count - btz_json_count(btz_json_getz(change, "joins"));
        size_t after = count - btz_json_count(btz_json_getz(change, "leaves"));
        size_t tools = 0;

        for (size_t k = 0; k < count; k++) {
            tools += tools_of(setting, btz_json_str(btz_json_at(servers, k)));
        }
        if (before < FEWEST_SERVERS || after < FEWEST_SERVERS || count > MOST_SERVERS ||
            tools > MOST_TOOLS) {
            fail_msg("%.*s shows %zu servers, then %zu, with %zu tools", BTZ_FMT(s->id), before,
                     after, tools);
        }
    }
}

static bool offers(struct btz_str server, struct btz_str tool)
{
    const struct btz_json *tools = btz_json_getz(btz_lab_server_find(lab, server), "tools");

    for (size_t i = 0; i < btz_json_count(tools); i++) {
        if (btz_str_eq(btz_json_str(btz_json_getz(btz_json_at(tools, i), "name")), tool)) {
            return true;
        }
    }
    return false;
}

/* A tool has its name to itself unless a clone is there to take it. */
static void tool_names_do_not_meet(void **state)
{
    (void)state;
    for (size_t a = 0; a < btz_lab_server_count(lab); a++) {
        const struct btz_json *tools = btz_json_getz(btz_lab_server_at(lab, a), "tools");

        for (size_t b = 0; b < btz_lab_server_count(lab); b++) {
            struct btz_str other = btz_json_str(btz_json_getz(btz_lab_server_at(lab, b), "id"));

            for (size_t t = 0; a != b && t < btz_json_count(tools); t++) {
                struct btz_str name = btz_json_str(btz_json_getz(btz_json_at(tools, t), "name"));

                if (offers(other, name)) {
                    fail_msg("%.*s has a %.*s, too", BTZ_FMT(other), BTZ_FMT(name));
                }
            }
        }
    }
}

/* Which servers a scenario shows must not say what is going on in it. */
static void servers_vary(void **state)
{
    size_t count = btz_lab_scenario_count(lab);
    size_t beside[16] = {0}; /* by server: the scenarios that show it */

    (void)state;
    assert_int_equal(btz_lab_server_count(lab), 16);
    for (size_t k = 0; k < 16; k++) {
        struct btz_str id = btz_json_str(btz_json_getz(btz_lab_server_at(lab, k), "id"));

        for (size_t i = 0; i < count; i++) {
            const struct btz_json *servers =
                btz_json_getz(setting_of(btz_lab_scenario_at(lab, i)), "servers");

            for (size_t n = 0; n < btz_json_count(servers); n++) {
                beside[k] += btz_str_eq(btz_json_str(btz_json_at(servers, n)), id);
            }
        }
        if (beside[k] == 0 || beside[k] > count / 2) {
            fail_msg("%.*s is shown by %zu scenarios", BTZ_FMT(id), beside[k]);
        }
    }
}

/* ---- markers ---- */

enum { ARMS = 3, MOST_APART = 3 };

static const char *const kinds[] = {"address", "link", "file_stem", "amount", "invoice", "phrase"};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

/* Whether the text holds a marker of the kind. */
static bool holds_kind(struct btz_arena *arena, const struct btz_json *markers, struct btz_str text,
                       const char *kind)
{
    for (size_t i = 0; i < btz_json_count(markers); i++) {
        struct btz_str word =
            btz_arena_printf(arena, "{%.*s}", BTZ_FMT(btz_json_key_at(markers, i)));

        if (btz_str_is(btz_json_str(btz_json_value_at(markers, i)), kind) &&
            btz_str_find(text, word) >= 0) {
            return true;
        }
    }
    return false;
}

/* What a plain filter looks for that knows nothing else of attacks. */
static bool holds_address(struct btz_arena *arena, const struct btz_json *markers,
                          struct btz_str text)
{
    return btz_str_find(text, BTZ_STR("://")) >= 0 || btz_str_find(text, BTZ_STR("@")) >= 0 ||
           holds_kind(arena, markers, text, "address") || holds_kind(arena, markers, text, "link");
}

/* Texts of each arm that hold a marker of each kind and, last, an address or a link. */
struct marked {
    size_t texts[KINDS + 1][ARMS];
};

static void add_marked(struct btz_arena *arena, const struct btz_scenario *s, struct marked *out)
{
    const struct btz_json *payload = btz_json_getz(s->card, "payload");
    const struct btz_json *markers = btz_json_getz(s->card, "markers");

    for (size_t f = 0; f < btz_json_count(payload); f++) {
        const struct btz_json *fragment = btz_json_at(payload, f);
        struct btz_str id = btz_json_str(btz_json_getz(fragment, "id"));
        const struct btz_str texts[ARMS] = {
            btz_json_str(btz_json_getz(fragment, "text")),
            btz_json_str(
                btz_json_get(btz_json_pointer(s->card, BTZ_STR("/twins/clean/texts")), id)),
            btz_json_str(
                btz_json_get(btz_json_pointer(s->card, BTZ_STR("/twins/benign/texts")), id))};

        for (size_t arm = 0; arm < ARMS; arm++) {
            for (size_t k = 0; k < KINDS; k++) {
                out->texts[k][arm] += holds_kind(arena, markers, texts[arm], kinds[k]);
            }
            out->texts[KINDS][arm] += holds_address(arena, markers, texts[arm]);
        }
    }
}

static void assert_alike(const struct marked *marked, const char *where)
{
    for (size_t k = 0; k <= KINDS; k++) {
        const size_t *n = marked->texts[k];

        for (size_t arm = 1; arm < ARMS; arm++) {
            if (n[arm] > n[0] + MOST_APART || n[0] > n[arm] + MOST_APART) {
                fail_msg("%s: %zu texts of the attacks hold a marker of the kind %s, %zu of the "
                         "clean twins and %zu of the benign ones",
                         where, n[0], k < KINDS ? kinds[k] : "address or link", n[1], n[2]);
            }
        }
    }
    assert_true(marked->texts[KINDS][0] > 10);
}

static void markers_are_no_tell(void **state)
{
    struct btz_arena *arena = btz_arena_new();
    struct marked all = {0};
    struct marked visible = {0};

    (void)state;
    for (size_t i = 0; i < btz_lab_scenario_count(lab); i++) {
        const struct btz_scenario *s = btz_lab_scenario_at(lab, i);

        add_marked(arena, s, &all);
        if (s->boundary == 'V') {
            add_marked(arena, s, &visible);
        }
    }
    assert_alike(&all, "all scenarios");
    assert_alike(&visible, "scenarios in which the model has to act");
    btz_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_to_five_servers),
        cmocka_unit_test(tool_names_do_not_meet),
        cmocka_unit_test(servers_vary),
        cmocka_unit_test(markers_are_no_tell),
    };
    int failed;

    lab = bench_lab(NULL, 0);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    btz_lab_free(lab);
    return failed;
}
