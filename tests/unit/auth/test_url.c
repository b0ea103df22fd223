/* The URL guard against a table of tricks, and the address reader against the system's own. */
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "auth/url.h"

static struct btz_auth_address address_of(const char *text)
{
    struct btz_auth_address address;
    int rc = strchr(text, ':') ? btz_auth_address_v6(btz_str_of(text), &address)
                               : btz_auth_address_v4(btz_str_of(text), &address);

    assert_int_equal(rc, BTZ_OK);
    return address;
}

static void test_places(void **state)
{
    static const struct {
        const char *text;
        enum btz_auth_place place;
    } cases[] = {
        {"8.8.8.8", BTZ_AUTH_PUBLIC},
        {"127.0.0.1", BTZ_AUTH_LOOPBACK},
        {"127.1", BTZ_AUTH_LOOPBACK},
        {"2130706433", BTZ_AUTH_LOOPBACK},
        {"0x7f000001", BTZ_AUTH_LOOPBACK},
        {"0x7f.1", BTZ_AUTH_LOOPBACK},
        {"0177.0.0.1", BTZ_AUTH_LOOPBACK},
        {"127.255.255.254", BTZ_AUTH_LOOPBACK},
        {"128.0.0.1", BTZ_AUTH_PUBLIC},
        {"169.254.169.254", BTZ_AUTH_METADATA},
        {"2852039166", BTZ_AUTH_METADATA},
        {"0xA9FEA9FE", BTZ_AUTH_METADATA},
        {"0251.0376.0251.0376", BTZ_AUTH_METADATA},
        {"169.254.43518", BTZ_AUTH_METADATA},
        {"100.100.100.200", BTZ_AUTH_METADATA},
        {"168.63.129.16", BTZ_AUTH_METADATA},
        {"169.254.1.1", BTZ_AUTH_LINK_LOCAL},
        {"10.1.2.3", BTZ_AUTH_PRIVATE},
        {"172.16.0.1", BTZ_AUTH_PRIVATE},
        {"172.31.255.255", BTZ_AUTH_PRIVATE},
        {"172.32.0.1", BTZ_AUTH_PUBLIC},
        {"172.15.0.1", BTZ_AUTH_PUBLIC},
        {"192.168.1.1", BTZ_AUTH_PRIVATE},
        {"100.64.0.1", BTZ_AUTH_PRIVATE},
        {"100.127.255.255", BTZ_AUTH_PRIVATE},
        {"100.128.0.1", BTZ_AUTH_PUBLIC},
        {"0.0.0.0", BTZ_AUTH_RESERVED},
        {"0", BTZ_AUTH_RESERVED},
        {"192.0.2.1", BTZ_AUTH_RESERVED},
        {"198.19.0.1", BTZ_AUTH_RESERVED},
        {"198.20.0.1", BTZ_AUTH_PUBLIC},
        {"203.0.113.9", BTZ_AUTH_RESERVED},
        {"224.0.0.1", BTZ_AUTH_RESERVED},
        {"255.255.255.255", BTZ_AUTH_RESERVED},
        {"::", BTZ_AUTH_RESERVED},
        {"::1", BTZ_AUTH_LOOPBACK},
        {"::2", BTZ_AUTH_RESERVED},
        {"::ffff:127.0.0.1", BTZ_AUTH_LOOPBACK},
        {"::ffff:7f00:1", BTZ_AUTH_LOOPBACK},
        {"::127.0.0.1", BTZ_AUTH_LOOPBACK},
        {"::ffff:0:127.0.0.1", BTZ_AUTH_LOOPBACK},
        {"::ffff:a9fe:a9fe", BTZ_AUTH_METADATA},
        {"::ffff:8.8.8.8", BTZ_AUTH_PUBLIC},
        {"64:ff9b::10.0.0.1", BTZ_AUTH_PRIVATE},
        {"64:ff9b::808:808", BTZ_AUTH_PUBLIC},
        {"64:ff9b:1::1", BTZ_AUTH_PRIVATE},
        {"2002:7f00:1::", BTZ_AUTH_LOOPBACK},
        {"2002:c0a8:101::1", BTZ_AUTH_PRIVATE},
        {"2001:0:7f00:1::", BTZ_AUTH_RESERVED},
        {"2001:db8::1", BTZ_AUTH_RESERVED},
        {"3fff:1::", BTZ_AUTH_RESERVED},
        {"fd00:ec2::254", BTZ_AUTH_METADATA},
        {"fc00::1", BTZ_AUTH_PRIVATE},
        {"fd12:3456::1", BTZ_AUTH_PRIVATE},
        {"fe80::1", BTZ_AUTH_LINK_LOCAL},
        {"febf::1", BTZ_AUTH_LINK_LOCAL},
        {"fec0::1", BTZ_AUTH_PRIVATE},
        {"ff02::1", BTZ_AUTH_RESERVED},
        {"2606:4700::1", BTZ_AUTH_PUBLIC},
        {"4000::1", BTZ_AUTH_RESERVED},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct btz_auth_address address = address_of(cases[i].text);
        enum btz_auth_place place = btz_auth_address_place(&address);

        if (place != cases[i].place) {
            fail_msg("%s is %s, not %s", cases[i].text, btz_auth_place_name(place),
                     btz_auth_place_name(cases[i].place));
        }
    }
}

