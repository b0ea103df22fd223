/* Splits: exact counts, whole clusters, nothing that depends on an order, and frozen files. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "sieve/split.h"

enum { UNITS = 1312 };

static struct btz_arena *arena;

static int setup(void **state)
{
    (void)state;
    arena = btz_arena_new();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    btz_arena_free(arena);
    return 0;
}

/* 1,312 units in 45 clusters of different size and three strata each, as MCPTox has. */
static struct btz_sieve_unit *make_units(void)
{
    struct btz_sieve_unit *units = btz_arena_array(arena, UNITS, sizeof(*units));

    for (size_t i = 0; i < UNITS; i++) {
        size_t cluster = (i * i) % 45;

        units[i] = (struct btz_sieve_unit){
            .key = btz_arena_printf(arena, "unit-%zu", i),
            .cluster = btz_arena_printf(arena, "server-%zu", cluster),
            .stratum = btz_arena_printf(arena, "P%zu server-%zu", i % 3 + 1, cluster),
            .lines = 2};
    }
    return units;
}

static size_t count_test(const struct btz_sieve_unit *units, struct btz_str stratum, size_t *all)
{
    size_t held = 0;

    *all = 0;
    for (size_t i = 0; i < UNITS; i++) {
        if (!stratum.len || btz_str_eq(units[i].stratum, stratum)) {
            held += units[i].test;
            (*all)++;
        }
    }
    return held;
}

static void strata_have_exact_counts(void **state)
{
    struct btz_sieve_unit *units = make_units();
    struct btz_err err;
    size_t all;

    (void)state;
    assert_int_equal(btz_sieve_split(units, UNITS, BTZ_SIEVE_PAPER, 0.28, 1, &err), BTZ_OK);
    assert_int_equal(count_test(units, BTZ_STR_NONE, &all), 367);
    for (size_t i = 0; i < UNITS; i++) {
        size_t held = count_test(units, units[i].stratum, &all);
        double seats = (double)all * 367 / UNITS;

        assert_true((double)held > seats - 1 && (double)held < seats + 1);
    }
}

static int backwards(const void *a, const void *b)
{
    return btz_str_cmp(((const struct btz_sieve_unit *)b)->key,
                       ((const struct btz_sieve_unit *)a)->key);
}

static void the_draw_depends_on_seed_and_names_alone(void **state)
{
    struct btz_sieve_unit *a = make_units();
    struct btz_sieve_unit *b = make_units();
    struct btz_err err;
    size_t differ = 0;

    (void)state;
    for (int method = 0; method < BTZ_SIEVE_METHODS; method++) {
        qsort(b, UNITS, sizeof(*b), backwards);
        assert_int_equal(btz_sieve_split(a, UNITS, (enum btz_sieve_method)method, 0.28, 7, &err),
                         BTZ_OK);
        assert_int_equal(btz_sieve_split(b, UNITS, (enum btz_sieve_method)method, 0.28, 7, &err),
                         BTZ_OK);
        for (size_t i = 0; i < UNITS; i++) {
            assert_true(btz_str_eq(a[i].key, b[i].key));
            assert_int_equal(a[i].test, b[i].test);
        }
        assert_int_equal(btz_sieve_split(b, UNITS, (enum btz_sieve_method)method, 0.28, 8, &err),
                         BTZ_OK);
        for (size_t i = 0; i < UNITS; i++) {
            differ += a[i].test != b[i].test;
        }
    }
    assert_true(differ > 100);
}

static void clusters_stay_whole(void **state)
{
    struct btz_sieve_unit *units = make_units();
    struct btz_err err;
    size_t all;
    size_t held;

    (void)state;
    for (uint64_t seed = 1; seed < 20; seed++) {
        assert_int_equal(btz_sieve_split(units, UNITS, BTZ_SIEVE_GROUPED, 0.28, seed, &err),
                         BTZ_OK);
        held = count_test(units, BTZ_STR_NONE, &all);
        assert_true(held > 0.24 * UNITS && held < 0.32 * UNITS);
        for (size_t i = 0; i < UNITS; i++) {
            for (size_t k = 0; k < i; k += 13) {
                assert_true(!btz_str_eq(units[i].cluster, units[k].cluster) ||
                            units[i].test == units[k].test);
            }
        }
    }
}

static void what_cannot_be_divided_is_refused(void **state)
{
    struct btz_sieve_unit *units = make_units();
    struct btz_err err = {0};

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        units[i].cluster = BTZ_STR("one");
    }
    assert_int_equal(btz_sieve_split(units, 4, BTZ_SIEVE_GROUPED, 0.28, 1, &err), BTZ_EINVAL);
    assert_non_null(strstr(err.msg, "1 cluster cannot be divided"));
    assert_int_equal(btz_sieve_split(units, 1, BTZ_SIEVE_PAPER, 0.28, 1, &err), BTZ_EINVAL);
}

