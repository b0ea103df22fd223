/* Fuzz target: an authorization against a hostile web. First line: flags, a tab, the challenge.
 * Each further line answers the next need: "STATUS text" for an exchange (the text is the body, or
 * Location for 3xx), anything else for the browser: the query it comes back with, "$" for the right
 * state. A line "! STATUS" is a new challenge, when the flow is at rest. */
#include <stdint.h>

#include "auth/flow.h"
#include "auth/form.h"

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            btz_panic("broken: %s", #condition);                                                   \
        }                                                                                          \
    } while (0)

static bool has(struct btz_str flags, char flag)
{
    return flags.len && memchr(flags.ptr, flag, flags.len);
}

static struct btz_auth_flow_options options_of(struct btz_str flags)
{
    static const struct btz_auth_client clients[] = {
        {.issuer = BTZ_STR("https://known.example"),
         .id = BTZ_STR("by-hand"),
         .secret = BTZ_STR("s")},
        {.id = BTZ_STR("anywhere"), .secret = BTZ_STR("t")}};

    return (struct btz_auth_flow_options){
        .resource = BTZ_STR("https://mcp.example/tools"),
        .redirect_uri = BTZ_STR("http://localhost:8976/callback"),
        .registered = clients,
        .registered_count = has(flags, 'a')   ? 2
                            : has(flags, 'k') ? 1
                                              : 0,
        .metadata_document = has(flags, 'd') ? BTZ_STR("https://app.example/c.json") : BTZ_STR_NONE,
        .client_credentials = has(flags, 'c'),
        .wants_refresh = has(flags, 'r'),
        .revision_2025_03 = has(flags, 'o'),
        .allowed_scopes = has(flags, 's') ? BTZ_STR("read list") : BTZ_STR_NONE,
        .secret = BTZ_STR("0123456789abcdef0123456789abcdef"),
        .lenient = {.assumes_endpoints = has(flags, 'A'),
                    .follows_any_redirect = has(flags, 'F'),
                    .ignores_response_iss = has(flags, 'I'),
                    .takes_any_issuer = has(flags, 'T')}};
}

/* What a safe flow may never ask for. */
static void check_need(const struct btz_auth_need *need, struct btz_str flags)
{
    struct btz_auth_url url;

    MUST(need->purpose <= BTZ_AUTH_FOR_TOKEN && btz_auth_purpose_name(need->purpose)[0]);
    if (need->kind == BTZ_AUTH_OPEN || need->kind == BTZ_AUTH_FETCH) {
        MUST(btz_auth_url_parse(need->url, &url) == BTZ_OK || need->url.len > BTZ_AUTH_URL_MAX);
    }
    if (need->kind == BTZ_AUTH_FETCH && !has(flags, 'F')) {
        MUST(btz_auth_url_is_scheme(&url, "https") && need->address_count == 1);
        MUST(btz_auth_address_place(need->addresses) == BTZ_AUTH_PUBLIC);
    }
    for (size_t i = 0; i < need->field_count; i++) {
        struct btz_buf scrap;
        const struct btz_http_field fields[] = {{BTZ_STR("Host"), BTZ_STR("x")}, need->fields[i]};

        btz_buf_init(&scrap, 1 << 20);
        MUST(btz_http_write_request(&scrap, BTZ_STR("GET"), BTZ_STR("/"), fields, 2,
                                    BTZ_STR_NONE) != BTZ_EINVAL);
        btz_buf_fini(&scrap);
    }
}

static void come_back(struct btz_auth_flow *flow, const struct btz_auth_need *need,
                      struct btz_str query, struct btz_arena *arena)
{
    struct btz_str opened = need->url;
    struct btz_str state = BTZ_STR_NONE;
    struct btz_str part;
    struct btz_buf url;

