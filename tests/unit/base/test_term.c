#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/term.h"

#define SECOND INT64_C(1000000)
#define ERASE "\r\033[K"

/* The buffer's text must be exactly `want`; empties it. */
static void holds(struct btz_buf *out, const char *want)
{
    assert_int_equal(btz_buf_add_byte(out, 0), BTZ_OK);
    assert_string_equal(out->ptr, want);
    btz_buf_reset(out);
}

static void probe_knows_a_terminal_and_its_width(void **state)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    struct winsize size = {.ws_row = 24, .ws_col = 123};
    struct btz_term term;
    int slave;

    (void)state;
    assert_true(master >= 0);
    assert_int_equal(grantpt(master), 0);
    assert_int_equal(unlockpt(master), 0);
    slave = open(ptsname(master), O_RDWR | O_NOCTTY);
    assert_true(slave >= 0);
    assert_int_equal(ioctl(slave, TIOCSWINSZ, &size), 0);
    setenv("TERM", "xterm", 1);
    unsetenv("NO_COLOR");
    btz_term_probe(&term, slave, false);
    assert_true(term.is_terminal && term.can_redraw && term.colour);
    assert_int_equal(term.width, 123);
    btz_term_probe(&term, slave, true);
    assert_true(term.can_redraw && !term.colour);
    setenv("NO_COLOR", "1", 1);
    btz_term_probe(&term, slave, false);
    assert_true(term.can_redraw && !term.colour);
    setenv("NO_COLOR", "", 1); /* counts as not set */
    btz_term_probe(&term, slave, false);
    assert_true(term.colour);
    setenv("TERM", "dumb", 1);
    btz_term_probe(&term, slave, false);
    assert_true(term.is_terminal && !term.can_redraw && !term.colour);
    unsetenv("TERM");
    btz_term_probe(&term, slave, false);
    assert_true(term.is_terminal && !term.can_redraw && !term.colour);
    size.ws_col = 0; /* not told */
    assert_int_equal(ioctl(slave, TIOCSWINSZ, &size), 0);
    btz_term_probe(&term, slave, false);
    assert_int_equal(term.width, 80);
    size.ws_col = 3;
    assert_int_equal(ioctl(slave, TIOCSWINSZ, &size), 0);
    btz_term_probe(&term, slave, false);
    assert_int_equal(term.width, 20);
    close(slave);
    close(master);
}

static void probe_knows_a_pipe(void **state)
{
    struct btz_term term;
    int ends[2];

    (void)state;
    assert_int_equal(pipe(ends), 0);
    setenv("TERM", "xterm", 1);
    unsetenv("NO_COLOR");
    btz_term_probe(&term, ends[1], false);
    assert_false(term.is_terminal || term.can_redraw || term.colour);
    assert_int_equal(term.width, 80);
    close(ends[0]);
    close(ends[1]);
}

static void text_width_counts_columns(void **state)
{
    (void)state;
    assert_int_equal(btz_term_text_width(BTZ_STR("")), 0);
    assert_int_equal(btz_term_text_width(BTZ_STR("plain")), 5);
    assert_int_equal(btz_term_text_width(BTZ_STR("na\xC3\xAFve")), 5);             /* U+00EF */
    assert_int_equal(btz_term_text_width(BTZ_STR("nai\xCC\x88ve")), 5);            /* i + U+0308 */
    assert_int_equal(btz_term_text_width(BTZ_STR("\xE6\xBC\xA2\xE5\xAD\x97")), 4); /* two kanji */
    assert_int_equal(btz_term_text_width(BTZ_STR("\xF0\x9F\x98\x80")), 2);         /* U+1F600 */
    assert_int_equal(btz_term_text_width(BTZ_STR("a\xE2\x80\x8B"
                                                 "b")),
                     2); /* U+200B */
    assert_int_equal(btz_term_text_width(BTZ_STR("a\xFF"
                                                 "b")),
                     3);
}