static void write_definitions(const char *path)
{
    FILE *file = fopen(path, "wb");
    struct btz_buf out;

    assert_non_null(file);
    btz_buf_init(&out, 1 << 20);
    for (int i = 0; i < 40; i++) {
        struct btz_json *tool = btz_json_new_object(arena);
        struct btz_sieve_definition d = {.source = btz_arena_printf(arena, "npm:s%d", i % 8),
                                         .collected = BTZ_STR("2026-11-30"),
                                         .tool = tool};

        btz_json_set_str(arena, tool, "name", btz_arena_printf(arena, "tool_%d", i));
        assert_int_equal(btz_sieve_definition_seal(arena, &d, NULL), BTZ_OK);
        btz_sieve_definition_write(&out, &d);
    }
    assert_int_equal(fwrite(out.ptr, 1, out.len, file), out.len);
    assert_int_equal(fclose(file), 0);
    btz_buf_fini(&out);
}

static int count_lines(const char *path, struct btz_err *err)
{
    struct btz_sieve_reader *reader = NULL;
    struct btz_sieve_definition d;
    int rc = btz_sieve_reader_open(path, &reader, err);
    int count = 0;

    if (rc != BTZ_OK) {
        return rc;
    }
    while ((rc = btz_sieve_definition_next(reader, arena, &d, err)) == BTZ_OK) {
        count++;
    }
    btz_sieve_reader_free(reader);
    return rc == BTZ_EAGAIN ? count : rc;
}

static void a_frozen_set_refuses_to_be_edited(void **state)
{
    char folder[] = "/tmp/btz-split-XXXXXX";
    struct btz_sieve_freeze_options options = {
        .method = BTZ_SIEVE_PAPER, .share = 0.25, .seed = 3, .created = BTZ_STR("2026-11-30")};
    struct btz_sieve_manifest manifest;
    struct btz_sieve_manifest again;
    struct btz_err err = {0};
    struct stat about;
    const char *test;
    FILE *file;

    (void)state;
    assert_non_null(mkdtemp(folder));
    options.input = btz_arena_printf(arena, "%s/all.jsonl", folder).ptr;
    options.folder = btz_arena_printf(arena, "%s/frozen", folder).ptr;
    test = btz_arena_printf(arena, "%s/test.jsonl", options.folder).ptr;
    write_definitions(options.input);
    assert_int_equal(btz_sieve_freeze(arena, &options, &manifest, &err), BTZ_OK);
    assert_int_equal(manifest.test.count, 10);
    assert_int_equal(manifest.dev.count, 30);
    assert_int_equal(manifest.stratum_count, 8);
    assert_int_equal(stat(test, &about), 0);
    assert_int_equal(about.st_mode & 0222, 0);
    assert_int_equal(count_lines(test, &err), 10);
    assert_int_equal(
        btz_sieve_manifest_load(
            arena, btz_arena_printf(arena, "%s/manifest.json", options.folder).ptr, &again, &err),
        BTZ_OK);
    assert_true(btz_str_eq(again.test.sha256, manifest.test.sha256));

    assert_int_equal(btz_sieve_freeze(arena, &options, &manifest, &err), BTZ_EEXISTS);
    assert_int_equal(count_lines(test, &err), 10); /* the failed call has taken nothing away */

    assert_int_equal(btz_sieve_frozen_check(test, &err), BTZ_OK);
    assert_int_equal(btz_sieve_frozen_keep(test, &err), BTZ_EUSAGE);
    assert_non_null(strstr(err.msg, "belongs to a frozen set"));
    assert_int_equal(btz_sieve_frozen_keep(options.input, &err), BTZ_OK);
    assert_int_equal(chmod(test, 0644), 0);
    file = fopen(test, "ab");
    assert_non_null(file);
    assert_true(fputs("\n", file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(count_lines(test, &err), BTZ_ECORRUPT);
    assert_non_null(strstr(err.msg, "not the one that was frozen"));
    assert_int_equal(btz_sieve_frozen_check(test, &err), BTZ_ECORRUPT);
    assert_int_equal(btz_sieve_frozen_check(options.input, &err), BTZ_OK);

    options.input = test; /* nor can it be frozen anew */
    options.folder = btz_arena_printf(arena, "%s/other", folder).ptr;
    assert_int_equal(btz_sieve_freeze(arena, &options, &manifest, &err), BTZ_ECORRUPT);
    assert_int_not_equal(access(btz_arena_printf(arena, "%s/dev.jsonl", options.folder).ptr, F_OK),
                         0);

    (void)unlink(test);
    (void)unlink(btz_arena_printf(arena, "%s/frozen/dev.jsonl", folder).ptr);
    (void)unlink(btz_arena_printf(arena, "%s/frozen/manifest.json", folder).ptr);
    (void)rmdir(btz_arena_printf(arena, "%s/frozen", folder).ptr);
    (void)rmdir(options.folder);
    (void)unlink(btz_arena_printf(arena, "%s/all.jsonl", folder).ptr);
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(strata_have_exact_counts, setup, teardown),
        cmocka_unit_test_setup_teardown(the_draw_depends_on_seed_and_names_alone, setup, teardown),
        cmocka_unit_test_setup_teardown(clusters_stay_whole, setup, teardown),
        cmocka_unit_test_setup_teardown(what_cannot_be_divided_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(a_frozen_set_refuses_to_be_edited, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