static void test_address_text(void **state)
{
    struct btz_auth_address address = address_of("0x7f.1");
    char text[46];

    (void)state;
    assert_string_equal(btz_auth_address_text(&address, text), "127.0.0.1");
    address = address_of("FE80:0:0:0:0:0:0:1");
    assert_string_equal(btz_auth_address_text(&address, text), "fe80::1");
}

/* Every spelling that inet_aton takes is the same address here, and none more. */
static void test_like_inet_aton(void **state)
{
    static const char *const texts[] = {
        "1",          "1.2",       "1.2.3",     "1.2.3.4",   "0x1.2",      "01.02.03.04",
        "08",         "0x",        "0xg",       "1.",        ".1",         "1..2",
        "256",        "256.1",     "1.256.1",   "1.65536.1", "1.16777216", "4294967295",
        "4294967296", "1.2.3.4.5", "1.2.3.256", "00",        "0x0",        "1.2.65535",
        "1.2.65536",  "",          "-1",        "+1",        "1.2.3.0x4",  "99999999999999999999",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct btz_auth_address mine = {.v6 = false};
        struct in_addr theirs;
        int ok = inet_aton(texts[i], &theirs);

        /* The C library takes a bare "0x" for nought; nobody else does. */
        if (strcmp(texts[i], "0x") == 0) {
            continue;
        }
        assert_int_equal(btz_auth_address_v4(btz_str_of(texts[i]), &mine) == BTZ_OK, ok);
        if (ok) {
            assert_memory_equal(mine.bytes, &theirs, 4);
        }
    }
    assert_int_equal(
        btz_auth_address_v6(BTZ_STR("fe80::1%eth0"), &(struct btz_auth_address){.v6 = true}),
        BTZ_EINVAL);
    assert_int_equal(btz_auth_address_v6(BTZ_STR("::1\0x"), &(struct btz_auth_address){.v6 = true}),
                     BTZ_EINVAL);
}

