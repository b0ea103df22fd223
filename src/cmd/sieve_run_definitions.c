/* sieve run, without any model: what an arm costs in real definitions, and which rules of the guard
 * find something in them. */
#include "base/file.h"
#include "cmd/sieve_run.h"
#include "guard/guard.h"
#include "sieve/measure.h"
#include "sieve/survive.h"

enum { CALLS = 24, SHOWN_MAX = 16 * 1024 * 1024, DEPTH_MAX = 64, FACTS_BYTES = 64 * 1024 * 1024 };

/* ---- definitions ---- */

/* The definitions of the --definitions file take the place of the items' own. */
static int load_definitions(struct sieve_run *r, struct sieve_document **out, size_t *count,
                            struct btz_err *err)
{
    struct btz_sieve_reader *reader = NULL;
    struct sieve_document *all = NULL;
    struct btz_json *list = NULL;
    struct btz_json *seen = btz_json_new_object(r->arena);
    size_t found = 0;
    size_t cap = 0;
    int rc;

    if (!r->definitions_path.len) {
        *out = r->documents;
        *count = r->document_count;
        return BTZ_OK;
    }
    rc = btz_sieve_reader_open(btz_arena_cstr(r->arena, r->definitions_path), &reader, err);
    while (rc == BTZ_OK) {
        struct btz_sieve_definition d;

        rc = btz_sieve_definition_next(reader, r->arena, &d, err);
        if (rc != BTZ_OK) {
            break;
        }
        if (btz_json_get(seen, d.id)) { /* twice in the file: counts once */
            continue;
        }
        btz_json_set(r->arena, seen, d.id, btz_json_null(r->arena));
        /* Those of a server stand next to each other; a name that comes again begins a new list. */
        if (found == 0 || !btz_str_eq(all[found - 1].cluster, d.source) ||
            btz_json_count(list) >= BTZ_SIEVE_TOOLS_MAX) {
            list = btz_json_new_array(r->arena);
        }
        for (size_t i = 0; i < btz_json_count(list); i++) {
            if (btz_json_equal(btz_json_getz(btz_json_at(list, i), "name"),
                               btz_json_getz(d.tool, "name"))) {
                list = btz_json_new_array(r->arena);
            }
        }
        btz_json_push(r->arena, list, d.tool);
        all = btz_arena_grow(r->arena, all, found, &cap, sizeof(*all));
        all[found++] = (struct sieve_document){btz_arena_dup(r->arena, d.source),
                                               btz_arena_dup(r->arena, d.id), list, d.tool};
    }
    btz_sieve_reader_free(reader);
    *out = all;
    *count = found;
    return rc == BTZ_EAGAIN ? BTZ_OK : rc;
}

static void set_facts(struct btz_arena *arena, struct btz_json *row, const struct sieve_run *r,
                      const struct sieve_document *d, struct btz_str shown)
{
    struct btz_json *list = btz_json_new_array(arena);

    for (size_t i = 0; i < r->fact_count; i++) {
        struct btz_sieve_survival survival;
        struct btz_json *fact;

        if (!btz_str_eq(r->facts[i].id, d->id)) {
            continue;
        }
        btz_sieve_survive(shown, &r->facts[i].text, 1, &survival);
        fact = btz_json_new_object(arena);
        btz_json_set_str(arena, fact, "kind", r->facts[i].kind);
        btz_json_set_bool(arena, fact, "kept", survival.survived);
        btz_json_push(arena, list, fact);
    }
    btz_json_setz(arena, row, "facts", list);
}

