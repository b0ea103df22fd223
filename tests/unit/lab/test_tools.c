/* The behaviour of the core pack's tools, by the tables in tests/packs/tools: one file for each
 * server, one entry for each tool. Each table must hold, and must break when its tool's handler is
 * replaced by one that gives back its arguments. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "lab/embedded.h"
#include "lab/lab_int.h"
#include "play.h"

enum { SERVERS_MAX = 16, PATH_SIZE = 512 };

struct state {
    struct btz_arena *arena;
    struct btz_lab *lab;
    const struct btz_json *tables[SERVERS_MAX];
    size_t count;
};

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
    struct state *s = calloc(1, sizeof(*s));
    struct btz_lab_options options = {0};
    struct dirent **names = NULL;
    struct btz_err err;
    int n = scandir(BTZ_SOURCE_DIR "/tests/packs/tools", &names, is_table, by_name);

    s->arena = btz_arena_new();
    if (btz_lab_new(&options, &s->lab, &err) != BTZ_OK) {
        print_error("%s:%u: %s\n", err.file, err.line, err.msg);
        return -1;
    }
    for (int i = 0; i < n; i++) {
        assert_true(s->count < SERVERS_MAX);
        s->tables[s->count++] =
            play_load(s->arena, BTZ_SOURCE_DIR "/tests/packs/tools", names[i]->d_name);
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

static struct btz_str server_of(const struct btz_json *table)
{
    return btz_json_str(btz_json_getz(table, "server"));
}

/* Servers with a table have an entry for each tool and nothing else. */
static void every_tool_has_a_table(void **state)
{
    struct state *s = *state;

    assert_true(s->count >= 4);
    for (size_t i = 0; i < s->count; i++) {
        const struct btz_json *server = btz_lab_server_find(s->lab, server_of(s->tables[i]));
        const struct btz_json *tools = btz_json_getz(server, "tools");
        const struct btz_json *entries = btz_json_getz(s->tables[i], "tools");

        assert_non_null(server);
        assert_int_equal(btz_json_count(tools), btz_json_count(entries));
        for (size_t t = 0; t < btz_json_count(tools); t++) {
            struct btz_str name = btz_json_str(btz_json_getz(btz_json_at(tools, t), "name"));

            if (!btz_json_get(entries, name)) {
                fail_msg("%.*s.%.*s has no table", BTZ_FMT(server_of(s->tables[i])), BTZ_FMT(name));
            }
        }
    }
}

static void tables_hold(void **state)
{
    struct state *s = *state;
    size_t failures = 0;

    for (size_t i = 0; i < s->count; i++) {
        const struct btz_json *entries = btz_json_getz(s->tables[i], "tools");
        struct play play = play_new(s->lab, server_of(s->tables[i]));

        for (size_t t = 0; t < btz_json_count(entries); t++) {
            play.failures = 0;
            play_tool(&play, btz_json_key_at(entries, t), btz_json_value_at(entries, t));
            if (play.failures > 0) {
                print_error("%.*s.%.*s: %zu failures, first: %s\n", BTZ_FMT(play.server),
                            BTZ_FMT(btz_json_key_at(entries, t)), play.failures, play.why);
            }
            failures += play.failures;
        }
        print_message("%.*s: %zu tools, %zu calls\n", BTZ_FMT(play.server), btz_json_count(entries),
                      play.calls);
        play_free(&play);
    }
    assert_int_equal(failures, 0);
}

/* Resources and further behaviour of a whole server: "also", calls that name their tools. */
static void servers_hold(void **state)
{
    struct state *s = *state;

    for (size_t i = 0; i < s->count; i++) {
        const struct btz_json *also = btz_json_getz(s->tables[i], "also");
        struct play play = play_new(s->lab, server_of(s->tables[i]));

        for (size_t a = 0; a < btz_json_count(also); a++) {
            const struct btz_json *part = btz_json_at(also, a);
            int64_t worlds = 1;

            (void)btz_json_int64(btz_json_getz(part, "worlds"), &worlds);
            for (int64_t seed = 1; seed <= worlds; seed++) {
                play_begin(&play, (uint64_t)seed, btz_json_getz(part, "world"));
                play_calls(&play, BTZ_STR_NONE, btz_json_getz(part, "calls"));
            }
        }
        if (play.failures > 0) {
            print_error("%s\n", play.why);
        }
        assert_int_equal(play.failures, 0);
        play_free(&play);
    }
}

