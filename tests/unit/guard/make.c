#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "make.h"

struct btz_arena *arena;

int set_up(void **state)
{
    (void)state;
    arena = btz_arena_new();
    return 0;
}

int tear_down(void **state)
{
    (void)state;
    btz_arena_free(arena);
    return 0;
}

const struct btz_json *parse(const char *text)
{
    const struct btz_json *value = NULL;
    struct btz_err err = {0};

    if (btz_json_parse(arena, btz_str_of(text), NULL, &value, &err)) {
        fail_msg("%s in %s", err.msg, text);
    }
    return value;
}

struct btz_canon_result canon(const struct btz_json *tool)
{
    const struct btz_canon_options options = {.want_spans = true};
    struct btz_canon_result result;
    struct btz_canon_result again;
    struct btz_err err = {0};

    if (btz_canon_tool(BTZ_CANON_CANON, tool, &options, arena, &result, &err) ||
        btz_canon_tool(BTZ_CANON_CANON, result.definition, NULL, arena, &again, &err)) {
        fail_msg("%s", err.msg);
    }
    assert_string_equal(btz_json_text(arena, again.definition).ptr,
                        btz_json_text(arena, result.definition).ptr);
    assert_null(again.names);
    assert_null(again.values);
    return result;
}

const struct btz_json *tool_of(const char *name, const char *description, const char *properties)
{
    struct btz_json *tool = btz_json_new_object(arena);

    btz_json_set_strz(arena, tool, "name", name);
    btz_json_set_strz(arena, tool, "description", description);
    btz_json_setz(arena, tool, "inputSchema",
                  parse(btz_arena_printf(arena, "{\"type\":\"object\",\"properties\":%s}",
                                         properties ? properties : "{}")
                            .ptr));
    return tool;
}
