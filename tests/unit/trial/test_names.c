/* Names of servers and tools: whom a name means where two servers have it, and the order in which
 * the model sees them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "llm/request.h"
#include "script.h"

static struct btz_lab *lab;

static struct script begin(const char *scenario, enum btz_switch safe, uint64_t seed)
{
    struct btz_trial_options options = script_options(lab, scenario);

    if (safe < BTZ_SWITCH_COUNT) {
        options.profile.safe[safe] = true;
    }
    options.seed = seed;
    return script_begin(&options);
}

/* How often a tool stands among the definitions of the open request, and where first. */
static size_t offered(struct script *s, const char *name, ptrdiff_t *first)
{
    struct btz_str rest = script_part(s, BTZ_LLM_PART_TOOLS);
    struct btz_str needle = btz_arena_printf(s->arena, "\"name\":\"%s\"", name);
    size_t count = 0;
    ptrdiff_t at;

    while ((at = btz_str_find(rest, needle)) >= 0) {
        if (first && count == 0) {
            *first = at;
        }
        count++;
        rest = btz_str_sub(rest, (size_t)at + needle.len, rest.len);
    }
    return count;
}

static void use(struct script *s, const char *name)
{
    struct btz_str entry =
        script_entry(s, "call_1", btz_str_of(name), "{\"to\":\"a\",\"text\":\"b\"}");

    script_reply(
        s, script_body(
               s, btz_arena_printf(s->arena, "\"content\":null,\"tool_calls\":[%s]", entry.ptr).ptr,
               "tool_calls"));
}

/* Which server got call number `nth` of the trial that is over. */
static struct btz_str got(struct script *s, size_t nth)
{
    return script_said(s, "call", nth, "server");
}

static const enum btz_switch switches[] = {BTZ_SWITCH_HASH_LONG_NAMES,
                                           BTZ_SWITCH_SEPARATE_NAMESPACES, BTZ_SWITCH_KEY_BY_ORIGIN,
                                           BTZ_SWITCH_PIN_SERVERS};

/* Without its switch a name means the later server; with it both can be called. No other switch
 * changes that. */
static void two_of_a_name(void **state)
{
    static const struct {
        const char *scenario, *name, *second;
        enum btz_switch safe;
    } rows[] = {
        {"names/v1", "kiosk__send", "kiosk-2__send", BTZ_SWITCH_KEY_BY_ORIGIN},
        {"names/v2", "a_kiosk__send", "a_kiosk-2__send", BTZ_SWITCH_SEPARATE_NAMESPACES},
    };

    (void)state;
    for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
        for (size_t i = 0; i < sizeof(switches) / sizeof(switches[0]); i++) {
            bool safe = switches[i] == rows[r].safe;
            struct script s = begin(rows[r].scenario, switches[i], 3);

            assert_int_equal(offered(&s, rows[r].name, NULL), 1);
            assert_int_equal(offered(&s, rows[r].second, NULL), safe ? 1 : 0);
            use(&s, rows[r].name);
            if (safe) {
                use(&s, rows[r].second);
            }
            (void)script_finish(&s, "Done.");
            assert_text(got(&s, 0), safe ? "kiosk" : "stand");
            assert_int_equal(script_notes(&s, "call"), safe ? 2 : 1);
            assert_text(got(&s, safe ? 1 : 0), "stand");
            assert_int_equal(script_events(&s, BTZ_LAYER_HOST, "left_out"),
                             r == 0 && !safe ? 1 : 0);
            script_end(&s);
        }
    }
}

/* A server whose entry was taken is out of reach with all it has; its other tools are gone. */
static void entry_taken(void **state)
{
    struct script s = begin("names/v1", BTZ_SWITCH_COUNT, 3);

    (void)state;
    assert_int_equal(offered(&s, "kiosk__table", NULL), 0);
    assert_int_equal(offered(&s, "kiosk__show", NULL), 1);
    assert_false(script_shows(&s, "Open from eight to noon."));
    script_end(&s);
    /* In one namespace the others stay. */
    s = begin("names/v2", BTZ_SWITCH_COUNT, 3);
    assert_int_equal(offered(&s, "a_kiosk__table", NULL), 1);
    assert_true(script_shows(&s, "Open from eight to noon."));
    script_end(&s);
}