static int definition_row(struct sieve_run *r, const struct sieve_arm *arm,
                          const struct sieve_document *d, const struct btz_canon_result *result,
                          bool collides, struct btz_arena *arena, struct btz_err *err)
{
    struct btz_json *row = btz_json_new_object(arena);
    struct btz_sieve_equivalence same = {0};
    struct btz_sieve_freedom freedom = {0};
    struct btz_buf shown;
    int rc;

    btz_buf_init(&shown, SHOWN_MAX);
    if (result->definition) {
        btz_sieve_render(&shown, result->name, result->definition, r->whole);
        btz_sieve_count_freedom(result->definition, r->whole, &freedom);
        btz_sieve_equivalence(d->tool, result, CALLS, r->seed, arena, &same);
    }
    btz_json_set_strz(arena, row, "row", "definition");
    btz_json_set_str(arena, row, "definition", d->id);
    btz_json_set_str(arena, row, "cluster", d->cluster);
    btz_json_set_strz(arena, row, "arm", btz_canon_arm_name(arm->arm));
    btz_json_set_bool(arena, row, "withheld", !result->definition);
    btz_json_set_int(arena, row, "shown_bytes", (int64_t)shown.len);
    btz_json_set_int(arena, row, "characters", (int64_t)freedom.characters);
    btz_json_set_int(arena, row, "names", (int64_t)freedom.names);
    btz_json_set_int(arena, row, "free_names", (int64_t)freedom.free_names);
    btz_json_set_int(arena, row, "values", (int64_t)freedom.values);
    btz_json_set_int(arena, row, "free_values", (int64_t)freedom.free_values);
    btz_json_set_bool(arena, row, "calls_tested", same.tested);
    btz_json_set_int(arena, row, "calls", (int64_t)same.calls);
    btz_json_set_int(arena, row, "calls_valid", (int64_t)same.valid);
    btz_json_set_int(arena, row, "calls_loosened", (int64_t)same.loosened);
    btz_json_set_int(arena, row, "calls_tightened", (int64_t)same.tightened);
    btz_json_set_bool(arena, row, "collides", collides);
    set_facts(arena, row, r, d, btz_buf_view(&shown));
    rc = sieve_row_put(
        r, btz_arena_printf(arena, "definition/%.*s/%.*s", BTZ_FMT(arm->label), BTZ_FMT(d->id)),
        row, err);
    btz_buf_fini(&shown);
    return rc;
}

/* All definitions of one list under one arm. */
static int definition_list(struct sieve_run *r, const struct sieve_arm *arm,
                           const struct sieve_document *first, size_t count,
                           struct btz_arena *arena, struct btz_err *err)
{
    struct btz_canon_result *results = btz_arena_array(arena, count + 1, sizeof(*results));
    const struct btz_json *none = btz_json_new_object(arena);
    struct btz_canon_result *compared = btz_arena_array(arena, count + 1, sizeof(*compared));
    bool *collides = btz_arena_array(arena, count + 1, sizeof(*collides));
    int rc = sieve_show_tools(r, arm, first->list, arena, results, err);

    for (size_t i = 0; rc == BTZ_OK && i < count; i++) {
        compared[i] = results[i];
        compared[i].definition = results[i].definition ? results[i].definition : none;
    }
    if (rc == BTZ_OK) {
        btz_sieve_collisions(first->list, compared, count, r->whole, collides);
    }
    for (size_t i = 0; rc == BTZ_OK && i < count; i++) {
        rc = definition_row(r, arm, &first[i], &results[i], results[i].definition && collides[i],
                            arena, err);
        r->done++;
    }
    return rc;
}

/* ---- rules of the guard ---- */

struct scan {
    struct btz_guard_scanner *scanner;
    struct btz_arena *arena;
    struct btz_json *rules; /* names of those that found something, each once */
    bool blocked;
    unsigned depth;
};

static void scan_value(struct scan *s, const struct btz_json *value);

static void scan_text(struct scan *s, struct btz_str text)
{
    struct btz_guard_report report;

    btz_guard_scan(s->scanner, text, BTZ_GUARD_DEFINITION, BTZ_STR("definition"), NULL, s->arena,
                   &report);
    s->blocked |= report.verdict == BTZ_GUARD_BLOCK;
    for (size_t i = 0; i < report.count; i++) {
        const struct btz_guard_rule *rule = report.findings[i].rule;
        bool known = false;

        for (size_t k = 0; k < btz_json_count(s->rules); k++) {
            known |= btz_str_eq(btz_json_str(btz_json_at(s->rules, k)), rule->id);
        }
        if (!known) {
            btz_json_push(s->arena, s->rules, btz_json_new_str(s->arena, rule->id));
        }
    }
}

static void scan_members(struct scan *s, const struct btz_json *value)
{
    for (size_t i = 0; i < btz_json_count(value); i++) {
        if (btz_json_is(value, BTZ_JSON_OBJECT)) {
            scan_value(s, btz_json_value_at(value, i));
        } else {
            scan_value(s, btz_json_at(value, i));
        }
    }
}