static void write_file(const char *path, struct btz_str head, struct btz_str tail)
{
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(head.ptr, 1, head.len, file), head.len);
    assert_int_equal(fwrite(tail.ptr, 1, tail.len, file), tail.len);
    assert_int_equal(fclose(file), 0);
}

/* The source of a server, changed so that one tool gives back its arguments. */
static void write_echo(struct btz_arena *arena, const char *dir, struct btz_str server,
                       struct btz_str source, struct btz_str tool)
{
    struct btz_str begin = BTZ_STR("\nreturn server {");
    ptrdiff_t at = btz_str_find(source, begin);
    struct btz_str path = btz_arena_printf(arena, "%s/servers/%.*s.lua", dir, BTZ_FMT(server));
    struct btz_str rest;

    assert_true(at >= 0);
    rest = btz_str_sub(source, (size_t)at + begin.len, SIZE_MAX);
    assert_true(btz_str_find(rest, begin) < 0);
    write_file(path.ptr,
               btz_arena_printf(arena, "%.*s\nlocal echoed = server {%.*s", (int)at, source.ptr,
                                BTZ_FMT(rest)),
               btz_arena_printf(arena,
                                "\nfor _, tool in ipairs(echoed.tools) do\n"
                                "  if tool.name == \"%.*s\" then\n"
                                "    tool.output = nil\n"
                                "    tool.handler = function(w, args)\n"
                                "      return { text = json.encode(args), structured = args }\n"
                                "    end\n"
                                "  end\n"
                                "end\n"
                                "return echoed\n",
                                BTZ_FMT(tool)));
}

static struct btz_str embedded(struct btz_str name)
{
    for (size_t i = 0; i < btz_lab_core_pack_count; i++) {
        if (btz_str_is(name, btz_lab_core_pack[i].name)) {
            return (struct btz_str){btz_lab_core_pack[i].bytes, btz_lab_core_pack[i].len};
        }
    }
    fail_msg("%.*s is not in the core pack", BTZ_FMT(name));
    return BTZ_STR_NONE;
}

static void make_pack(char *dir, struct btz_arena *arena)
{
    assert_non_null(mkdtemp(dir));
    assert_int_equal(mkdir(btz_arena_printf(arena, "%s/servers", dir).ptr, 0700), 0);
    assert_int_equal(mkdir(btz_arena_printf(arena, "%s/lib", dir).ptr, 0700), 0);
    for (size_t i = 0; i < btz_lab_core_pack_count; i++) {
        struct btz_str name = btz_str_of(btz_lab_core_pack[i].name);

        if (btz_str_starts(name, BTZ_STR("lib/"))) {
            write_file(btz_arena_printf(arena, "%s/%.*s", dir, BTZ_FMT(name)).ptr, embedded(name),
                       BTZ_STR_NONE);
        }
    }
}

static void drop_pack(const char *dir, struct btz_arena *arena)
{
    for (size_t i = 0; i < btz_lab_core_pack_count; i++) {
        (void)unlink(btz_arena_printf(arena, "%s/%s", dir, btz_lab_core_pack[i].name).ptr);
    }
    assert_int_equal(rmdir(btz_arena_printf(arena, "%s/servers", dir).ptr), 0);
    assert_int_equal(rmdir(btz_arena_printf(arena, "%s/lib", dir).ptr), 0);
    assert_int_equal(rmdir(dir), 0);
}

