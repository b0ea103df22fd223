#include "issuer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "auth/form.h"

void fake_init(struct fake *fake)
{
    *fake = (struct fake){.arena = btz_arena_new()};
    btz_buf_init(&fake->log, 1 << 20);
}

void fake_fini(struct fake *fake)
{
    btz_buf_fini(&fake->log);
    btz_arena_free(fake->arena);
}

void fake_forget(struct fake *fake, const char *url)
{
    for (size_t i = 0; i < fake->page_count; i++) {
        if (strcmp(fake->pages[i].url, url) == 0) {
            fake->pages[i] = fake->pages[--fake->page_count];
            return;
        }
    }
}

void fake_page(struct fake *fake, const char *url, const char *body)
{
    fake_forget(fake, url);
    assert_true(fake->page_count < 24);
    fake->pages[fake->page_count++] = (struct page){url, 200, body, NULL};
}

void fake_usual(struct fake *fake)
{
    fake_page(fake, "https://mcp.example/.well-known/oauth-protected-resource/tools",
              "{\"resource\":\"https://mcp.example/tools\","
              "\"authorization_servers\":[\"https://id.example\"]}");
    fake_page(fake, "https://id.example/.well-known/oauth-authorization-server",
              "{\"issuer\":\"https://id.example\","
              "\"authorization_endpoint\":\"https://id.example/authorize\","
              "\"token_endpoint\":\"https://id.example/token\","
              "\"registration_endpoint\":\"https://id.example/register\","
              "\"code_challenge_methods_supported\":[\"plain\",\"S256\"]}");
    fake_page(fake, "https://id.example/register", "{\"client_id\":\"client-1\"}");
    fake_page(fake, "https://id.example/token",
              "{\"access_token\":\"token-1\",\"token_type\":\"bearer\",\"expires_in\":60,"
              "\"refresh_token\":\"refresh-1\"}");
}

static void resolve(struct fake *fake, struct btz_auth_flow *flow)
{
    struct btz_auth_address address;
    struct btz_str text = btz_str_of(fake->place ? fake->place : "93.184.215.14");

    if (btz_auth_address_v4(text, &address) != BTZ_OK) {
        assert_int_equal(btz_auth_address_v6(text, &address), BTZ_OK);
    }
    assert_int_equal(btz_auth_flow_resolved(flow, &address, 1), BTZ_OK);
}

static void fetch(struct fake *fake, struct btz_auth_flow *flow, const struct btz_auth_need *need)
{
    const struct page *page = NULL;
    struct btz_http_field location = {BTZ_STR("Location"), BTZ_STR_NONE};
    struct btz_str url = need->url;
    struct btz_str bare;

    (void)btz_buf_printf(&fake->log, "%.*s %.*s %.*s\n", BTZ_FMT(need->method), BTZ_FMT(need->url),
                         BTZ_FMT(need->body));
    for (size_t i = 0; i < need->field_count; i++) {
        if (btz_str_is(need->fields[i].name, "Authorization")) {
            (void)btz_buf_printf(&fake->log, "AS %.*s\n", BTZ_FMT(need->fields[i].value));
        }
    }
    (void)btz_str_cut(&url, '?', &bare);
    for (size_t i = 0; i < fake->page_count; i++) {
        if (btz_str_is(bare, fake->pages[i].url)) {
            page = &fake->pages[i];
        }
    }
    if (!page) {
        assert_int_equal(btz_auth_flow_fetched(flow, 404, NULL, 0, BTZ_STR("no such page")),
                         BTZ_OK);
        return;
    }
    location.value = btz_str_of(page->location);
    assert_int_equal(btz_auth_flow_fetched(flow, page->status, &location, page->location ? 1 : 0,
                                           btz_str_of(page->body)),
                     BTZ_OK);
}

struct btz_str fake_asked(const struct fake *fake, const char *name)
{
    struct btz_str rest = btz_buf_view(&fake->log);
    struct btz_str line;
    struct btz_str query = BTZ_STR_NONE;
    struct btz_str out = BTZ_STR_NONE;