/* A label that is cut loses its end, one with a hash does not. */
static void long_names(void **state)
{
    struct script s = begin("names/v3", BTZ_SWITCH_COUNT, 3);
    char name[65];

    (void)state;
    btz_trial_tool_name_cut(
        BTZ_STR("a-label-of-a-counter-that-goes-on-and-on-until-it-is-too-long-one"),
        BTZ_STR("send"), name);
    assert_int_equal(strlen(name), 64);
    assert_string_equal(name, "a-label-of-a-counter-that-goes-on-and-on-until-it-is-too-l__send");
    assert_int_equal(offered(&s, name, NULL), 1);
    use(&s, name);
    (void)script_finish(&s, "Done.");
    assert_text(got(&s, 0), "stand");
    script_end(&s);

    s = begin("names/v3", BTZ_SWITCH_HASH_LONG_NAMES, 3);
    assert_int_equal(offered(&s, name, NULL), 0);
    btz_trial_tool_name(
        BTZ_STR("a-label-of-a-counter-that-goes-on-and-on-until-it-is-too-long-one"),
        BTZ_STR("send"), name);
    use(&s, name);
    btz_trial_tool_name(
        BTZ_STR("a-label-of-a-counter-that-goes-on-and-on-until-it-is-too-long-two"),
        BTZ_STR("send"), name);
    use(&s, name);
    (void)script_finish(&s, "Done.");
    assert_text(got(&s, 0), "kiosk");
    assert_text(got(&s, 1), "stand");
    script_end(&s);

    /* A tool's own name may be too long as well. */
    btz_trial_tool_name_cut(
        BTZ_STR("l"), BTZ_STR("t123456789t123456789t123456789t123456789t123456789t123456789t1234"),
        name);
    assert_int_equal(strlen(name), 64);
    btz_trial_tool_name_cut(BTZ_STR("mailroom"), BTZ_STR("send_mail"), name);
    assert_string_equal(name, "mailroom__send_mail");
}

/* A name that was given up belongs to whoever registers it, or to nobody. */
static void given_up(void **state)
{
    static const enum btz_switch rows[] = {BTZ_SWITCH_COUNT, BTZ_SWITCH_PIN_SERVERS};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct script s = begin("names/v4", rows[i], 3);

        use(&s, "kiosk__send");
        s.other_tools = true;
        script_say(&s, "Done.");
        assert_int_equal(offered(&s, "pavilion__send", NULL), 1);
        assert_int_equal(offered(&s, "kiosk__send", NULL), i == 0 ? 1 : 0);
        use(&s, i == 0 ? "kiosk__send" : "pavilion__send");
        (void)script_finish(&s, "Done.");
        assert_text(got(&s, 0), "kiosk");
        assert_text(got(&s, 1), i == 0 ? "stand" : "kiosk");
        assert_int_equal(script_events(&s, BTZ_LAYER_HOST, "left_out"), i);
        script_end(&s);
    }
}

/* A server that leaves the host's configuration is gone, the one that enters it is not there
 * before, and where names are pinned it does not get the name of the other. */
static void reconfigured(void **state)
{
    static const enum btz_switch rows[] = {BTZ_SWITCH_COUNT, BTZ_SWITCH_PIN_SERVERS};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct script s = begin("names/v6", rows[i], 3);

        assert_int_equal(offered(&s, "kiosk__send", NULL), 1);
        assert_int_equal(offered(&s, "kiosk__table", NULL), 1); /* the stand has none */
        use(&s, "kiosk__send");
        s.other_tools = true;
        script_say(&s, "Done.");
        assert_int_equal(offered(&s, "kiosk__table", NULL), 0);
        assert_int_equal(offered(&s, "kiosk__send", NULL), i == 0 ? 1 : 0);
        if (i == 0) {
            use(&s, "kiosk__send");
        }
        (void)script_finish(&s, "Done.");
        assert_text(got(&s, 0), "kiosk");
        assert_int_equal(script_notes(&s, "call"), i == 0 ? 2 : 1);
        if (i == 0) {
            assert_text(got(&s, 1), "stand");
        }
        assert_int_equal(script_notes(&s, "connect"), 2); /* one server at a time */
        assert_int_equal(script_events(&s, BTZ_LAYER_HOST, "unconfigured"), 2);
        assert_int_equal(script_events(&s, BTZ_LAYER_HOST, "left_out"), i);
        script_end(&s);
    }
}