/* What the guard says without and with development mode, before names are resolved. */
static const struct trick {
    const char *url;
    enum btz_auth_verdict strict, development;
} tricks[] = {
    {"https://id.example/token", BTZ_AUTH_ALLOWED, BTZ_AUTH_ALLOWED},
    {"HTTPS://id.example:8443/", BTZ_AUTH_ALLOWED, BTZ_AUTH_ALLOWED},
    {"https://id.example", BTZ_AUTH_ALLOWED, BTZ_AUTH_ALLOWED},
    {"https://id.example./", BTZ_AUTH_ALLOWED, BTZ_AUTH_ALLOWED},
    {"https://id.example../", BTZ_AUTH_NO_URL, BTZ_AUTH_NO_URL},
    {"http://id.example/", BTZ_AUTH_NOT_SECURE, BTZ_AUTH_NOT_SECURE},
    {"http://localhost:3000/cb", BTZ_AUTH_BAD_PLACE, BTZ_AUTH_ALLOWED},
    {"http://LOCALHOST./", BTZ_AUTH_BAD_PLACE, BTZ_AUTH_ALLOWED},
    {"https://api.localhost/", BTZ_AUTH_BAD_PLACE, BTZ_AUTH_ALLOWED},
    {"https://notlocalhost/", BTZ_AUTH_ALLOWED, BTZ_AUTH_ALLOWED},
    {"http://127.0.0.1/", BTZ_AUTH_BAD_PLACE, BTZ_AUTH_ALLOWED},
    {"http://[::1]:80/", BTZ_AUTH_BAD_PLACE, BTZ_AUTH_ALLOWED},
    {"https://2130706433/", BTZ_AUTH_BAD_PLACE, BTZ_AUTH_ALLOWED},
    {"https://0x7f.0.0.1/", BTZ_AUTH_BAD_PLACE, BTZ_AUTH_ALLOWED},
    {"https://127.1./", BTZ_AUTH_BAD_PLACE, BTZ_AUTH_ALLOWED},
    {"https://169.254.169.254/latest/", BTZ_AUTH_BAD_PLACE, BTZ_AUTH_BAD_PLACE},
    {"https://0xa9fea9fe/", BTZ_AUTH_BAD_PLACE, BTZ_AUTH_BAD_PLACE},
    {"https://[::ffff:169.254.169.254]/", BTZ_AUTH_BAD_PLACE, BTZ_AUTH_BAD_PLACE},
    {"https://[64:ff9b::a9fe:a9fe]/", BTZ_AUTH_BAD_PLACE, BTZ_AUTH_BAD_PLACE},
    {"https://10.0.0.8/", BTZ_AUTH_BAD_PLACE, BTZ_AUTH_BAD_PLACE},
    {"https://[fd00::1]/", BTZ_AUTH_BAD_PLACE, BTZ_AUTH_BAD_PLACE},
    {"https://0.0.0.0/", BTZ_AUTH_BAD_PLACE, BTZ_AUTH_BAD_PLACE},
    {"https://[::]/", BTZ_AUTH_BAD_PLACE, BTZ_AUTH_BAD_PLACE},
    {"https://1.2.3.4/", BTZ_AUTH_ALLOWED, BTZ_AUTH_ALLOWED},
    {"https://1.2.3.400/", BTZ_AUTH_NO_URL, BTZ_AUTH_NO_URL},
    {"https://id.example.7/", BTZ_AUTH_NO_URL, BTZ_AUTH_NO_URL},
    {"https://[fe80::1%25eth0]/", BTZ_AUTH_NO_URL, BTZ_AUTH_NO_URL},
    {"https://[::1/", BTZ_AUTH_NO_URL, BTZ_AUTH_NO_URL},
    {"https://[::1]x/", BTZ_AUTH_NO_URL, BTZ_AUTH_NO_URL},
    {"https://id.example@127.0.0.1/", BTZ_AUTH_HAS_USER, BTZ_AUTH_HAS_USER},
    {"https://a:b@id.example/", BTZ_AUTH_HAS_USER, BTZ_AUTH_HAS_USER},
    {"https://id.example\\@127.0.0.1/", BTZ_AUTH_NO_URL, BTZ_AUTH_NO_URL},
    {"https://127.0.0.1%2eexample/", BTZ_AUTH_NO_URL, BTZ_AUTH_NO_URL},
    {"https://%31%32%37.0.0.1/", BTZ_AUTH_NO_URL, BTZ_AUTH_NO_URL},
    {"https://\xE2\x91\xA0\xE2\x91\xA1\xE2\x91\xA6.0.0.1/", BTZ_AUTH_NO_URL, BTZ_AUTH_NO_URL},
    {"https://id.example:0/", BTZ_AUTH_NO_URL, BTZ_AUTH_NO_URL},
    {"https://id.example:65536/", BTZ_AUTH_NO_URL, BTZ_AUTH_NO_URL},
    {"https://id.example:/", BTZ_AUTH_NO_URL, BTZ_AUTH_NO_URL},
    {"https://id.example:+1/", BTZ_AUTH_NO_URL, BTZ_AUTH_NO_URL},
    {"https:///token", BTZ_AUTH_NO_URL, BTZ_AUTH_NO_URL},
    {"https:id.example/", BTZ_AUTH_NO_URL, BTZ_AUTH_NO_URL},
    {"https://id..example/", BTZ_AUTH_NO_URL, BTZ_AUTH_NO_URL},
    {"https://.example/", BTZ_AUTH_NO_URL, BTZ_AUTH_NO_URL},
    {"https://./", BTZ_AUTH_NO_URL, BTZ_AUTH_NO_URL},
    {" https://id.example/", BTZ_AUTH_NO_URL, BTZ_AUTH_NO_URL},
    {"https://id.example/a b", BTZ_AUTH_NO_URL, BTZ_AUTH_NO_URL},
    {"https://id.example/`x`", BTZ_AUTH_NO_URL, BTZ_AUTH_NO_URL},
    {"https://id.example/\"x", BTZ_AUTH_NO_URL, BTZ_AUTH_NO_URL},
    {"https://id.example/%zz", BTZ_AUTH_NO_URL, BTZ_AUTH_NO_URL},
    {"https://id.example/%4", BTZ_AUTH_NO_URL, BTZ_AUTH_NO_URL},
    {"https://id.example/\r\nHost: x", BTZ_AUTH_NO_URL, BTZ_AUTH_NO_URL},
    {"https://id.example/#part", BTZ_AUTH_HAS_FRAGMENT, BTZ_AUTH_HAS_FRAGMENT},
    {"https://id.example/#`", BTZ_AUTH_NO_URL, BTZ_AUTH_NO_URL},
    {"javascript:alert(1)", BTZ_AUTH_BAD_SCHEME, BTZ_AUTH_BAD_SCHEME},
    {"JavaScript://id.example/%0aalert(1)", BTZ_AUTH_BAD_SCHEME, BTZ_AUTH_BAD_SCHEME},
    {"data:text/html,hello", BTZ_AUTH_BAD_SCHEME, BTZ_AUTH_BAD_SCHEME},
    {"file:///etc/hostname", BTZ_AUTH_BAD_SCHEME, BTZ_AUTH_BAD_SCHEME},
    {"vbscript:x", BTZ_AUTH_BAD_SCHEME, BTZ_AUTH_BAD_SCHEME},
    {"ftp://id.example/", BTZ_AUTH_BAD_SCHEME, BTZ_AUTH_BAD_SCHEME},
    {"gopher://127.0.0.1:25/", BTZ_AUTH_BAD_SCHEME, BTZ_AUTH_BAD_SCHEME},
    {"//id.example/", BTZ_AUTH_NO_URL, BTZ_AUTH_NO_URL},
    {"/token", BTZ_AUTH_NO_URL, BTZ_AUTH_NO_URL},
    {"", BTZ_AUTH_NO_URL, BTZ_AUTH_NO_URL},
    {"1https://id.example/", BTZ_AUTH_NO_URL, BTZ_AUTH_NO_URL},
};
static void test_tricks(void **state)
{
    const struct btz_auth_guard strict = {.development = false};
    const struct btz_auth_guard development = {.development = true};

    (void)state;
    for (size_t i = 0; i < sizeof(tricks) / sizeof(tricks[0]); i++) {
        struct btz_str url = btz_str_of(tricks[i].url);
        enum btz_auth_verdict one = btz_auth_guard_url(&strict, url);
        enum btz_auth_verdict two = btz_auth_guard_url(&development, url);

        if (one != tricks[i].strict || two != tricks[i].development) {
            fail_msg("%s: %s / %s", tricks[i].url, btz_auth_verdict_text(one),
                     btz_auth_verdict_text(two));
        }
        assert_int_equal(btz_auth_guard_open(&strict, url), tricks[i].strict);
    }
}

