/* False positives: no text of the core servers, all of them honest, may be blocked. This program
 * links the laboratory beside the guard; neither room knows the other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "guard/guard.h"
#include "lab/lab.h"

struct pass {
    struct btz_guard_scanner *scanner;
    struct btz_arena *arena;
    size_t texts;
    size_t bytes;
    unsigned top;
};

static void scan(struct pass *pass, struct btz_str text, const char *server, const char *tool)
{
    struct btz_guard_report report;

    btz_guard_scan(pass->scanner, text, BTZ_GUARD_DEFINITION, btz_str_of(tool), NULL, pass->arena,
                   &report);
    pass->texts++;
    pass->bytes += text.len;
    pass->top = report.score > pass->top ? report.score : pass->top;
    if (report.verdict != BTZ_GUARD_PASS) {
        for (size_t i = 0; i < report.count; i++) {
            print_error("%.*s %u\n", BTZ_FMT(report.findings[i].rule->id),
                        report.findings[i].weight);
        }
        fail_msg("%s %s: score %u: %.*s", server, tool, report.score, BTZ_FMT(text));
    }
}

/* Every string of a definition by itself. */
static void walk(struct pass *pass, const struct btz_json *value, const char *server,
                 const char *tool)
{
    if (btz_json_is(value, BTZ_JSON_STRING)) {
        scan(pass, btz_json_str(value), server, tool);
    }
    for (size_t i = 0; i < btz_json_count(value); i++) {
        walk(pass,
             btz_json_is(value, BTZ_JSON_ARRAY) ? btz_json_at(value, i)
                                                : btz_json_value_at(value, i),
             server, tool);
    }
}

static void definitions(void **state)
{
    struct btz_lab_options options = {0};
    struct btz_guard_rules *rules = NULL;
    struct btz_lab *lab = NULL;
    struct btz_err err = {0};
    struct pass pass = {.arena = btz_arena_new()};
    size_t tools = 0;

    (void)state;
    if (btz_guard_rules_new(NULL, &rules, &err) || btz_lab_new(&options, &lab, &err)) {
        fail_msg("%s", err.msg);
    }
    pass.scanner = btz_guard_scanner_new(rules);
    for (size_t s = 0; s < btz_lab_server_count(lab); s++) {
        const struct btz_json *server = btz_lab_server_at(lab, s);
        const struct btz_json *list = btz_json_getz(server, "tools");
        const char *id = btz_arena_cstr(pass.arena, btz_json_str(btz_json_getz(server, "id")));

        for (size_t t = 0; t < btz_json_count(list); t++) {
            const struct btz_json *tool = btz_json_at(list, t);
            const char *name =
                btz_arena_cstr(pass.arena, btz_json_str(btz_json_getz(tool, "name")));

            walk(&pass, tool, id, name);
            /* And the definition as one text, where signals of several fields add up. */
            scan(&pass, btz_json_text(pass.arena, tool), id, name);
            tools++;
        }
        walk(&pass, btz_json_getz(server, "instructions"), id, "instructions");
        walk(&pass, btz_json_getz(server, "prompts"), id, "prompts");
        walk(&pass, btz_json_getz(server, "resources"), id, "resources");
    }
    print_message("%zu tools, %zu texts, %zu bytes, highest score %u\n", tools, pass.texts,
                  pass.bytes, pass.top);
    assert_int_equal(tools, 75);
    assert_true(pass.texts > 300);
    btz_guard_scanner_free(pass.scanner);
    btz_arena_free(pass.arena);
    btz_guard_rules_free(rules);
    btz_lab_free(lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(definitions)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