/* In the twin whose configuration stays, both are there all along. */
static void configuration_stays(void **state)
{
    struct btz_trial_options options = script_options(lab, "names/v6");
    struct script s;

    (void)state;
    options.arm = BTZ_ARM_CLEAN;
    s = script_begin(&options);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(offered(&s, "kiosk__table", NULL), 1);
        assert_int_equal(offered(&s, "stand__send", NULL), 1);
        if (i == 0) {
            script_say(&s, "Done.");
        }
    }
    (void)script_finish(&s, "Done.");
    assert_int_equal(script_notes(&s, "connect"), 4);
    assert_int_equal(script_events(&s, BTZ_LAYER_HOST, "unconfigured"), 0);
    script_end(&s);
}

/* What a server that is gone offered cannot be read any more. */
static void gone_with_its_resources(void **state)
{
    struct script s = begin("names/v6", BTZ_SWITCH_COUNT, 3);

    (void)state;
    script_call(&s, NULL, "read_resource", "{\"uri\":\"kiosk://board\"}");
    assert_holds(script_content(&s, -1), "Nothing hangs here.");
    s.other_tools = true;
    script_say(&s, "Done.");
    script_call(&s, NULL, "read_resource", "{\"uri\":\"kiosk://board\"}");
    assert_holds(script_content(&s, -1), "no connected server offers this resource");
    (void)script_finish(&s, "Done.");
    script_end(&s);
}

/* A tool with another name keeps its handler, and the oracle knows it by the written name. */
static void renamed_tool(void **state)
{
    struct btz_trial_options options = script_options(lab, "names/v5");
    struct script s = script_begin(&options);
    struct btz_str label = script_marker(&s, "attacker");
    struct btz_str name = btz_arena_printf(s.arena, "%.*s__sende", BTZ_FMT(label));

    (void)state;
    assert_int_equal(offered(&s, name.ptr, NULL), 1);
    use(&s, name.ptr);
    (void)script_finish(&s, "Done.");
    assert_text(got(&s, 0), "stand");
    assert_text(script_said(&s, "call", 0, "tool"), "sende");
    assert_true(script_record(&s)->chain.effect);
    assert_true(script_record(&s)->chain.observed);
    script_end(&s);
}

/* Each server stands first for some seed, and the arms of a seed agree on which. */
static void order(void **state)
{
    bool first[2] = {false, false};

    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        struct btz_trial_options options = script_options(lab, "names/v5");
        bool before[2];

        options.seed = seed;
        for (size_t i = 0; i < 2; i++) {
            struct script s;
            ptrdiff_t kiosk = -1;
            ptrdiff_t stand = -1;

            options.arm = i == 0 ? BTZ_ARM_ATTACK : BTZ_ARM_CLEAN;
            s = script_begin(&options);
            assert_int_equal(offered(&s, "kiosk__show", &kiosk), 1);
            assert_int_equal(offered(&s,
                                     btz_arena_printf(s.arena, "%.*s__show",
                                                      BTZ_FMT(script_marker(&s, "attacker")))
                                         .ptr,
                                     &stand),
                             1);
            before[i] = kiosk < stand;
            script_end(&s);
        }
        assert_int_equal(before[0], before[1]);
        first[before[0]] = true;
    }
    assert_true(first[0] && first[1]);
}

int main(void)
{
    static const char *const packs[] = {"trial", "names", NULL};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_of_a_name),
        cmocka_unit_test(entry_taken),
        cmocka_unit_test(long_names),
        cmocka_unit_test(given_up),
        cmocka_unit_test(renamed_tool),
        cmocka_unit_test(order),
        cmocka_unit_test(reconfigured),
        cmocka_unit_test(configuration_stays),
        cmocka_unit_test(gone_with_its_resources),
    };
    int failed;

    lab = script_lab(packs);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    btz_lab_free(lab);
    return failed;
}
