/* From the client's messages to HTTP requests. */
#include "mcp/http_session_int.h"

#include "mcp/param_header.h"

/* A cancellation: modern servers see it as the closed stream of the request, legacy ones get the
 * notification. True if there is nothing left to send. */
static bool take_cancel(struct btz_mcp_http_session *session, const struct btz_mcp_out *out)
{
    struct btz_arena *arena = btz_arena_new();
    struct btz_mcp_message message;
    struct btz_mcp_refusal why;
    struct exchange *exchange = NULL;
    bool unsent;
    int64_t id = 0;

    if (btz_mcp_read(arena, out->bytes, NULL, &message, &why) == BTZ_OK &&
        btz_json_int64(btz_json_getz(message.params, "requestId"), &id) && id > 0) {
        exchange = btz_mcp_http_find_rpc(session, (uint64_t)id);
    }
    btz_arena_free(arena);
    if (!exchange) {
        return btz_mcp_http_is_modern(session);
    }
    unsent = exchange->state == EXCHANGE_QUEUED && !exchange->resuming;
    btz_mcp_http_exchange_drop(session, exchange, true);
    return unsent || btz_mcp_http_is_modern(session);
}

static void copy_out(struct exchange *exchange, const struct btz_mcp_out *out)
{
    struct btz_mcp_param *params =
        btz_arena_array(exchange->arena, out->param_count + 1, sizeof(*params));

    exchange->message = btz_arena_dup(exchange->arena, out->bytes);
    exchange->kind = out->kind;
    exchange->method = btz_arena_dup(exchange->arena, out->method);
    exchange->name = btz_arena_dup(exchange->arena, out->name);
    exchange->revision = out->revision;
    exchange->rpc = out->kind == BTZ_MCP_REQUEST ? (uint64_t)out->id.number : 0;
    exchange->listen = btz_str_is(out->method, btz_mcp_method_at(BTZ_MCP_M_LISTEN)->name);
    for (size_t i = 0; i < out->param_count; i++) {
        params[i].name = btz_arena_dup(exchange->arena, out->params[i].name);
        params[i].value = btz_arena_dup(exchange->arena, out->params[i].value);
    }
    exchange->params = params;
    exchange->param_count = out->param_count;
}

/* The client has stopped waiting for the answer to its probe. */
static void end_probe(struct btz_mcp_http_session *session, const struct exchange *initialize)
{
    for (struct exchange *e = session->exchanges; e; e = e->next) {
        if (e != initialize && e->role == ROLE_REQUEST && e->state != EXCHANGE_GONE) {
            btz_mcp_http_exchange_drop(session, e, true);
        }
    }
}

static void take_message(struct btz_mcp_http_session *session, const struct btz_mcp_out *out)
{
    bool initialized = btz_str_is(out->method, btz_mcp_method_at(BTZ_MCP_N_INITIALIZED)->name);
    struct exchange *exchange;

    if (btz_str_is(out->method, btz_mcp_method_at(BTZ_MCP_N_CANCELLED)->name) &&
        take_cancel(session, out)) {
        return;
    }
    exchange = btz_mcp_http_exchange_new(session, out->kind == BTZ_MCP_REQUEST ? ROLE_REQUEST
                                                  : initialized                ? ROLE_INITIALIZED
                                                                               : ROLE_NOTE);
    copy_out(exchange, out);
    if (initialized) {
        session->gate = exchange->id;
    }
    if (btz_str_is(out->method, btz_mcp_method_at(BTZ_MCP_M_INITIALIZE)->name)) {
        btz_buf_reset(&session->initialize);
        btz_buf_add_str(&session->initialize, out->bytes);
        end_probe(session, exchange);
    }
}

/* Makes room: a server that never answers notifications must not stop the requests. */
static bool has_room(struct btz_mcp_http_session *session)
{
    if (session->exchange_count < session->options.max_exchanges) {
        return true;
    }
    for (struct exchange *e = session->exchanges; e; e = e->next) {
        if (e->role == ROLE_NOTE && e->state != EXCHANGE_QUEUED && e->state != EXCHANGE_GONE) {
            session->stats.refused_posts++;
            btz_mcp_http_exchange_drop(session, e, true);
            btz_mcp_http_reap(session);
            return true;
        }
    }
    return false;
}

void btz_mcp_http_take_out(struct btz_mcp_http_session *session)
{
    struct btz_mcp_out out;

    while (!session->ended && has_room(session) &&
           btz_mcp_client_next_out_full(session->client, &out)) {
        take_message(session, &out);
    }
}

bool btz_mcp_http_may_send(const struct btz_mcp_http_session *session,
                           const struct exchange *exchange)
{
    if (exchange->state != EXCHANGE_QUEUED) {
        return false;
    }
    if (exchange->role == ROLE_DELETE) {
        return true;
    }
    if (session->ended || session->challenged ||
        (session->renewing && exchange->role != ROLE_RENEW)) {
        return false;
    }
    if (session->gate && session->gate != exchange->id) {
        return false;
    }
    if (session->old && exchange->role != ROLE_STREAM && !session->endpoint.len) {
        return false;
    }
    if (session->held_for && exchange->role == ROLE_REQUEST) {
        return false;
    }
    return !exchange->waits_for_list;
}