    (void)btz_str_cut(&opened, '?', &part);
    (void)!btz_auth_form_get(arena, opened, "state", &state);
    btz_buf_init(&url, 1 << 20);
    btz_buf_add_text(&url, "http://localhost:8976/callback?");
    for (size_t i = 0; i < query.len; i++) {
        if (query.ptr[i] == '$') {
            btz_buf_add_str(&url, state);
        } else {
            btz_buf_add_byte(&url, query.ptr[i]);
        }
    }
    MUST(!btz_auth_flow_returned(flow, query.len ? btz_buf_view(&url) : BTZ_STR_NONE));
    btz_buf_fini(&url);
}

static void answer(struct btz_auth_flow *flow, const struct btz_auth_need *need,
                   struct btz_str line, struct btz_str flags, struct btz_arena *arena)
{
    struct btz_auth_address address = {.bytes = {93, 184, 215, 14}};
    struct btz_http_field location = {BTZ_STR("Location"), BTZ_STR_NONE};
    struct btz_str status;
    int64_t code = 0;

    check_need(need, flags);
    if (need->kind == BTZ_AUTH_RESOLVE) {
        address.bytes[0] = has(flags, 'n') ? 10 : 93;
        MUST(!btz_auth_flow_resolved(flow, &address, has(flags, 'N') ? 0 : 1));
    } else if (need->kind == BTZ_AUTH_FETCH) {
        (void)btz_str_cut(&line, ' ', &status);
        (void)!btz_str_int64(status, &code);
        code = code < 0 || code > 999 ? 500 : code;
        location.value = line;
        MUST(!btz_auth_flow_fetched(flow, (int)code, &location, code >= 300 && code < 400 ? 1 : 0,
                                    line));
    } else {
        come_back(flow, need, line, arena);
    }
}

static void check_rest(struct btz_auth_flow *flow)
{
    enum btz_auth_verdict verdict;
    struct btz_str header = btz_auth_flow_header(flow);
    enum btz_auth_state state = btz_auth_flow_state(flow);

    MUST(state == BTZ_AUTH_READY || state == BTZ_AUTH_FAILED);
    MUST((state == BTZ_AUTH_READY) == (header.len > strlen("Bearer ")));
    MUST((state == BTZ_AUTH_FAILED) == (btz_auth_flow_failure(flow, &verdict).len > 0));
    (void)btz_auth_flow_issuer(flow);
    (void)btz_auth_flow_scope(flow);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct btz_str rest = {(const char *)data, size};
    struct btz_str challenge = BTZ_STR_NONE;
    struct btz_str flags = BTZ_STR_NONE;
    struct btz_str line;
    struct btz_http_field field = {BTZ_STR("WWW-Authenticate"), BTZ_STR_NONE};
    struct btz_arena *arena = btz_arena_new();
    struct btz_auth_flow_options options;
    struct btz_auth_flow *flow;
    struct btz_auth_need need;
    struct btz_err err;

    (void)btz_str_cut(&rest, '\n', &challenge);
    (void)btz_str_cut(&challenge, '\t', &flags);
    field.value = challenge;
    options = options_of(flags);
    MUST(!btz_auth_flow_new(&options, &flow, &err));
    MUST(!btz_auth_flow_challenged(flow, 401, &field, 1, 0));
    for (int steps = 0; steps < 400; steps++) {
        if (btz_auth_flow_next(flow, &need)) {
            if (need.kind == BTZ_AUTH_RESOLVE) {
                answer(flow, &need, BTZ_STR_NONE, flags, arena);
            } else if (btz_str_cut(&rest, '\n', &line)) {
                answer(flow, &need, line, flags, arena);
            } else {
                break;
            }
            continue;
        }
        check_rest(flow);
        if (!btz_str_cut(&rest, '\n', &line) || !btz_str_starts(line, BTZ_STR("! "))) {
            break;
        }
        (void)btz_auth_flow_recall(flow, steps);
        MUST(!btz_auth_flow_challenged(flow, btz_str_is(line, "! 403") ? 403 : 401, &field, 1,
                                       steps));
    }
    btz_auth_flow_free(flow);
    btz_arena_free(arena);
    return 0;
}
