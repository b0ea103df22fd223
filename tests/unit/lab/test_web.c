/* The seeded web of web-fetch: linked as one, found by words, cheap to hold. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "lab/lab_int.h"
#include "text/fold.h"

enum {
    PAGES_MIN = 200,
    PAGES_MAX = 1000,
    BASE_BYTES_MAX = 1000000,
    WORDS_MIN = 60,
    WORDS_MAX = 300,
    WORDS_SPREAD = 3,
    SLACK = 100 /* bytes: longer words, fewer of them */
};

static const double SHARE_MAX = 0.5;

struct state {
    struct btz_arena *arena;
    struct btz_lab *lab;
    struct btz_stage *stage;
    struct btz_str pages[PAGES_MAX]; /* in the order in which links lead to them */
    size_t count;
};

static const struct btz_json *call(struct state *s, const char *tool, const char *key,
                                   struct btz_str value)
{
    struct btz_json *args = btz_json_new_object(s->arena);
    const struct btz_json *result = NULL;
    struct btz_err err;

    btz_json_set_str(s->arena, args, key, value);
    if (btz_stage_call(s->stage, 0, btz_str_of(tool), args, 1, &result, &err) != BTZ_OK) {
        fail_msg("%s %.*s: %s:%u: %s", tool, BTZ_FMT(value), err.file, err.line, err.msg);
    }
    if (btz_json_getz(result, "isError")) {
        fail_msg("%s %.*s: %s", tool, BTZ_FMT(value), btz_json_text(s->arena, result).ptr);
    }
    return btz_json_getz(result, "structuredContent");
}

static bool seen(const struct state *s, struct btz_str url)
{
    for (size_t i = 0; i < s->count; i++) {
        if (btz_str_eq(s->pages[i], url)) {
            return true;
        }
    }
    return false;
}

/* Follows all links from `first`. */
static void walk(struct state *s, struct btz_str first)
{
    s->count = 0;
    s->pages[s->count++] = first;
    for (size_t i = 0; i < s->count; i++) {
        const struct btz_json *links =
            btz_json_getz(call(s, "extract_links", "url", s->pages[i]), "links");

        assert_true(btz_json_count(links) > 0);
        for (size_t n = 0; n < btz_json_count(links); n++) {
            struct btz_str url = btz_json_str(btz_json_getz(btz_json_at(links, n), "url"));

            if (!seen(s, url)) {
                assert_true(s->count < PAGES_MAX);
                s->pages[s->count++] = url;
            }
        }
    }
}

static int setup(void **out)
{
    struct state *s = calloc(1, sizeof(*s));
    struct btz_lab_options options = {0};
    struct btz_str server = BTZ_STR("web-fetch");
    struct btz_err err;

    s->arena = btz_arena_new();
    if (btz_lab_new(&options, &s->lab, &err) != BTZ_OK ||
        btz_stage_new_plain(s->lab, &server, 1, 7, &s->stage, &err) != BTZ_OK) {
        print_error("%s:%u: %s\n", err.file, err.line, err.msg);
        return -1;
    }
    walk(s, BTZ_STR("https://start.example/"));
    *out = s;
    return 0;
}

static int teardown(void **out)
{
    struct state *s = *out;

    if (s) {
        btz_stage_free(s->stage);
        btz_lab_free(s->lab);
        btz_arena_free(s->arena);
        free(s);
    }
    return 0;
}

/* A part of the server's world, at up to two keys. */
static const struct btz_json *world(struct state *s, const char *a, struct btz_str b)
{
    struct world_key keys[] = {
        {.name = BTZ_STR("web-fetch")}, {.name = btz_str_of(a)}, {.name = b}};

    return btz_world_get(&s->stage->world, keys, b.ptr ? 3 : 2);
}

static void links_lead_from_the_start_to_all_pages(void **state)
{
    struct state *s = *state;
    const struct btz_json *shared = world(s, "web", BTZ_STR_NONE);
    const struct btz_json *seeded = world(s, "pages", BTZ_STR_NONE);

    assert_true(s->count >= PAGES_MIN);
    assert_int_equal(s->count, btz_json_count(shared) + btz_json_count(seeded));
    assert_int_equal(btz_json_count(seeded), 3);
    for (size_t i = 0; i < btz_json_count(shared); i++) {
        assert_true(seen(s, btz_json_key_at(shared, i)));
    }
    print_message("%zu pages\n", s->count);
}

static void links_lead_back_from_every_page(void **state)
{
    struct state *s = *state;
    struct btz_str first = s->pages[s->count - 1];
    size_t all = s->count;

    walk(s, first);
    assert_int_equal(s->count, all);
    walk(s, BTZ_STR("https://start.example/"));
}

static size_t words_of(struct btz_str text)
{
    size_t count = 0;
    struct btz_str part;

    while (btz_str_cut(&text, ' ', &part)) {
        count += part.len > 0;
    }
    return count;
}

static void pages_are_short_and_unlike(void **state)
{
    struct state *s = *state;
    const struct btz_json *shared = world(s, "web", BTZ_STR_NONE);
    size_t count = btz_json_count(shared);
    size_t least = SIZE_MAX;
    size_t most = 0;

    for (size_t i = 0; i < count; i++) {
        struct btz_str body = btz_json_str(btz_json_getz(btz_json_value_at(shared, i), "body"));
        size_t words = words_of(body);

        least = words < least ? words : least;
        most = words > most ? words : most;

        if (words < WORDS_MIN || words > WORDS_MAX) {
            fail_msg("%.*s has %zu words", BTZ_FMT(btz_json_key_at(shared, i)), words);
        }
        assert_true(btz_str_find(body, BTZ_STR("{")) < 0 && btz_str_find(body, BTZ_STR("|")) < 0);
        for (size_t n = 0; n < i; n++) {
            assert_false(
                btz_json_equal(btz_json_value_at(shared, i), btz_json_value_at(shared, n)));
        }
    }
    print_message("%zu to %zu words\n", least, most);
    assert_true(most >= WORDS_SPREAD * least);
}