struct fields {
    struct btz_http_field *items;
    size_t count;
};

static void add(struct fields *fields, struct btz_str name, struct btz_str value)
{
    fields->items[fields->count++] = (struct btz_http_field){name, value};
}

/* Mirrors of the body (specification 2026-07-28, "Streamable HTTP"). */
static void add_modern(struct btz_mcp_http_session *session, struct fields *fields,
                       const struct exchange *exchange)
{
    struct btz_str value;

    add(fields, BTZ_STR("MCP-Protocol-Version"),
        btz_str_of(btz_mcp_revision_text(exchange->revision)));
    add(fields, BTZ_STR("Mcp-Method"), exchange->method);
    /* A name that is too long to be mirrored goes without: the server says what it thinks of it. */
    if (exchange->name.len &&
        btz_mcp_header_encode(session->out, exchange->name, &value) == BTZ_OK) {
        add(fields, BTZ_STR("Mcp-Name"), value);
    }
    for (size_t i = 0; i < exchange->param_count; i++) {
        add(fields,
            btz_arena_printf(session->out, BTZ_MCP_PARAM_PREFIX "%.*s",
                             BTZ_FMT(exchange->params[i].name)),
            exchange->params[i].value);
    }
}

/* Session and version, once they are settled. */
static void add_legacy(struct btz_mcp_http_session *session, struct fields *fields,
                       const struct exchange *exchange)
{
    enum btz_mcp_revision revision = btz_mcp_client_revision(session->client);

    if (exchange->role == ROLE_RENEW || !revision) {
        return;
    }
    if (session->session_id.len) {
        add(fields, BTZ_STR("Mcp-Session-Id"),
            btz_arena_dup(session->out, btz_buf_view(&session->session_id)));
    }
    if (revision >= BTZ_MCP_2025_06_18) {
        add(fields, BTZ_STR("MCP-Protocol-Version"), btz_str_of(btz_mcp_revision_text(revision)));
    }
}

/* DELETE comes when the client is closed: it has no revision any more. */
static void add_delete(struct btz_mcp_http_session *session, struct fields *fields)
{
    enum btz_mcp_revision revision = session->client->revision;

    add(fields, BTZ_STR("Mcp-Session-Id"),
        btz_arena_dup(session->out, btz_buf_view(&session->session_id)));
    if (revision >= BTZ_MCP_2025_06_18) {
        add(fields, BTZ_STR("MCP-Protocol-Version"), btz_str_of(btz_mcp_revision_text(revision)));
    }
}

void btz_mcp_http_describe(struct btz_mcp_http_session *session, struct exchange *exchange,
                           struct btz_mcp_http_exchange *out)
{
    bool get = exchange->role == ROLE_STREAM || exchange->resuming;
    bool post = !get && exchange->role != ROLE_DELETE;
    struct fields fields = {.count = 0};

    btz_arena_reset(session->out);
    fields.items = btz_arena_array(session->out, exchange->param_count + 12, sizeof(*fields.items));
    add(&fields, BTZ_STR("Host"), session->options.host);
    if (post) {
        add(&fields, BTZ_STR("Accept"), BTZ_STR("application/json, text/event-stream"));
        add(&fields, BTZ_STR("Content-Type"), BTZ_STR("application/json"));
    } else if (get) {
        add(&fields, BTZ_STR("Accept"), BTZ_STR("text/event-stream"));
    }
    add(&fields, BTZ_STR("Accept-Encoding"), BTZ_STR("identity"));
    if (session->authorization.len) {
        add(&fields, BTZ_STR("Authorization"),
            btz_arena_dup(session->out, btz_buf_view(&session->authorization)));
    }
    if (exchange->role == ROLE_DELETE) {
        add_delete(session, &fields);
    } else if (exchange->kind == BTZ_MCP_REQUEST && post &&
               btz_mcp_era_of(exchange->revision) == BTZ_MCP_MODERN) {
        add_modern(session, &fields, exchange);
    } else {
        add_legacy(session, &fields, exchange);
    }
    if (get && exchange->last_id.len) {
        add(&fields, BTZ_STR("Last-Event-ID"),
            btz_arena_dup(session->out, btz_buf_view(&exchange->last_id)));
        session->stats.resumed++;
    }
    *out = (struct btz_mcp_http_exchange){
        .id = exchange->id,
        .method = post  ? BTZ_MCP_HTTP_POST
                  : get ? BTZ_MCP_HTTP_GET
                        : BTZ_MCP_HTTP_DELETE,
        .target = post && session->old
                      ? btz_arena_dup(session->out, btz_buf_view(&session->endpoint))
                      : session->options.target,
        .fields = fields.items,
        .field_count = fields.count,
        .body = post ? exchange->message : BTZ_STR_NONE,
        .long_lived = get || exchange->listen,
        .kind = exchange->kind,
        .rpc_id = post && exchange->rpc ? btz_mcp_id_int((int64_t)exchange->rpc)
                                        : (struct btz_mcp_id){.kind = BTZ_MCP_ID_NONE},
        .rpc_method = post ? exchange->method : BTZ_STR_NONE,
    };
}
