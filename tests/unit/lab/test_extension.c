/* Behaviour tables of a pack's own servers: PACK/tests/ID.json, in the format of
 * tests/packs/tools/README.md. The pack is BTZ_TEST_PACK; without it tests/packs/extension, and
 * packs/extended as a folder. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lab/lab.h"
#include "play.h"

enum { TABLES_MAX = 64 };

struct state {
    struct btz_arena *arena;
    struct btz_lab *lab;
    const struct btz_json *tables[TABLES_MAX];
    size_t count;
};

static const char *pack;

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_table(const struct dirent *entry)
{
    return btz_str_ends(btz_str_of(entry->d_name), BTZ_STR(".json"));
}

static int setup(void **out)
{
    struct btz_lab_options options = {.pack_dirs = &pack, .pack_dir_count = 1};
    struct state *s = calloc(1, sizeof(*s));
    struct dirent **names = NULL;
    struct btz_str folder;
    struct btz_err err;
    char text[1200];
    int n;

    s->arena = btz_arena_new();
    folder = btz_arena_printf(s->arena, "%s/tests", pack);
    if (btz_lab_new(&options, &s->lab, &err) != BTZ_OK) {
        print_error("%s\n", btz_err_text(&err, text, sizeof(text)));
        return -1;
    }
    n = scandir(folder.ptr, &names, is_table, by_name);
    for (int i = 0; i < n; i++) {
        if (s->count < TABLES_MAX) {
            s->tables[s->count++] = play_load(s->arena, folder.ptr, names[i]->d_name);
        }
        free(names[i]);
    }
    free(names);
    *out = s;
    return 0;
}

static int teardown(void **out)
{
    struct state *s = *out;

    if (s) {
        btz_lab_free(s->lab);
        btz_arena_free(s->arena);
        free(s);
    }
    return 0;
}

static void every_tool_has_a_table(void **state)
{
    struct state *s = *state;

    if (s->count == 0) {
        fail_msg("the pack has no tests/ID.json");
    }
    for (size_t i = 0; i < s->count; i++) {
        struct btz_str id = btz_json_str(btz_json_getz(s->tables[i], "server"));
        const struct btz_json *server = btz_lab_server_find(s->lab, id);
        const struct btz_json *tools = btz_json_getz(server, "tools");
        const struct btz_json *entries = btz_json_getz(s->tables[i], "tools");

        if (!server) {
            fail_msg("there is no server %.*s", BTZ_FMT(id));
        }
        for (size_t t = 0; t < btz_json_count(tools); t++) {
            struct btz_str name = btz_json_str(btz_json_getz(btz_json_at(tools, t), "name"));

            if (!btz_json_get(entries, name)) {
                fail_msg("%.*s.%.*s has no table", BTZ_FMT(id), BTZ_FMT(name));
            }
        }
        assert_int_equal(btz_json_count(tools), btz_json_count(entries));
    }
}

static void tables_hold(void **state)
{
    struct state *s = *state;
    size_t failures = 0;

    for (size_t i = 0; i < s->count; i++) {
        const struct btz_json *entries = btz_json_getz(s->tables[i], "tools");
        const struct btz_json *also = btz_json_getz(s->tables[i], "also");
        struct play play = play_new(s->lab, btz_json_str(btz_json_getz(s->tables[i], "server")));

        for (size_t t = 0; t < btz_json_count(entries); t++) {
            play_tool(&play, btz_json_key_at(entries, t), btz_json_value_at(entries, t));
        }
        for (size_t a = 0; a < btz_json_count(also); a++) {
            const struct btz_json *part = btz_json_at(also, a);

            play_begin(&play, 1, btz_json_getz(part, "world"));
            play_calls(&play, BTZ_STR_NONE, btz_json_getz(part, "calls"));
        }
        if (play.failures > 0) {
            print_error("%.*s: %zu failures, first: %s\n", BTZ_FMT(play.server), play.failures,
                        play.why);
        }
        assert_true(play.calls > 0);
        failures += play.failures;
        play_free(&play);
    }
    assert_int_equal(failures, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_tool_has_a_table),
        cmocka_unit_test(tables_hold),
    };

    const char *given = getenv("BTZ_TEST_PACK");
    int failed;

    pack = given && *given ? given : BTZ_SOURCE_DIR "/tests/packs/extension";
    failed = cmocka_run_group_tests(tests, setup, teardown);
    if (!given || !*given) {
        pack = BTZ_SOURCE_DIR "/packs/extended";
        failed += cmocka_run_group_tests(tests, setup, teardown);
    }
    return failed;
}