static enum btz_auth_verdict resolved(const struct btz_auth_guard *guard, const char *url,
                                      const char *first, const char *second)
{
    struct btz_auth_address addresses[2];
    size_t count = 0;

    if (first) {
        addresses[count++] = address_of(first);
    }
    if (second) {
        addresses[count++] = address_of(second);
    }
    return btz_auth_guard_resolved(guard, btz_str_of(url), addresses, count);
}

static void test_resolved(void **state)
{
    const struct btz_auth_guard strict = {.development = false};
    const struct btz_auth_guard development = {.development = true};
    const struct btz_auth_guard lenient = {.any_place = true};
    const char *url = "https://id.example/token";

    (void)state;
    assert_int_equal(resolved(&strict, url, "1.2.3.4", NULL), BTZ_AUTH_ALLOWED);
    assert_int_equal(resolved(&strict, url, NULL, NULL), BTZ_AUTH_NO_ADDRESS);
    /* One bad address among good ones is enough. */
    assert_int_equal(resolved(&strict, url, "1.2.3.4", "169.254.169.254"), BTZ_AUTH_BAD_PLACE);
    assert_int_equal(resolved(&strict, url, "10.0.0.1", NULL), BTZ_AUTH_BAD_PLACE);
    assert_int_equal(resolved(&strict, url, "::ffff:10.0.0.1", NULL), BTZ_AUTH_BAD_PLACE);
    assert_int_equal(resolved(&strict, "https://10.0.0.1/", "1.2.3.4", NULL), BTZ_AUTH_BAD_PLACE);
    assert_int_equal(resolved(&strict, "https://1.2.3.4/", NULL, NULL), BTZ_AUTH_ALLOWED);
    /* In development a foreign name may still not point here, nor "localhost" elsewhere. */
    assert_int_equal(resolved(&development, url, "127.0.0.1", NULL), BTZ_AUTH_BAD_PLACE);
    assert_int_equal(resolved(&development, "http://localhost/", "127.0.0.1", "::1"),
                     BTZ_AUTH_ALLOWED);
    assert_int_equal(resolved(&development, "http://localhost/", "1.2.3.4", NULL),
                     BTZ_AUTH_BAD_PLACE);
    assert_int_equal(resolved(&development, "http://id.example/", "1.2.3.4", NULL),
                     BTZ_AUTH_NOT_SECURE);
    assert_int_equal(resolved(&lenient, "http://id.example/", "10.0.0.1", NULL), BTZ_AUTH_ALLOWED);
    assert_int_equal(btz_auth_guard_url(&lenient, BTZ_STR("http://127.0.0.1/")), BTZ_AUTH_ALLOWED);
    assert_int_equal(btz_auth_guard_url(&lenient, BTZ_STR("file:///x")), BTZ_AUTH_BAD_SCHEME);
    assert_int_equal(
        btz_auth_guard_open(&(struct btz_auth_guard){.any_scheme = true}, BTZ_STR("notes:import")),
        BTZ_AUTH_ALLOWED);
    assert_int_equal(
        btz_auth_guard_open(&(struct btz_auth_guard){.any_scheme = true}, BTZ_STR_NONE),
        BTZ_AUTH_NO_URL);
}