/* Failures of `two` with the handler of one tool replaced. */
static void check_echo(struct btz_arena *arena, const char *dir, struct btz_str server,
                       struct btz_str tool, const struct btz_json *table)
{
    struct btz_lab_options options = {.pack_dirs = &dir, .pack_dir_count = 1, .without_core = true};
    struct btz_str file = btz_arena_printf(arena, "servers/%.*s.lua", BTZ_FMT(server));
    struct btz_lab *lab = NULL;
    struct btz_err err;
    struct play play;

    write_echo(arena, dir, server, embedded(file), tool);
    if (btz_lab_new(&options, &lab, &err) != BTZ_OK) {
        fail_msg("%s:%u: %s", err.file, err.line, err.msg);
    }
    play = play_new(lab, server);
    play_two(&play, tool, table);
    if (play.failures == 0) {
        fail_msg("%.*s.%.*s: the table also holds for a tool that gives back its arguments",
                 BTZ_FMT(server), BTZ_FMT(tool));
    }
    play_free(&play);
    btz_lab_free(lab);
    (void)unlink(btz_arena_printf(arena, "%s/%s", dir, file.ptr).ptr);
}

static void echo_breaks_each_table(void **state)
{
    struct state *s = *state;
    const char *tmp = getenv("TMPDIR");
    char dir[PATH_SIZE];
    size_t checked = 0;

    (void)snprintf(dir, sizeof(dir), "%s/btz-echo-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    make_pack(dir, s->arena);
    for (size_t i = 0; i < s->count; i++) {
        const struct btz_json *entries = btz_json_getz(s->tables[i], "tools");

        for (size_t t = 0; t < btz_json_count(entries); t++) {
            check_echo(s->arena, dir, server_of(s->tables[i]), btz_json_key_at(entries, t),
                       btz_json_value_at(entries, t));
            checked++;
        }
    }
    drop_pack(dir, s->arena);
    assert_true(checked >= 21);
    print_message("%zu tools broken one by one\n", checked);
}

/* `unit` again and again, about `size` bytes. */
static struct btz_str repeated(struct btz_arena *arena, const char *unit, size_t size)
{
    size_t len = strlen(unit);
    char *out = btz_arena_alloc(arena, size + 1);

    size -= size % len;
    for (size_t i = 0; i < size; i++) {
        out[i] = unit[i % len];
    }
    out[size] = '\0';
    return (struct btz_str){out, size};
}

/* Calls a tool with the arguments of its table, each text in them replaced by `value` in turn. */
static size_t call_with(struct play *play, struct btz_str tool, const struct btz_json *args,
                        struct btz_str value)
{
    size_t answered = 0;

    for (size_t i = 0; i < btz_json_count(args); i++) {
        struct btz_json *changed = btz_json_shallow(play->arena, args);
        const struct btz_json *result = NULL;
        struct btz_err err;

        if (!btz_json_is(btz_json_value_at(args, i), BTZ_JSON_STRING)) {
            continue;
        }
        btz_json_set(play->arena, changed, btz_json_key_at(args, i),
                     btz_json_new_str(play->arena, value));
        if (btz_stage_call(play->stage, 0, tool, changed, 1, &result, &err) != BTZ_OK) {
            fail_msg("%.*s.%.*s, %.*s = \"%.60s\" (%zu bytes): %s:%u: %s", BTZ_FMT(play->server),
                     BTZ_FMT(tool), BTZ_FMT(btz_json_key_at(args, i)), value.ptr, value.len,
                     err.file, err.line, err.msg);
        }
        answered += !btz_json_getz(result, "isError");
    }
    return answered;
}

/* Whatever a model passes, a handler answers or refuses: it never breaks a limit or fails. */
static void odd_texts_are_answered(void **state)
{
    static const char *const units[] = {
        "*",     "a",   "*a",   ".",         "..",      "../",
        "/",     "\\",  "\n",   " ",         "%",       "(",
        "[",     "?",   "{",    "1",         "1.",      ",",
        "\"",    "#",   "@",    "a@a.",      "é",       ":",
        "\t",    "a\n", "- \n", "password ", "http://", "http://a.example/",
        "total "};
    static const size_t sizes[] = {8, 40, 190, 400, 2000, 20000, 50000};
    struct state *s = *state;
    size_t answered = 0;

    for (size_t i = 0; i < s->count; i++) {
        const struct btz_json *entries = btz_json_getz(s->tables[i], "tools");
        struct play play = play_new(s->lab, server_of(s->tables[i]));

        for (size_t t = 0; t < btz_json_count(entries); t++) {
            const struct btz_json *two = btz_json_getz(btz_json_value_at(entries, t), "two");

            for (size_t u = 0; u < sizeof(units) / sizeof(*units); u++) {
                play_begin(&play, 1, NULL);
                for (size_t n = 0; n < sizeof(sizes) / sizeof(*sizes); n++) {
                    answered += call_with(&play, btz_json_key_at(entries, t),
                                          btz_json_getz(btz_json_at(two, u % 2), "args"),
                                          repeated(play.arena, units[u], sizes[n]));
                }
            }
        }
        play_free(&play);
    }
    print_message("%zu calls were answered\n", answered);
    assert_true(answered > 100);
}

/* The user of the mailbox is one of three, and each comes up. */
static void seeds_draw_the_user(void **state)
{
    struct state *s = *state;
    struct btz_json *users = btz_json_new_object(s->arena);
    const struct world_key path[] = {
        {.name = BTZ_STR("mailroom")}, {.name = BTZ_STR("user")}, {.name = BTZ_STR("address")}};
    struct play play = play_new(s->lab, BTZ_STR("mailroom"));

    for (uint64_t seed = 1; seed <= 24; seed++) {
        play_begin(&play, seed, NULL);
        btz_json_set(s->arena, users, btz_json_str(btz_world_get(&play.stage->world, path, 3)),
                     btz_json_null(s->arena));
    }
    assert_int_equal(btz_json_count(users), 3);
    play_free(&play);
}

/* All servers of a world that know their user mean the same person. */
static void servers_agree_on_the_user(void **state)
{
    struct state *s = *state;
    struct btz_str names[SERVERS_MAX];
    size_t compared = 0;

    for (size_t i = 0; i < s->count; i++) {
        names[i] = server_of(s->tables[i]);
    }
    for (uint64_t seed = 1; seed <= 32; seed++) {
        struct btz_stage *stage = NULL;
        const struct btz_json *first = NULL;
        struct btz_err err;

        assert_int_equal(btz_stage_new_plain(s->lab, names, s->count, seed, &stage, &err), BTZ_OK);
        for (size_t i = 0; i < s->count; i++) {
            const struct world_key path[] = {
                {.name = names[i]}, {.name = BTZ_STR("user")}, {.name = BTZ_STR("address")}};
            const struct btz_json *user = btz_world_get(&stage->world, path, 3);

            compared += user && first;
            first = first ? first : user;
            if (user && !btz_json_equal(user, first)) {
                fail_msg("seed %llu: %.*s shows another user", (unsigned long long)seed,
                         BTZ_FMT(names[i]));
            }
        }
        btz_stage_free(stage);
    }
    assert_true(compared >= 32);
}

/* What a scenario shows to a model has to stay small. */
static void definitions_are_small(void **state)
{
    struct state *s = *state;

    for (size_t i = 0; i < s->count; i++) {
        const struct btz_json *server = btz_lab_server_find(s->lab, server_of(s->tables[i]));
        const struct btz_json *tools = btz_json_getz(server, "tools");
        size_t bytes = btz_json_text(s->arena, tools).len;

        print_message("%.*s: %zu bytes of definitions\n", BTZ_FMT(server_of(s->tables[i])), bytes);
        assert_true(bytes <= 900 * btz_json_count(tools));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_tool_has_a_table),
        cmocka_unit_test(tables_hold),
        cmocka_unit_test(servers_hold),
        cmocka_unit_test(echo_breaks_each_table),
        cmocka_unit_test(seeds_draw_the_user),
        cmocka_unit_test(odd_texts_are_answered),
        cmocka_unit_test(servers_agree_on_the_user),
        cmocka_unit_test(definitions_are_small),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