static void outside_text_cannot_steer_the_terminal(void **state)
{
    struct btz_buf out;

    (void)state;
    btz_buf_init(&out, 1000);
    /* ESC, newline, DEL, C1 CSI (U+009B), right-to-left override, line separator; a tab. */
    assert_int_equal(
        btz_term_add_text(&out, BTZ_STR("a\033[2J\n\x7F\xC2\x9B\xE2\x80\xAE\xE2\x80\xA8\tz"), 100),
        12);
    holds(&out, "a\xEF\xBF\xBD[2J\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD z");
    /* Not UTF-8: a stray tail, an overlong slash, a surrogate, past U+10FFFF, a cut-off end. */
    btz_term_add_text(&out, BTZ_STR("\x80|\xC0\xAF|\xED\xA0\x80|\xF4\x90\x80\x80|\xE6\xBC"), 100);
    holds(&out, "\xEF\xBF\xBD|\xEF\xBF\xBD\xEF\xBF\xBD|\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD|"
                "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD|\xEF\xBF\xBD\xEF\xBF\xBD");
    btz_term_add_text(&out, BTZ_STR("\xE0\x80\xAF|\xF0\x80\x80\xAF"), 100); /* overlong, too */
    holds(&out, "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD|"
                "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
    /* Good text of each length comes through as it is. */
    btz_term_add_text(&out, BTZ_STR("a\xC3\xAF\xE6\xBC\xA2\xF0\x9F\x98\x80"), 100);
    holds(&out, "a\xC3\xAF\xE6\xBC\xA2\xF0\x9F\x98\x80");
    btz_buf_fini(&out);
}

static void json_from_outside_cannot_either(void **state)
{
    struct btz_buf out;

    (void)state;
    btz_buf_init(&out, 1000);
    btz_term_add_json(&out, BTZ_STR("{\n  \"a\": \"\xC2\x9B[2J \xE2\x80\xAE\xC3\xA9\x7F\"\n}"));
    holds(&out, "{\n  \"a\": \"\\u009b[2J \\u202e\xC3\xA9\\u007f\"\n}");
    btz_buf_fini(&out);
}

static void text_is_cut_to_the_columns(void **state)
{
    struct btz_buf out;

    (void)state;
    btz_buf_init(&out, 1000);
    assert_int_equal(btz_term_add_text(&out, BTZ_STR("abcdef"), 6), 6);
    holds(&out, "abcdef");
    assert_int_equal(btz_term_add_text(&out, BTZ_STR("abcdef"), 5), 5);
    holds(&out, "abcd.");
    /* A wide character is never halved. */
    assert_int_equal(btz_term_add_text(&out, BTZ_STR("\xE6\xBC\xA2\xE5\xAD\x97"), 3), 3);
    holds(&out, "\xE6\xBC\xA2.");
    assert_int_equal(btz_term_add_text(&out, BTZ_STR("\xE6\xBC\xA2\xE5\xAD\x97"), 2), 1);
    holds(&out, ".");
    assert_int_equal(btz_term_add_text(&out, BTZ_STR("ab"), 0), 0);
    holds(&out, "");
    btz_buf_fini(&out);
}

static const struct btz_column columns[] = {
    {"attack", BTZ_ALIGN_LEFT}, {"ASR", BTZ_ALIGN_RIGHT}, {"note", BTZ_ALIGN_LEFT}};

static struct btz_table *sample(void)
{
    struct btz_table *table = btz_table_new(columns, 3);

    btz_table_cell(table, BTZ_STR("rug-pull"), BTZ_COLOUR_NONE);
    btz_table_printf(table, BTZ_COLOUR_RED, "%.1f%%", 58.25);
    btz_table_cell(table, BTZ_STR(""), BTZ_COLOUR_NONE);
    btz_table_cell(table, BTZ_STR("\xE6\xBC\xA2"), BTZ_COLOUR_NONE);
    btz_table_cell(table, BTZ_STR("0%"), BTZ_COLOUR_GREEN);
    btz_table_cell(table, BTZ_STR("a\nb"), BTZ_COLOUR_NONE);
    btz_table_rule(table);
    btz_table_cell(table, BTZ_STR("total"), BTZ_COLOUR_BOLD);
    return table;
}

static void table_aligns_its_columns(void **state)
{
    struct btz_table *table = sample();
    struct btz_buf out;

    (void)state;
    btz_buf_init(&out, 10000);
    assert_int_equal(btz_table_print(table, false, &out), BTZ_OK);
    holds(&out, "attack      ASR  note\n"
                "--------  -----  ----\n"
                "rug-pull  58.2%\n"
                "\xE6\xBC\xA2           0%  a\xEF\xBF\xBD"
                "b\n"
                "--------  -----  ----\n"
                "total\n");
    btz_table_free(table);
    btz_buf_fini(&out);
}

static void table_has_colours_only_if_allowed(void **state)
{
    struct btz_table *table = sample();
    struct btz_buf out;

    (void)state;
    btz_buf_init(&out, 10000);
    assert_int_equal(btz_table_print(table, true, &out), BTZ_OK);
    holds(&out, "\033[1mattack\033[0m      \033[1mASR\033[0m  \033[1mnote\033[0m\n"
                "--------  -----  ----\n"
                "rug-pull  \033[31m58.2%\033[0m\n"
                "\xE6\xBC\xA2           \033[32m0%\033[0m  a\xEF\xBF\xBD"
                "b\n"
                "--------  -----  ----\n"
                "\033[1mtotal\033[0m\n");
    btz_table_free(table);
    btz_buf_fini(&out);
}

static void table_keeps_its_limits(void **state)
{
    static const struct btz_column one[] = {{"x", BTZ_ALIGN_LEFT}};
    static char lengthy[5000];
    struct btz_table *table = btz_table_new(one, 1);
    struct btz_buf out;

    (void)state;
    btz_buf_init(&out, 10000);
    assert_int_equal(btz_table_print(table, false, &out), BTZ_OK); /* no rows */
    holds(&out, "x\n-\n");
    memset(lengthy, 'y', sizeof(lengthy) - 1);
    btz_table_printf(table, BTZ_COLOUR_NONE, "%s", lengthy);
    btz_table_cell(table, btz_str_of(lengthy), BTZ_COLOUR_NONE);
    assert_int_equal(btz_table_print(table, false, &out), BTZ_OK);
    /* Title, underline and two rows of 200 columns. */
    assert_int_equal(out.len, 2 + 3 * (BTZ_TABLE_CELL_WIDTH_MAX + 1));
    assert_memory_equal(out.ptr + out.len - 3, "y.\n", 3);
    btz_buf_fini(&out);
    btz_buf_init(&out, 100);
    assert_int_equal(btz_table_print(table, false, &out), BTZ_ELIMIT);
    btz_buf_fini(&out);
    for (int i = 2; i < BTZ_TABLE_CELLS_MAX; i++) {
        btz_table_cell(table, BTZ_STR(""), BTZ_COLOUR_NONE);
    }
    btz_buf_init(&out, 10000000);
    assert_int_equal(btz_table_print(table, false, &out), BTZ_OK);
    btz_table_cell(table, BTZ_STR(""), BTZ_COLOUR_NONE);
    assert_int_equal(btz_table_print(table, false, &out), BTZ_ELIMIT);
    btz_buf_fini(&out);
    btz_table_free(table);
}

static const struct btz_term screen = {
    .is_terminal = true, .can_redraw = true, .colour = true, .width = 80};
static const struct btz_term piped = {.width = 80};

static void progress_draws_at_most_ten_times_a_second(void **state)
{
    struct btz_progress progress;
    struct btz_buf out;
    int draws = 0;

    (void)state;
    btz_buf_init(&out, 100000);
    btz_progress_init(&progress, &screen, false, 0, 5 * SECOND);
    for (int i = 0; i < 3000; i++) { /* three seconds, one call a millisecond */
        btz_progress_update(&progress, (uint64_t)i, 3000, BTZ_STR("x"), 5 * SECOND + i * 1000,
                            &out);
        if (out.len) {
            draws++;
            assert_memory_equal(out.ptr, ERASE, 4);
            btz_buf_reset(&out);
        }
        if (i % 7 == 0) { /* messages in between do not raise the rate */
            btz_progress_clear(&progress, &out);
            btz_buf_reset(&out);
        }
    }
    assert_int_equal(draws, 30);
    btz_buf_fini(&out);
}

static void progress_tells_rate_and_time_left(void **state)
{
    struct btz_progress progress;
    struct btz_buf out;

    (void)state;
    btz_buf_init(&out, 10000);
    btz_progress_init(&progress, &screen, false, 100, SECOND); /* resumed: 100 were there */
    btz_progress_update(&progress, 100, 500, BTZ_STR("rug-pull/v3"), SECOND, &out);
    holds(&out, ERASE "100/500  20%  rug-pull/v3");
    /* 40 new ones in ten seconds: 4 a second; 360 are left. */
    btz_progress_update(&progress, 140, 500, BTZ_STR("rug-pull/v4"), 11 * SECOND, &out);
    holds(&out, ERASE "140/500  28%  4.0/s  ETA 1:30  rug-pull/v4");
    /* 41 in 1000 s: 2.5 a minute. */
    btz_progress_update(&progress, 141, 500, BTZ_STR_NONE, 1001 * SECOND, &out);
    holds(&out, ERASE "141/500  28%  2.5/min  ETA 2:25:56");
    btz_progress_update(&progress, 141, 500, BTZ_STR_NONE, 41001 * SECOND, &out);
    holds(&out, ERASE "141/500  28%  3.6/h  ETA 99:43:20");
    btz_progress_update(&progress, 141, 500, BTZ_STR_NONE, 82001 * SECOND, &out);
    holds(&out, ERASE "141/500  28%  1.8/h  ETA over 100 h");
    btz_progress_update(&progress, 499, 500, BTZ_STR_NONE, 82002 * SECOND, &out);
    btz_buf_reset(&out);
    btz_progress_update(&progress, 500, 500, BTZ_STR("done\033[2J"), 82003 * SECOND, &out);
    holds(&out, ERASE "500/500  100%  17.6/h  done\xEF\xBF\xBD[2J");
    btz_progress_clear(&progress, &out);
    holds(&out, ERASE);
    btz_progress_clear(&progress, &out);
    holds(&out, "");
    btz_progress_update(&progress, 7, 0, BTZ_STR("total unknown"), 82004 * SECOND, &out);
    holds(&out, ERASE "7  total unknown");
    btz_progress_finish(&progress, 500, 500, 82005 * SECOND, &out);
    holds(&out, ERASE);
    btz_progress_finish(&progress, 500, 500, 82006 * SECOND, &out);
    holds(&out, "");
    btz_buf_fini(&out);
}

static void progress_stays_on_its_line_and_stands_a_clock_that_jumps_back(void **state)
{
    struct btz_term narrow = screen;
    struct btz_progress progress;
    struct btz_buf out;

    (void)state;
    narrow.width = 20;
    btz_buf_init(&out, 10000);
    btz_progress_init(&progress, &narrow, false, 0, 10 * SECOND);
    btz_progress_update(&progress, 1, 3, BTZ_STR("a-long-scenario-name"), 20 * SECOND, &out);
    holds(&out, ERASE "1/3  33%  6.0/min ."); /* 19 columns */
    btz_progress_update(&progress, 2, 3, BTZ_STR_NONE, 5 * SECOND, &out);
    holds(&out, "");
    btz_progress_update(&progress, 2, 3, BTZ_STR_NONE, 20 * SECOND + 100000, &out);
    holds(&out, ERASE "2/3  66%  11.9/min.");
    btz_progress_init(&progress, &piped, false, 0, 10 * SECOND);
    btz_progress_update(&progress, 20, 40, BTZ_STR_NONE, 20 * SECOND, &out);
    btz_buf_reset(&out);
    btz_progress_finish(&progress, 40, 40, 5 * SECOND, &out); /* counts as 20 s */
    holds(&out, "40/40  100%  4.0/s\n");
    btz_buf_fini(&out);
}

static void progress_off_a_terminal_is_a_rare_plain_line(void **state)
{
    struct btz_progress progress;
    struct btz_buf out;

    (void)state;
    btz_buf_init(&out, 10000);
    btz_progress_init(&progress, &piped, false, 0, 0);
    for (int i = 0; i <= 25; i++) { /* 25 seconds */
        btz_progress_update(&progress, (uint64_t)i, 100, BTZ_STR("it"), i * SECOND, &out);
    }
    holds(&out, "10/100  10%  1.0/s  ETA 1:30  it\n20/100  20%  1.0/s  ETA 1:20  it\n");
    btz_progress_clear(&progress, &out);
    holds(&out, "");
    btz_progress_finish(&progress, 26, 26, 26 * SECOND, &out);
    holds(&out, "26/26  100%  1.0/s\n");
    /* What is over within ten seconds says nothing. */
    btz_progress_init(&progress, &piped, false, 0, 0);
    btz_progress_update(&progress, 5, 10, BTZ_STR("it"), 9 * SECOND, &out);
    btz_progress_finish(&progress, 10, 10, 9 * SECOND, &out);
    holds(&out, "");
    btz_buf_fini(&out);
}

static void progress_is_silent_with_quiet(void **state)
{
    struct btz_progress progress;
    struct btz_buf out;

    (void)state;
    btz_buf_init(&out, 10000);
    for (int i = 0; i < 2; i++) {
        btz_progress_init(&progress, i ? &piped : &screen, true, 0, 0);
        btz_progress_update(&progress, 1, 10, BTZ_STR("it"), 20 * SECOND, &out);
        btz_progress_update(&progress, 2, 10, BTZ_STR("it"), 40 * SECOND, &out);
        btz_progress_clear(&progress, &out);
        btz_progress_finish(&progress, 10, 10, 60 * SECOND, &out);
        assert_int_equal(out.len, 0);
    }
    btz_buf_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(probe_knows_a_terminal_and_its_width),
        cmocka_unit_test(probe_knows_a_pipe),
        cmocka_unit_test(text_width_counts_columns),
        cmocka_unit_test(outside_text_cannot_steer_the_terminal),
        cmocka_unit_test(json_from_outside_cannot_either),
        cmocka_unit_test(text_is_cut_to_the_columns),
        cmocka_unit_test(table_aligns_its_columns),
        cmocka_unit_test(table_has_colours_only_if_allowed),
        cmocka_unit_test(table_keeps_its_limits),
        cmocka_unit_test(progress_draws_at_most_ten_times_a_second),
        cmocka_unit_test(progress_tells_rate_and_time_left),
        cmocka_unit_test(progress_stays_on_its_line_and_stands_a_clock_that_jumps_back),
        cmocka_unit_test(progress_off_a_terminal_is_a_rare_plain_line),
        cmocka_unit_test(progress_is_silent_with_quiet),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