static void test_parts(void **state)
{
    struct btz_auth_url url;
    char text[BTZ_AUTH_URL_MAX + 2];

    (void)state;
    assert_int_equal(btz_auth_url_parse(BTZ_STR("https://u@[::1]:8443/a/b;c?d=e?f#g"), &url),
                     BTZ_OK);
    assert_true(btz_str_is(url.scheme, "https") && btz_str_is(url.host, "::1"));
    assert_true(btz_str_is(url.authority, "[::1]:8443") && url.port == 8443);
    assert_true(btz_str_is(url.path, "/a/b;c") && btz_str_is(url.query, "d=e?f"));
    assert_true(url.has_user && url.has_fragment && url.has_query && url.is_address);
    assert_int_equal(btz_auth_url_parse(BTZ_STR("mailto:a@b.example"), &url), BTZ_OK);
    assert_false(url.has_authority);
    memset(text, 'a', sizeof(text));
    memcpy(text, "https://a/", 10);
    assert_int_equal(btz_auth_url_parse((struct btz_str){text, BTZ_AUTH_URL_MAX}, &url), BTZ_OK);
    assert_int_equal(btz_auth_url_parse((struct btz_str){text, BTZ_AUTH_URL_MAX + 1}, &url),
                     BTZ_ELIMIT);
}

