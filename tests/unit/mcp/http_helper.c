#include "http_helper.h"

#include <stdio.h>

struct btz_mcp_http_session *new_session(struct btz_mcp_http_session_options options)
{
    struct btz_mcp_http_session *session = NULL;
    struct btz_err err;

    options.host = BTZ_STR("tools.example");
    options.client.name = BTZ_STR("t");
    options.client.version = BTZ_STR("1");
    if (btz_mcp_http_session_new(&options, &session, &err)) {
        fail_msg("session: %s", err.msg);
    }
    assert_int_equal(btz_mcp_http_session_start(session), BTZ_OK);
    return session;
}

static void write_exchange(struct btz_buf *out, const struct btz_mcp_http_exchange *x)
{
    btz_buf_printf(out, "%s %.*s\n", btz_mcp_http_method_name(x->method), BTZ_FMT(x->target));
    for (size_t i = 0; i < x->field_count; i++) {
        btz_buf_printf(out, "%.*s: %.*s\n", BTZ_FMT(x->fields[i].name),
                       BTZ_FMT(x->fields[i].value));
    }
    btz_buf_add_str(out, x->body);
    assert_int_equal(btz_buf_status(out), BTZ_OK);
}

uint64_t sends(struct btz_mcp_http_session *session, const char *text)
{
    struct btz_mcp_http_exchange x;
    struct btz_buf got;

    if (!btz_mcp_http_session_next_request(session, &x)) {
        if (text) {
            fail_msg("\n got nothing\nwant: %s", text);
        }
        return 0;
    }
    btz_buf_init(&got, 1 << 20);
    write_exchange(&got, &x);
    if (!text) {
        fail_msg("\n got: %.*s\nwant nothing", BTZ_FMT(btz_buf_view(&got)));
    }
    assert_text(btz_buf_view(&got), q(text));
    btz_buf_fini(&got);
    return x.id;
}

uint64_t sends_any(struct btz_mcp_http_session *session, struct btz_mcp_http_exchange *out)
{
    struct btz_mcp_http_exchange x;

    assert_true(btz_mcp_http_session_next_request(session, &x));
    if (out) {
        *out = x;
    }
    return x.id;
}

void closes(struct btz_mcp_http_session *session, uint64_t exchange)
{
    uint64_t got = 0;

    assert_true(btz_mcp_http_session_next_close(session, &got));
    assert_int_equal(got, exchange);
    /* What still comes for it is ignored. */
    assert_int_equal(btz_mcp_http_session_response_body(session, exchange, BTZ_STR("x")),
                     BTZ_ENOTFOUND);
}

void closes_nothing(struct btz_mcp_http_session *session)
{
    uint64_t got = 0;

    if (btz_mcp_http_session_next_close(session, &got)) {
        fail_msg("exchange %d is to be closed", (int)got);
    }
}

void head(struct btz_mcp_http_session *session, uint64_t exchange, int status, const char *fields)
{
    struct btz_http_field list[8];
    struct btz_http_head h = {.status = status, .fields = list, .content_length = -1};
    struct btz_str rest = btz_str_of(fields);
    struct btz_str line;

    while (rest.len && btz_str_cut(&rest, '\n', &line)) {
        struct btz_http_field *field = &list[h.field_count++];

        assert_true(h.field_count <= 8 && btz_str_cut(&line, ':', &field->name));
        field->value = btz_str_trim(line);
    }
    assert_int_equal(btz_mcp_http_session_response_head(session, exchange, &h), BTZ_OK);
}

void body(struct btz_mcp_http_session *session, uint64_t exchange, const char *text)
{
    assert_int_equal(btz_mcp_http_session_response_body(session, exchange, btz_str_of(q(text))),
                     BTZ_OK);
}

void end(struct btz_mcp_http_session *session, uint64_t exchange, enum btz_mcp_http_end how)
{
    assert_int_equal(btz_mcp_http_session_response_end(session, exchange, how), BTZ_OK);
}

void answers(struct btz_mcp_http_session *session, uint64_t exchange, int status,
             const char *fields, const char *text)
{
    head(session, exchange, status, fields);
    if (text[0]) {
        body(session, exchange, text);
    }
    end(session, exchange, BTZ_MCP_HTTP_WHOLE);
}

struct btz_mcp_client_event event_of(struct btz_mcp_http_session *session,
                                     enum btz_mcp_client_event_kind kind)
{
    return client_event(btz_mcp_http_session_client(session), kind);
}

void quiet(struct btz_mcp_http_session *session)
{
    struct btz_mcp_client_event event;

    closes_nothing(session);
    sends(session, NULL);
    if (btz_mcp_client_next_event(btz_mcp_http_session_client(session), &event)) {
        fail_msg("event %d (%.*s), want none", (int)event.kind, BTZ_FMT(event.message));
    }
}

struct btz_mcp_http_session *legacy_session(struct btz_mcp_http_session_options options,
                                            uint64_t *stream)
{
    struct btz_mcp_http_session *session;
    uint64_t id;

    options.no_get_stream = !stream;
    session = new_session(options);
    id = sends(session, POST_HEAD("/mcp") INIT_BODY);
    sends(session, NULL);
    answers(session, id, 200, JSON "\nMcp-Session-Id: s-1", INIT_RESULT);
    event_of(session, BTZ_MCP_CLIENT_READY);
    id = sends(session, POST_HEAD("/mcp") LEGACY_FIELDS INITIALIZED_BODY);
    answers(session, id, 202, "", "");
    if (stream) {
        *stream = sends(session, GET_HEAD("/mcp") LEGACY_FIELDS);
        head(session, *stream, 200, EVENTS);
    }
    quiet(session);
    assert_true(btz_mcp_http_session_settled(session));
    return session;
}

struct btz_mcp_http_session *modern_session(struct btz_mcp_http_session_options options)
{
    struct btz_mcp_http_session *session;
    uint64_t id;

    options.client.mode = BTZ_MCP_CLIENT_MODERN;
    session = new_session(options);
    id = sends(session, POST_HEAD("/mcp") "MCP-Protocol-Version: 2026-07-28\nMcp-Method: "
                                          "server/discover\n" DISCOVER_BODY);
    /* A session id of a modern server is ignored. */
    answers(session, id, 200, JSON "\nMcp-Session-Id: never", DISCOVER_RESULT);
    event_of(session, BTZ_MCP_CLIENT_READY);
    quiet(session);
    assert_true(btz_mcp_http_session_settled(session));
    assert_int_equal(btz_mcp_http_session_id(session).len, 0);
    return session;
}
