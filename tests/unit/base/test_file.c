/* Files that people name: whole, within a limit, and never one that hangs. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/file.h"

struct place {
    char dir[64];
    char path[96];
    struct btz_arena *arena;
};

static int make(void **state)
{
    struct place *p = calloc(1, sizeof(*p));

    assert_non_null(p);
    (void)snprintf(p->dir, sizeof(p->dir), "%s", "/tmp/btz-file-XXXXXX");
    assert_non_null(mkdtemp(p->dir));
    (void)snprintf(p->path, sizeof(p->path), "%s/it", p->dir);
    p->arena = btz_arena_new();
    *state = p;
    return 0;
}

static int clear(void **state)
{
    struct place *p = *state;

    (void)unlink(p->path);
    (void)rmdir(p->dir);
    btz_arena_free(p->arena);
    free(p);
    return 0;
}

static void put(const struct place *p, size_t len)
{
    FILE *file = fopen(p->path, "wbe");

    assert_non_null(file);
    for (size_t i = 0; i < len; i++) {
        assert_int_not_equal(fputc((int)(i % 251), file), EOF);
    }
    assert_int_equal(fclose(file), 0);
}

static void whole_files(void **state)
{
    static const size_t sizes[] = {0, 1, 65535, 65536, 65537, 300000};
    struct place *p = *state;
    struct btz_str text;

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        put(p, sizes[i]);
        assert_int_equal(btz_file_read(p->arena, p->path, 300000, &text, NULL), BTZ_OK);
        assert_int_equal(text.len, sizes[i]);
        for (size_t k = 0; k < text.len; k++) {
            assert_int_equal((unsigned char)text.ptr[k], k % 251);
        }
    }
}

static void over_the_limit(void **state)
{
    struct place *p = *state;
    struct btz_str text = BTZ_STR("untouched");
    struct btz_err err;

    put(p, 1001);
    assert_int_equal(btz_file_read(p->arena, p->path, 1000, &text, &err), BTZ_ELIMIT);
    assert_non_null(strstr(err.msg, "1000 bytes"));
    assert_true(btz_str_eq(text, BTZ_STR("untouched")));
    assert_int_equal(btz_file_read(p->arena, p->path, 1001, &text, &err), BTZ_OK);
}

static void what_is_no_file(void **state)
{
    struct place *p = *state;
    struct btz_str text;
    struct btz_err err;

    assert_int_equal(btz_file_read(p->arena, p->path, 10, &text, &err), BTZ_ENOTFOUND);
    assert_int_equal(btz_file_read(p->arena, p->dir, 10, &text, &err), BTZ_EINVAL);
    assert_non_null(strstr(err.msg, "folder"));
    assert_int_equal(mkfifo(p->path, 0600), 0);
    assert_int_equal(btz_file_read(p->arena, p->path, 10, &text, &err), BTZ_EINVAL);
    assert_non_null(strstr(err.msg, "pipe"));
}

static size_t names_in(const char *dir)
{
    DIR *handle = opendir(dir);
    size_t count = 0;

    assert_non_null(handle);
    while (readdir(handle)) {
        count++;
    }
    (void)closedir(handle);
    return count;
}

static void new_files(void **state)
{
    struct place *p = *state;
    struct btz_str text;
    FILE *file = NULL;

    assert_int_equal(btz_file_new(p->path, &file, NULL), BTZ_OK);
    assert_true(fputs("half", file) >= 0);
    assert_int_equal(btz_file_publish(file, p->path, false, NULL), BTZ_OK);
    assert_int_equal(names_in(p->dir), 2); /* . and .. */

    assert_int_equal(btz_file_new(p->path, &file, NULL), BTZ_OK);
    assert_true(fputs("whole", file) >= 0);
    assert_int_equal(btz_file_publish(file, p->path, true, NULL), BTZ_OK);
    assert_int_equal(names_in(p->dir), 3);
    assert_int_equal(btz_file_read(p->arena, p->path, 10, &text, NULL), BTZ_OK);
    assert_true(btz_str_is(text, "whole"));
}

static void names_that_are_taken(void **state)
{
    struct place *p = *state;
    struct btz_str text;
    struct btz_err err;
    FILE *file = NULL;

    put(p, 3);
    assert_int_equal(btz_file_new(p->path, &file, &err), BTZ_EEXISTS);
    assert_int_equal(unlink(p->path), 0);
    assert_int_equal(btz_file_new(p->path, &file, &err), BTZ_OK);
    put(p, 3); /* in the meantime; what stands there stays */
    assert_int_equal(btz_file_publish(file, p->path, true, &err), BTZ_EEXISTS);
    assert_int_equal(btz_file_read(p->arena, p->path, 10, &text, NULL), BTZ_OK);
    assert_int_equal(text.len, 3);
    assert_int_equal(btz_file_new("/no-such-folder/it", &file, &err), BTZ_EIO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(whole_files, make, clear),
        cmocka_unit_test_setup_teardown(over_the_limit, make, clear),
        cmocka_unit_test_setup_teardown(what_is_no_file, make, clear),
        cmocka_unit_test_setup_teardown(new_files, make, clear),
        cmocka_unit_test_setup_teardown(names_that_are_taken, make, clear),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