static void test_covers(void **state)
{
    struct btz_str target = BTZ_STR("https://mcp.example/a/tools");

    (void)state;
    assert_true(btz_auth_url_covers(target, target));
    assert_true(btz_auth_url_covers(BTZ_STR("https://mcp.example"), target));
    assert_true(btz_auth_url_covers(BTZ_STR("https://MCP.example:443/"), target));
    assert_true(btz_auth_url_covers(BTZ_STR("https://mcp.example/a"), target));
    assert_true(btz_auth_url_covers(BTZ_STR("https://mcp.example/a/"), target));
    assert_false(btz_auth_url_covers(BTZ_STR("https://mcp.example/a/to"), target));
    assert_false(btz_auth_url_covers(BTZ_STR("https://mcp.example/b"), target));
    assert_false(btz_auth_url_covers(BTZ_STR("https://mcp.example/a/tools/x"), target));
    assert_false(btz_auth_url_covers(BTZ_STR("http://mcp.example/a"), target));
    assert_false(btz_auth_url_covers(BTZ_STR("https://mcp.example:444/a"), target));
    assert_false(btz_auth_url_covers(BTZ_STR("https://other.example/a"), target));
    assert_false(btz_auth_url_covers(BTZ_STR("https://mcp.example/a?x"), target));
    assert_false(btz_auth_url_covers(BTZ_STR("nothing"), target));
}

static void test_resolve(void **state)
{
    struct btz_arena *arena = btz_arena_new();
    struct btz_str base = BTZ_STR("https://id.example:8443/a?b");
    struct btz_str out;

    (void)state;
    assert_int_equal(btz_auth_url_resolve(arena, base, BTZ_STR("http://x.example/"), &out), BTZ_OK);
    assert_true(btz_str_is(out, "http://x.example/"));
    assert_int_equal(btz_auth_url_resolve(arena, base, BTZ_STR("/c?d"), &out), BTZ_OK);
    assert_true(btz_str_is(out, "https://id.example:8443/c?d"));
    assert_int_equal(btz_auth_url_resolve(arena, base, BTZ_STR("//x.example/"), &out), BTZ_EINVAL);
    assert_int_equal(btz_auth_url_resolve(arena, base, BTZ_STR("c"), &out), BTZ_EINVAL);
    assert_int_equal(btz_auth_url_resolve(arena, base, BTZ_STR("/c d"), &out), BTZ_EINVAL);
    assert_int_equal(btz_auth_url_resolve(arena, BTZ_STR("x:y"), BTZ_STR("/c"), &out), BTZ_EINVAL);
    btz_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places),         cmocka_unit_test(test_address_text),
        cmocka_unit_test(test_like_inet_aton), cmocka_unit_test(test_tricks),
        cmocka_unit_test(test_resolved),       cmocka_unit_test(test_parts),
        cmocka_unit_test(test_covers),         cmocka_unit_test(test_resolve),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
