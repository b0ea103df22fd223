/* Runs SQL of lab servers over two small tables. The first line of an input says how: "w" write,
 * "m" many, "p" the second line is JSON of the parameters, "t" the next line is JSON of the tables.
 * The rest is the statement. What was changed must load again. */
#include "lab/sql.h"

#include "base/buf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char shop[] =
    "{\"items\": {\"columns\": [{\"name\": \"id\", \"type\": \"INTEGER\", \"key\": true},"
    "{\"name\": \"name\", \"type\": \"TEXT\", \"not_null\": true},"
    "{\"name\": \"price\", \"type\": \"REAL\"}],"
    "\"rows\": [[1, \"bench\", 12.5], [2, \"planter\", null], [7, \"it's\", -1]]},"
    "\"tags\": {\"columns\": [{\"name\": \"item\", \"type\": \"INTEGER\", \"key\": true},"
    "{\"name\": \"tag\", \"type\": \"TEXT\", \"key\": true}],"
    "\"rows\": [[1, \"oak\"], [1, \"new\"], [2, \"oak\"]]}}";

static const struct btz_json *json_line(struct btz_arena *arena, struct btz_str *rest)
{
    const struct btz_json *out = NULL;
    struct btz_str line = BTZ_STR_NONE;

    (void)btz_str_cut(rest, '\n', &line);
    return btz_json_parse(arena, line, NULL, &out, NULL) == BTZ_OK ? out : NULL;
}

/* The changed tables in the place of the old ones. */
static const struct btz_json *changed(struct btz_arena *arena, const struct sql_request *request,
                                      const struct sql_answer *answer)
{
    struct btz_json *tables = btz_json_shallow(arena, request->tables);

    for (size_t i = 0; i < answer->changed_count; i++) {
        const struct sql_change *change = &answer->changed[i];
        struct btz_json *table;

        if (!change->rows) {
            btz_json_remove(tables, change->table);
            continue;
        }
        table = btz_json_shallow(arena, btz_json_get(request->tables, change->table));
        btz_json_setz(arena, table, "rows", change->rows);
        btz_json_set(arena, tables, change->table, table);
    }
    return tables;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct btz_arena *arena = btz_arena_new();
    struct sql_request request = {.max_rows = 20, .now = 1772524800};
    struct sql_answer answer = {0};
    struct btz_str rest = {(const char *)data, size};
    struct btz_str how = BTZ_STR_NONE;
    struct btz_err err;
    uint64_t work = 0;

    (void)btz_str_cut(&rest, '\n', &how);
    request.write = btz_str_find(how, BTZ_STR("w")) >= 0;
    request.many = btz_str_find(how, BTZ_STR("m")) >= 0;
    if (btz_str_find(how, BTZ_STR("p")) >= 0) {
        request.params = json_line(arena, &rest);
    }
    if (btz_str_find(how, BTZ_STR("t")) >= 0) {
        request.tables = json_line(arena, &rest);
    } else if (btz_json_parse(arena, BTZ_STR(shop), NULL, &request.tables, &err) != BTZ_OK) {
        btz_panic("%s", err.msg);
    }
    request.statement = rest.ptr ? btz_arena_dup(arena, rest) : BTZ_STR("");
    if (btz_sql_run(arena, &request, &answer, &work, &err) == BTZ_OK && answer.changed_count > 0) {
        request.tables = changed(arena, &request, &answer);
        request.statement = BTZ_STR("SELECT 1");
        request.params = NULL;
        if (btz_sql_run(arena, &request, &answer, &work, &err) != BTZ_OK) {
            btz_panic("what was written does not load again: %s", err.msg);
        }
    }
    btz_arena_free(arena);
    return 0;
}