static void scan_value(struct scan *s, const struct btz_json *value)
{
    if (btz_json_is(value, BTZ_JSON_STRING)) {
        scan_text(s, btz_json_str(value));
    } else if (s->depth < DEPTH_MAX) {
        s->depth++;
        scan_members(s, value);
        s->depth--;
    }
}

static int guard_rows(struct sieve_run *r, const struct sieve_document *all, size_t count,
                      struct btz_err *err)
{
    struct btz_guard_rules *rules = NULL;
    struct scan s = {.arena = btz_arena_new()};
    int rc = btz_guard_rules_new(NULL, &rules, err);

    if (rc == BTZ_OK) {
        s.scanner = btz_guard_scanner_new(rules);
    }
    for (size_t i = 0; rc == BTZ_OK && i < count; i++) {
        struct btz_json *row;

        btz_arena_reset(s.arena);
        row = btz_json_new_object(s.arena);
        s.rules = btz_json_new_array(s.arena);
        s.blocked = false;
        scan_value(&s, all[i].tool);
        btz_json_set_strz(s.arena, row, "row", "guard");
        btz_json_set_str(s.arena, row, "definition", all[i].id);
        btz_json_set_str(s.arena, row, "cluster", all[i].cluster);
        btz_json_setz(s.arena, row, "rules", s.rules);
        btz_json_set_bool(s.arena, row, "blocked", s.blocked);
        rc =
            sieve_row_put(r, btz_arena_printf(s.arena, "guard/%.*s", BTZ_FMT(all[i].id)), row, err);
        if (rc == BTZ_OK && i % 32 == 0 && sieve_tick(r, "rules of the guard")) {
            rc = BTZ_EXIT_INTERRUPTED;
        }
    }
    btz_guard_scanner_free(s.scanner);
    btz_guard_rules_free(rules);
    btz_arena_free(s.arena);
    return rc;
}

int sieve_facts(struct sieve_run *r, struct btz_err *err)
{
    const char *path = btz_arena_cstr(r->arena, r->facts_path);
    struct btz_str text;
    int rc;

    if (!r->facts_path.len) {
        return BTZ_OK;
    }
    rc = btz_file_read(r->arena, path, FACTS_BYTES, &text, err);
    return rc ? rc : btz_sieve_facts_parse(r->arena, text, path, &r->facts, &r->fact_count, err);
}

/* Facts about definitions that are not here are said and left out; if all are, the file is wrong.
 */
static int check_facts(struct sieve_run *r, const struct sieve_document *all, size_t count,
                       struct btz_err *err)
{
    struct btz_json *ids = btz_json_new_object(r->arena);
    size_t known = 0;

    for (size_t i = 0; i < count; i++) {
        btz_json_set(r->arena, ids, all[i].id, btz_json_null(r->arena));
    }
    for (size_t i = 0; i < r->fact_count; i++) {
        known += btz_json_get(ids, r->facts[i].id) != NULL;
    }
    if (r->fact_count && known == 0) {
        return btz_err_set(err, BTZ_EINVAL,
                           "%.*s: none of its ids is that of a definition that is measured here, "
                           "such as %.*s",
                           BTZ_FMT(r->facts_path),
                           BTZ_FMT(count ? all[0].id : BTZ_STR("(there is none)")));
    }
    if (known < r->fact_count) {
        btz_cmd_note(r->context, "%zu of the %zu facts are about definitions that are not here",
                     r->fact_count - known, r->fact_count);
    }
    return BTZ_OK;
}

int sieve_definitions(struct sieve_run *r, struct btz_err *err)
{
    struct sieve_document *all = NULL;
    struct btz_arena *arena = btz_arena_new();
    size_t count = 0;
    int rc = load_definitions(r, &all, &count, err);

    rc = rc ? rc : check_facts(r, all, count, err);
    for (size_t a = 0; rc == BTZ_OK && a < r->arm_count; a++) {
        for (size_t i = 0, n; rc == BTZ_OK && r->arms[a].first && i < count; i += n) {
            n = btz_json_count(all[i].list);
            btz_arena_reset(arena);
            rc = definition_list(r, &r->arms[a], &all[i], n, arena, err);
            if (rc == BTZ_OK && sieve_tick(r, "definitions")) {
                rc = BTZ_EXIT_INTERRUPTED;
            }
        }
    }
    if (rc == BTZ_OK) {
        rc = guard_rows(r, all, count, err);
    }
    btz_arena_free(arena);
    return rc;
}