/* Templates must not show: of any two pages, neither has more than half of its runs of five words
 * from the other. */
static void pages_share_few_phrases(void **state)
{
    struct state *s = *state;
    const struct btz_json *shared = world(s, "web", BTZ_STR_NONE);
    size_t count = btz_json_count(shared);
    size_t alike = 0;

    for (size_t i = 0; i < count; i++) {
        struct btz_str one = btz_json_str(btz_json_getz(btz_json_value_at(shared, i), "body"));

        for (size_t n = 0; n < count; n++) {
            struct btz_str other =
                btz_json_str(btz_json_getz(btz_json_value_at(shared, n), "body"));
            double share = 0;

            /* What two pages have in common is the larger share of the shorter one. */
            if (n != i && one.len <= other.len + SLACK) {
                share = btz_text_ngrams5_share(one, other);
            }

            if (share > SHARE_MAX) {
                print_error("%.*s has %.2f of %.*s\n", BTZ_FMT(btz_json_key_at(shared, i)), share,
                            BTZ_FMT(btz_json_key_at(shared, n)));
                alike++;
            }
        }
    }
    assert_int_equal(alike, 0);
}

/* Words that stand on one page: it is found first, and alone but for a page of this seed that may
 * have the word too. Each page has such a word. */
static void a_word_of_one_page_is_found(void **state)
{
    struct state *s = *state;
    const struct btz_json *index = world(s, "index", BTZ_STR_NONE);
    const struct btz_json *urls = world(s, "urls", BTZ_STR_NONE);
    const struct btz_json *seeded = world(s, "pages", BTZ_STR_NONE);
    bool *found = btz_arena_array(s->arena, btz_json_count(urls) + 1, sizeof(*found));
    size_t pages = 0;
    size_t alone = 0;

    for (size_t i = 0; i < btz_json_count(index); i++) {
        const struct btz_json *postings = btz_json_value_at(index, i);
        const struct btz_json *results;
        int64_t n = 0;
        bool other = false;

        if (btz_json_count(postings) != 1 || !btz_json_int64(btz_json_at(postings, 0), &n) ||
            found[n]) {
            continue;
        }
        results =
            btz_json_getz(call(s, "search_web", "query", btz_json_key_at(index, i)), "results");
        for (size_t r = 0; r < btz_json_count(results); r++) {
            struct btz_str url = btz_json_str(btz_json_getz(btz_json_at(results, r), "url"));

            found[n] = found[n] || btz_str_eq(url, btz_json_str(btz_json_at(urls, (size_t)n - 1)));
            other = other || !(found[n] || btz_json_get(seeded, url));
        }
        assert_true(found[n]);
        assert_false(other);
        alone += btz_json_count(results) == 1;
    }
    for (size_t n = 1; n <= btz_json_count(urls); n++) {
        if (!found[n]) {
            fail_msg("no word stands only on %.*s",
                     BTZ_FMT(btz_json_str(btz_json_at(urls, n - 1))));
        }
        pages++;
    }
    assert_true(pages >= PAGES_MIN && alone >= PAGES_MIN);
}

/* What the index says of a word is what the pages say. */
static void the_index_is_complete(void **state)
{
    struct state *s = *state;
    const struct btz_json *index = world(s, "index", BTZ_STR_NONE);
    const struct btz_json *urls = world(s, "urls", BTZ_STR_NONE);
    const char *const probes[] = {"volunteers", "nutmeg", "kilometres", "calibrate", "mimbre"};

    for (size_t p = 0; p < sizeof(probes) / sizeof(*probes); p++) {
        const struct btz_json *postings = btz_json_getz(index, probes[p]);
        struct btz_str spaced = btz_arena_printf(s->arena, " %s", probes[p]);
        size_t pages = 0;

        for (size_t i = 0; i < btz_json_count(urls); i++) {
            const struct btz_json *page = world(s, "web", btz_json_str(btz_json_at(urls, i)));
            struct btz_str body = btz_json_str(btz_json_getz(page, "body"));

            pages += btz_str_find(body, spaced) >= 0;
        }
        assert_true(pages > 0);
        assert_true(btz_json_count(postings) >= pages);
    }
}

static void the_shared_web_is_small_and_shared(void **state)
{
    struct state *s = *state;
    const struct btz_json *base = btz_lab_server_of(s->lab, BTZ_STR("web-fetch"))->base;
    size_t bytes = btz_json_text(s->arena, base).len;

    print_message("%zu bytes of base\n", bytes);
    assert_true(bytes < BASE_BYTES_MAX);
    assert_ptr_equal(world(s, "web", BTZ_STR_NONE), btz_json_getz(base, "web"));
    assert_ptr_equal(world(s, "index", BTZ_STR_NONE), btz_json_getz(base, "index"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(links_lead_from_the_start_to_all_pages),
        cmocka_unit_test(links_lead_back_from_every_page),
        cmocka_unit_test(pages_are_short_and_unlike),
        cmocka_unit_test(pages_share_few_phrases),
        cmocka_unit_test(a_word_of_one_page_is_found),
        cmocka_unit_test(the_index_is_complete),
        cmocka_unit_test(the_shared_web_is_small_and_shared),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