    while (btz_str_cut(&rest, '\n', &line)) {
        if (btz_str_starts(line, BTZ_STR("OPEN "))) {
            query = line;
            (void)btz_str_cut(&query, '?', &line);
        }
    }
    if (btz_auth_form_get(fake->arena, query, name, &out) != BTZ_OK) {
        return BTZ_STR_NONE;
    }
    return out;
}

static void browse(struct fake *fake, struct btz_auth_flow *flow, const struct btz_auth_need *need)
{
    struct btz_buf query;
    struct btz_str back;

    (void)btz_buf_printf(&fake->log, "OPEN %.*s\n", BTZ_FMT(need->url));
    fake->opened++;
    btz_buf_init(&query, 1 << 16);
    btz_auth_form_add(&query, fake->error ? "error" : "code",
                      btz_str_of(fake->error ? fake->error : "code-1"));
    btz_auth_form_add(&query, "state",
                      fake->state ? btz_str_of(fake->state) : fake_asked(fake, "state"));
    if (fake->iss) {
        btz_auth_form_add(&query, "iss", btz_str_of(fake->iss));
    }
    back = fake->back ? btz_str_of(fake->back) : fake_asked(fake, "redirect_uri");
    back = btz_arena_printf(fake->arena, "%.*s?%.*s", BTZ_FMT(back), BTZ_FMT(btz_buf_view(&query)));
    btz_buf_fini(&query);
    assert_int_equal(btz_auth_flow_returned(flow, fake->never ? BTZ_STR_NONE : back), BTZ_OK);
}

void fake_drive(struct fake *fake, struct btz_auth_flow *flow)
{
    struct btz_auth_need need;

    for (int i = 0; btz_auth_flow_next(flow, &need); i++) {
        assert_true(i < 60);
        assert_false(btz_auth_flow_next(flow, &need));
        if (need.kind == BTZ_AUTH_RESOLVE) {
            assert_int_equal(btz_auth_flow_fetched(flow, 200, NULL, 0, BTZ_STR_NONE), BTZ_ESTATE);
            resolve(fake, flow);
        } else if (need.kind == BTZ_AUTH_FETCH) {
            assert_true(need.address_count == 1);
            fetch(fake, flow, &need);
        } else {
            browse(fake, flow, &need);
        }
    }
    assert_int_not_equal(btz_auth_flow_state(flow), BTZ_AUTH_WORKING);
}

size_t fake_logged(const struct fake *fake, const char *text)
{
    struct btz_str rest = btz_buf_view(&fake->log);
    size_t count = 0;
    ptrdiff_t at;

    while ((at = btz_str_find(rest, btz_str_of(text))) >= 0) {
        count++;
        rest = btz_str_sub(rest, (size_t)at + 1, rest.len);
    }
    return count;
}

struct btz_auth_flow_options usual_options(void)
{
    return (struct btz_auth_flow_options){.resource = BTZ_STR("https://mcp.example/tools"),
                                          .redirect_uri = BTZ_STR("http://localhost:8976/callback"),
                                          .client_name = BTZ_STR("tester"),
                                          .secret = BTZ_STR("0123456789abcdef0123456789abcdef")};
}

void challenge(struct fake *fake, struct btz_auth_flow *flow, int status, const char *header)
{
    const struct btz_http_field field = {BTZ_STR("WWW-Authenticate"), btz_str_of(header)};

    assert_int_equal(btz_auth_flow_challenged(flow, status, &field, header ? 1 : 0, 1000000),
                     BTZ_OK);
    fake_drive(fake, flow);
}

struct btz_auth_flow *challenged(struct fake *fake, const struct btz_auth_flow_options *options,
                                 const char *header)
{
    struct btz_auth_flow *flow = NULL;
    struct btz_err err;

    assert_int_equal(btz_auth_flow_new(options, &flow, &err), BTZ_OK);
    assert_int_equal(btz_auth_flow_state(flow), BTZ_AUTH_IDLE);
    challenge(fake, flow, 401, header);
    return flow;
}
