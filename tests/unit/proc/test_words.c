#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "proc/words.h"

static void check(const char *line, size_t count, const char *const *wanted)
{
    struct btz_arena *arena = btz_arena_new();
    struct btz_proc_word *words = NULL;
    struct btz_err err;
    size_t n = 0;

    if (btz_proc_words(arena, btz_str_of(line), &words, &n, &err) != BTZ_OK) {
        fail_msg("%s: %s", line, err.msg);
    }
    assert_int_equal(n, count);
    for (size_t i = 0; i < n; i++) {
        if (!btz_str_is(words[i].text, wanted[i])) {
            fail_msg("word %zu of %s is %.*s", i, line, BTZ_FMT(words[i].text));
        }
    }
    btz_arena_free(arena);
}

static void splits_as_a_shell_would(void **state)
{
    (void)state;
    check("  a\tb\n c ", 3, (const char *const[]){"a", "b", "c"});
    check("a 'b c' \"d e\" f\\ g", 4, (const char *const[]){"a", "b c", "d e", "f g"});
    check("a'b'\"c\"d ''", 2, (const char *const[]){"abcd", ""});
    check("'a\\b' \"a\\\"b\\\\c\\d\"", 2, (const char *const[]){"a\\b", "a\"b\\c\\d"});
    check("a;b $HOME *|`x`", 3, (const char *const[]){"a;b", "$HOME", "*|`x`"});
}

static void tells_what_is_quoted(void **state)
{
    struct btz_arena *arena = btz_arena_new();
    struct btz_proc_word *words = NULL;
    struct btz_err err;
    size_t n = 0;

    (void)state;
    assert_int_equal(btz_proc_words(arena, BTZ_STR("a 'a' \\a b\"\""), &words, &n, &err), BTZ_OK);
    assert_int_equal(n, 4);
    assert_false(words[0].quoted);
    assert_true(words[1].quoted && words[2].quoted && words[3].quoted);
    btz_arena_free(arena);
}

static void refuses_what_is_no_line(void **state)
{
    static const struct btz_str bad[] = {BTZ_STR(""),    BTZ_STR(" \t"), BTZ_STR("a 'b"),
                                         BTZ_STR("\"a"), BTZ_STR("a\\"), BTZ_STR("a\0b")};
    struct btz_arena *arena = btz_arena_new();
    struct btz_proc_word *words = NULL;
    struct btz_err err;
    size_t n = 0;
    char many[2 * (BTZ_PROC_MAX_WORDS + 1)];

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(btz_proc_words(arena, bad[i], &words, &n, &err), BTZ_EINVAL);
        assert_true(err.msg[0]);
    }
    for (size_t i = 0; i < sizeof(many); i += 2) {
        many[i] = 'w';
        many[i + 1] = ' ';
    }
    assert_int_equal(btz_proc_words(arena, (struct btz_str){many, sizeof(many)}, &words, &n, &err),
                     BTZ_ELIMIT);
    assert_int_equal(
        btz_proc_words(arena, (struct btz_str){many, sizeof(many) - 2}, &words, &n, &err), BTZ_OK);
    assert_int_equal(n, BTZ_PROC_MAX_WORDS);
    btz_arena_free(arena);
}

static void quotes_so_that_it_reads_back(void **state)
{
    static const char *const texts[] = {"plain", "",       "two words", "it's", "\"",
                                        "\\",    "$x `y`", "a=b/c:d",   "'",    "''"};
    struct btz_arena *arena = btz_arena_new();

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct btz_proc_word *words = NULL;
        struct btz_buf line;
        size_t n = 0;

        btz_buf_init(&line, 1024);
        btz_proc_quote(&line, btz_str_of(texts[i]));
        assert_int_equal(btz_proc_words(arena, btz_buf_view(&line), &words, &n, NULL), BTZ_OK);
        assert_int_equal(n, 1);
        assert_true(btz_str_is(words[0].text, texts[i]));
        btz_buf_fini(&line);
    }
    btz_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(splits_as_a_shell_would),
        cmocka_unit_test(tells_what_is_quoted),
        cmocka_unit_test(refuses_what_is_no_line),
        cmocka_unit_test(quotes_so_that_it_reads_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
