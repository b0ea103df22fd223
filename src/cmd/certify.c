#include <stdio.h>

#include "base/clock.h"
#include "cmd/cmd.h"
#include "study/certify.h"
#include "study/distinct.h"

struct drawing {
    struct btz_progress progress;
    size_t scenarios;
};

static void write_line(struct btz_buf *line)
{
    if (line->len) {
        (void)fwrite(line->ptr, 1, line->len, stderr);
    }
    btz_buf_fini(line);
}

/* A scenario is several parts of the work: people are told in scenarios. */
static void draw(void *data, size_t done, size_t total)
{
    struct drawing *drawing = data;
    struct btz_buf line;

    btz_buf_init(&line, 65536);
    btz_progress_update(&drawing->progress, done * drawing->scenarios / total, drawing->scenarios,
                        BTZ_STR("certifying scenarios"), btz_clock_mono_us(), &line);
    write_line(&line);
}

static struct btz_json *to_json(struct btz_arena *arena, const struct btz_checks *checks)
{
    struct btz_json *report = btz_json_new_object(arena);
    struct btz_json *list = btz_json_new_array(arena);

    for (size_t i = 0; i < checks->count; i++) {
        const struct btz_check *c = &checks->items[i];
        struct btz_json *item = btz_json_new_object(arena);

        btz_json_set_str(arena, item, "scenario", c->scenario);
        btz_json_set_str(arena, item, "rule", c->rule);
        btz_json_set_bool(arena, item, "passed", c->passed);
        btz_json_set_bool(arena, item, "skipped", c->skipped);
        btz_json_set_str(arena, item, "detail", c->detail);
        btz_json_push(arena, list, item);
    }
    btz_json_setz(arena, report, "checks", list);
    return report;
}

static int keep(struct btz_lab *lab, struct btz_store *store, const struct btz_checks *checks,
                struct btz_arena *arena, struct btz_err *err)
{
    struct btz_store_cert *certs = btz_arena_array(arena, checks->count, sizeof(*certs));
    struct btz_hash binary;
    int rc = btz_cmd_binary_hash(&binary, err);

    if (rc != BTZ_OK) {
        return rc;
    }
    for (size_t i = 0; i < checks->count; i++) {
        certs[i] = (struct btz_store_cert){.binary = binary,
                                           .pack = btz_lab_pack_hash(lab),
                                           .scenario = checks->items[i].scenario,
                                           .rule = checks->items[i].rule,
                                           .passed = checks->items[i].passed,
                                           .at_us = btz_clock_wall_us(),
                                           .detail = btz_str_sub(checks->items[i].detail, 0, 1000)};
    }
    return btz_store_cert_put(store, certs, checks->count, err);
}

int btz_cmd_certify(struct btz_context *context, struct btz_lab *lab, struct btz_store *store,
                    const struct btz_str *attacks, size_t attack_count, size_t *failed,
                    struct btz_json **report, struct btz_err *err)
{
    struct drawing drawing = {.scenarios = btz_lab_scenario_count(lab)};
    struct btz_certify_options options = {.workers =
                                              (unsigned)btz_args_int(context->args, "workers", 0),
                                          .progress = draw,
                                          .data = &drawing};
    struct btz_checks checks = {.arena = context->arena};
    struct btz_buf line;
    int rc;

    options.attacks = attacks;
    options.attack_count = attack_count;
    btz_progress_init(&drawing.progress, &context->err, context->quiet, 0, btz_clock_mono_us());
    rc = btz_certify_all(lab, &options, &checks, err);
    btz_buf_init(&line, 65536);
    btz_progress_finish(&drawing.progress, drawing.scenarios, drawing.scenarios,
                        btz_clock_mono_us(), &line);
    write_line(&line);
    if (rc != BTZ_OK) {
        return rc;
    }
    if (checks.host_trouble) {
        return btz_err_set(err, BTZ_EIO,
                           "certification could not be done: this process may not open "
                           "enough files (see `ulimit -n`)");
    }
    *failed = 0;
    for (size_t i = 0; i < checks.count; i++) {
        *failed += !checks.items[i].passed;
    }
    if (report) {
        *report = to_json(context->arena, &checks);
        btz_json_setz(context->arena, *report, "suite",
                      btz_json_dup(context->arena, btz_suite_facts(context->arena, lab)));
    }
    /* Rows of some attacks would pass for a certification of all. */
    return attack_count ? BTZ_OK : keep(lab, store, &checks, context->arena, err);
}
