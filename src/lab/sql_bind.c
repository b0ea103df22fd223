/* w:sql of scripts: the tables come from the world, and what a statement changed goes back there.
 *
 * Rows that were only added are appended one by one, so that the journal shows each; any other
 * change puts the rows of the table as a whole, and a dropped table is deleted. */
#include <lauxlib.h>
#include <lua.h>

#include "lab/lab_int.h"
#include "lab/sql.h"

/* The members of the argument; true if all of them are known and of the right kind. */
static bool read_options(const struct btz_json *options, struct sql_request *request,
                         struct btz_str *tables)
{
    static const struct {
        const char *name;
        enum btz_json_kind kind;
    } known[] = {{"tables", BTZ_JSON_STRING},
                 {"statement", BTZ_JSON_STRING},
                 {"write", BTZ_JSON_BOOL},
                 {"many", BTZ_JSON_BOOL},
                 {"max_rows", BTZ_JSON_NUMBER}};
    const struct btz_json *max_rows = btz_json_getz(options, "max_rows");
    const struct btz_json *params = btz_json_getz(options, "params");
    int64_t rows = 200;

    for (size_t i = 0; i < btz_json_count(options); i++) {
        struct btz_str key = btz_json_key_at(options, i);
        bool fits = btz_str_is(key, "params") && btz_json_is(params, BTZ_JSON_ARRAY);

        fits = fits || (btz_str_is(key, "params") && btz_json_is(params, BTZ_JSON_OBJECT));
        for (size_t k = 0; k < sizeof(known) / sizeof(*known); k++) {
            fits = fits || (btz_str_is(key, known[k].name) &&
                            btz_json_is(btz_json_value_at(options, i), known[k].kind));
        }
        if (!fits) {
            return false;
        }
    }
    *tables = btz_json_str(btz_json_getz(options, "tables"));
    request->statement = btz_json_str(btz_json_getz(options, "statement"));
    request->params = params;
    request->write = btz_json_bool(btz_json_getz(options, "write"), false);
    request->many = btz_json_bool(btz_json_getz(options, "many"), false);
    if (max_rows && !btz_json_int64(max_rows, &rows)) {
        return false;
    }
    request->max_rows = (size_t)rows;
    return tables->ptr && request->statement.ptr && rows >= 1 && rows <= SQL_RESULT_ROWS_MAX;
}

/* How many rows were added behind the old ones; SIZE_MAX if old ones changed. */
static size_t rows_added(const struct btz_json *old, const struct btz_json *rows)
{
    size_t count = btz_json_count(old);

    if (btz_json_count(rows) < count) {
        return SIZE_MAX;
    }
    for (size_t i = 0; i < count; i++) {
        if (!btz_json_equal(btz_json_at(old, i), btz_json_at(rows, i))) {
            return SIZE_MAX;
        }
    }
    return btz_json_count(rows) - count;
}

/* 0 or BTZ_EINVAL with `*why`. */
static int write_back(struct run *run, struct btz_str tables, const struct sql_change *change,
                      const char **why)
{
    struct btz_stage *stage = run->stage;
    struct world_key keys[] = {{.name = run->server->pub.id},
                               {.name = btz_arena_dup(stage->arena, tables)},
                               {.name = btz_arena_dup(stage->arena, change->table)},
                               {.name = BTZ_STR("rows")}};
    const struct btz_json *old = btz_world_get(&stage->world, keys, 4);
    const struct btz_json *value;
    size_t position = 0;
    size_t added;
    int code = BTZ_OK;

    if (!change->rows) {
        code = btz_world_delete(&stage->world, keys, 3, why);
        btz_stage_journal_add(stage, run, "delete", keys + 1, 2, NULL, BTZ_STR_NONE);
        return code;
    }
    added = rows_added(old, change->rows);
    if (added == SIZE_MAX || !btz_json_is(old, BTZ_JSON_ARRAY)) {
        value = btz_json_dup(stage->arena, change->rows);
        code = btz_world_put(&stage->world, keys, 4, value, why);
        btz_stage_journal_add(stage, run, "put", keys + 1, 3, value, BTZ_STR_NONE);
        return code;
    }
    for (size_t i = btz_json_count(change->rows) - added;
         code == BTZ_OK && i < btz_json_count(change->rows); i++) {
        value = btz_json_dup(stage->arena, btz_json_at(change->rows, i));
        code = btz_world_append(&stage->world, keys, 4, value, &position, why);
        btz_stage_journal_add(stage, run, "append", keys + 1, 3, value, BTZ_STR_NONE);
    }
    return code;
}

static const struct btz_json *result_of(struct btz_arena *arena, const struct sql_answer *answer)
{
    struct btz_json *out = btz_json_new_object(arena);

    btz_json_setz(arena, out, "columns", answer->columns);
    btz_json_setz(arena, out, "rows", answer->rows);
    btz_json_set_int(arena, out, "changes", answer->changes);
    btz_json_set_bool(arena, out, "truncated", answer->truncated);
    return out;
}

int btz_lab_world_sql(lua_State *L)
{
    struct btz_lab *lab = btz_lua_owner(L);
    struct run *run = btz_lab_world_run(L);
    struct world_key keys[2] = {{0}};
    struct sql_request request = {0};
    struct sql_answer answer = {0};
    struct btz_err err = {0};
    const char *why = NULL;
    uint64_t work = 0;
    int code;

    if (run->mode != RUN_CALL) {
        return luaL_error(L, "w:sql belongs into a handler");
    }
    luaL_checktype(L, 2, LUA_TTABLE);
    btz_arena_reset(lab->scratch);
    if (!read_options(btz_lua_to_json(L, 2, lab->scratch), &request, &keys[1].name)) {
        return luaL_error(L,
                          "w:sql takes { tables = name, statement = text, params = list, write "
                          "= boolean, many = boolean, max_rows = 1..%d }",
                          SQL_RESULT_ROWS_MAX);
    }
    keys[0].name = run->server->pub.id;
    request.tables = btz_world_get(&run->stage->world, keys, 2);
    request.now = run->stage->time;
    /* Nothing raises while the database is open; the work is charged afterwards. */
    code = btz_sql_run(lab->scratch, &request, &answer, &work, &err);
    btz_lua_charge(L, work);
    if (code != BTZ_OK) {
        lua_pushstring(L, err.msg); /* without a place in the script: it is for a model to read */
        return lua_error(L);
    }
    for (size_t i = 0; i < answer.changed_count; i++) {
        if (btz_arena_used(run->stage->arena) > BTZ_LAB_WORLD_BYTES_MAX) {
            return luaL_error(L, "the world is too large");
        }
        if (write_back(run, keys[1].name, &answer.changed[i], &why) != BTZ_OK) {
            return luaL_error(L, "%s", why);
        }
    }
    btz_lua_push_json(L, result_of(lab->scratch, &answer));
    return 1;
}
