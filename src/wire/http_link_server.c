/* The server's end of an HTTP link, and the relay before it. */
#include "wire/http_link_int.h"

enum { LANE_MAX = 64 * 1024 * 1024 };

static void unlink_served(struct btz_http_link *link, struct served *served)
{
    struct served **at = &link->served;

    while (*at && *at != served) {
        at = &(*at)->next;
    }
    if (*at) {
        *at = served->next;
    }
}

void btz_http_link_served_free(struct btz_http_link *link, struct served *served)
{
    unlink_served(link, served);
    if (served->connection) {
        served->connection->serving = NULL;
        if (served->connection->own) {
            served->connection->gone = true;
        }
    }
    btz_buf_fini(&served->body);
    btz_buf_fini(&served->raw);
    btz_sse_parser_free(served->events);
    btz_arena_free(served->arena);
}

static struct btz_buf *lane_of(struct served *served)
{
    return &served->connection->lanes[END_CLIENT];
}

/* The server's end closes in the middle of things. */
static void cut(struct btz_http_link *link, struct served *served)
{
    served->connection->closing[END_SERVER] = true;
    btz_http_link_served_free(link, served);
}

static struct btz_http_relay_item item_of(const struct served *served,
                                          enum btz_http_relay_point point)
{
    return (struct btz_http_relay_item){.point = point,
                                        .exchange = served->id,
                                        .own =
                                            served->connection->own && !served->connection->fetch,
                                        .method = served->method,
                                        .target = served->target,
                                        .retry_ms = -1};
}

static enum btz_http_relay_verdict judge(struct btz_http_link *link,
                                         struct btz_http_relay_item *item)
{
    return link->relay ? link->relay(link->relay_context, link, item) : BTZ_RELAY_PASS;
}

static int no_http(struct btz_err *err, int rc, const char *what)
{
    return btz_err_set(err, rc, "the %s cannot be written as HTTP", what);
}

static int give_to_endpoint(struct btz_http_link *link, struct served *served,
                            const struct btz_http_relay_item *item, struct btz_err *err)
{
    struct btz_http_head head = {.method = item->method,
                                 .target = item->target,
                                 .fields = item->fields,
                                 .field_count = item->field_count,
                                 .content_length = item->body.len ? (int64_t)item->body.len : -1};
    int rc = btz_mcp_endpoint_request(link->endpoint, served->id, &head, item->body,
                                      served->connection->subject, link->now_us);

    if (rc != BTZ_OK) {
        return btz_err_set(err, rc, "the HTTP endpoint did not take a request");
    }
    served->asked = true;
    return BTZ_OK;
}

/* Sends a whole answer on its way back, past the relay. */
static int answer(struct btz_http_link *link, struct served *served,
                  const struct btz_http_relay_item *item, struct btz_err *err)
{
    int rc = BTZ_OK;

    if (served->connection->fetch) {
        btz_http_link_keep_fetched(link, served->id, item);
    } else if (!served->connection->own) {
        rc = btz_http_write_response(lane_of(served), item->status, item->fields, item->field_count,
                                     item->body);
    }
    btz_http_link_served_free(link, served);
    return rc == BTZ_OK ? rc : no_http(err, rc, "answer");
}

/* The site itself has the answer. */
static int front_answer(struct btz_http_link *link, struct served *served,
                        struct btz_http_relay_item item, struct btz_err *err)
{
    item.point = BTZ_RELAY_RESPONSE;
    if (judge(link, &item) == BTZ_RELAY_DROP) {
        cut(link, served);
        return BTZ_OK;
    }
    return answer(link, served, &item, err);
}

/* A whole request has arrived. */
static int request(struct btz_http_link *link, struct served *served, struct btz_err *err)
{
    struct btz_http_relay_item item = item_of(served, BTZ_RELAY_REQUEST);
    enum btz_http_relay_verdict verdict = BTZ_RELAY_PASS;

    item.fields = served->fields;
    item.field_count = served->field_count;
    item.body = btz_buf_view(&served->body);
    if (!item.own) {
        verdict = judge(link, &item);
    }
    switch (verdict) {
    case BTZ_RELAY_DROP:
        cut(link, served);
        return BTZ_OK;
    case BTZ_RELAY_ANSWER:
        return answer(link, served, &item, err);
    default:
        if (link->front && link->front(link->front_context, link, &item)) {
            return front_answer(link, served, item, err);
        }
        return give_to_endpoint(link, served, &item, err);
    }
}

/* The body is framed anew wherever the request goes. */
static bool is_framing(struct btz_http_field field)
{
    const struct btz_http_head head = {.fields = &field, .field_count = 1};
    size_t lengths;
    size_t codings;

    (void)btz_http_field_get(&head, "content-length", &lengths);
    (void)btz_http_field_get(&head, "transfer-encoding", &codings);
    return lengths || codings;
}

static struct served *new_served(struct btz_http_link *link, struct connection *connection,
                                 const struct btz_http_head *head)
{
    struct btz_arena *arena = btz_arena_new();
    struct served *served = BTZ_NEW(arena, struct served);
    struct btz_http_field *fields = btz_arena_array(arena, head->field_count + 1, sizeof(*fields));
    struct served **at = &link->served;

    served->arena = arena;
    served->connection = connection;
    served->id = connection->reserved ? connection->reserved : link->next_exchange++;
    served->method = btz_arena_dup(arena, head->method);
    served->target = btz_arena_dup(arena, head->target);
    served->fields = fields;
    for (size_t i = 0; i < head->field_count; i++) {
        if (!is_framing(head->fields[i])) {
            fields[served->field_count].name = btz_arena_dup(arena, head->fields[i].name);
            fields[served->field_count++].value = btz_arena_dup(arena, head->fields[i].value);
        }
    }
    btz_buf_init(&served->body, LANE_MAX);
    btz_buf_init(&served->raw, LANE_MAX);
    while (*at) {
        at = &(*at)->next;
    }
    *at = served;
    connection->serving = served;
    return served;
}

/* A request that is no HTTP: as any server, one answer and the end of the connection. */
static int refuse(struct connection *connection, struct btz_err *err)
{
    static const struct btz_http_field close_field = {BTZ_STR("Connection"), BTZ_STR("close")};
    int status = btz_http_parser_status(connection->requests);

    if (!connection->own &&
        btz_http_write_response(&connection->lanes[END_CLIENT], status ? status : 400, &close_field,
                                1, BTZ_STR_NONE) != BTZ_OK) {
        return no_http(err, BTZ_ELIMIT, "refusal");
    }
    connection->closing[END_SERVER] = true;
    return BTZ_OK;
}

int btz_http_link_serve(struct btz_http_link *link, struct connection *connection,
                        struct btz_str bytes, struct btz_err *err)
{
    enum btz_http_event event = BTZ_HTTP_MORE;
    struct btz_str body;

    do {
        int rc = btz_http_parser_next(connection->requests, &bytes, &event, &body, NULL);

        if (rc != BTZ_OK) {
            if (connection->serving) {
                btz_http_link_served_free(link, connection->serving);
            }
            return refuse(connection, err);
        }
        if (event == BTZ_HTTP_HEAD) {
            new_served(link, connection, btz_http_parser_head(connection->requests));
        } else if (event == BTZ_HTTP_BODY) {
            if (btz_buf_add_str(&connection->serving->body, body) != BTZ_OK) {
                return btz_err_set(err, BTZ_ELIMIT, "a request holds too many bytes");
            }
        } else if (event == BTZ_HTTP_END &&
                   (rc = request(link, connection->serving, err)) != BTZ_OK) {
            return rc;
        }
    } while (event != BTZ_HTTP_MORE);
    return BTZ_OK;
}

void btz_http_link_hang_up(struct btz_http_link *link, struct connection *connection)
{
    struct served *served = connection->serving;

    if (served) {
        if (served->asked) {
            btz_mcp_endpoint_closed(link->endpoint, served->id, link->now_us);
        }
        btz_http_link_served_free(link, served);
    }
    connection->gone = true;
}

static struct served *find_served(struct btz_http_link *link, uint64_t id)
{
    for (struct served *served = link->served; served; served = served->next) {
        if (served->id == id) {
            return served;
        }
    }
    return NULL;
}

/* Cuts the exchange as the relay wants it: the endpoint is told that nobody reads any more. */
static void drop(struct btz_http_link *link, struct served *served, bool over)
{
    if (!over) {
        btz_mcp_endpoint_closed(link->endpoint, served->id, link->now_us);
    }
    cut(link, served);
}

/* Whole response or head of a stream. */
static int respond(struct btz_http_link *link, struct served *served,
                   const struct btz_mcp_endpoint_out *out, struct btz_err *err)
{
    bool stream = out->kind == BTZ_MCP_OUT_STREAM;
    struct btz_http_relay_item item =
        item_of(served, stream ? BTZ_RELAY_STREAM : BTZ_RELAY_RESPONSE);
    enum btz_http_relay_verdict verdict;
    int rc = BTZ_OK;

    item.status = out->status;
    item.fields = out->fields;
    item.field_count = out->field_count;
    item.body = stream ? BTZ_STR_NONE : out->bytes;
    verdict = judge(link, &item);
    if (verdict == BTZ_RELAY_DROP) {
        drop(link, served, !stream);
        return BTZ_OK;
    }
    if (served->connection->fetch) {
        btz_http_link_keep_fetched(link, served->id, &item);
    } else if (!served->connection->own) {
        rc = stream ? btz_http_write_stream(lane_of(served), item.status, item.fields,
                                            item.field_count)
                    : btz_http_write_response(lane_of(served), item.status, item.fields,
                                              item.field_count, item.body);
    }
    if (rc != BTZ_OK) {
        return no_http(err, rc, "response");
    }
    if (stream) {
        served->streaming = true;
        served->events = link->relay ? btz_sse_parser_new(0) : NULL;
    } else {
        btz_http_link_served_free(link, served);
    }
    return BTZ_OK;
}

static int chunk(struct served *served, struct btz_str bytes, struct btz_err *err)
{
    int rc = served->connection->own || !bytes.len ? BTZ_OK
                                                   : btz_http_write_chunk(lane_of(served), bytes);

    return rc ? no_http(err, rc, "stream") : BTZ_OK;
}

static int write_event(struct served *served, const struct btz_http_relay_item *item)
{
    bool plain = btz_str_is(item->event, "message");
    struct btz_buf text;
    int rc;

    btz_buf_init(&text, LANE_MAX);
    rc = btz_sse_write(&text, plain ? BTZ_STR_NONE : item->event,
                       item->id.len ? item->id : BTZ_STR_NONE, item->retry_ms, item->body);
    if (rc == BTZ_OK) {
        rc = btz_http_write_chunk(lane_of(served), btz_buf_view(&text));
    }
    btz_buf_fini(&text);
    return rc;
}

/* One event; `raw` is how the server wrote it, with the comments before it. */
static int pass_event(struct btz_http_link *link, struct served *served,
                      const struct btz_sse_event *event, struct btz_str raw, struct btz_err *err)
{
    struct btz_http_relay_item item = item_of(served, BTZ_RELAY_EVENT);
    int rc;

    item.body = event->data;
    item.event = event->event;
    item.id = event->id;
    item.retry_ms = event->retry_ms;
    switch (judge(link, &item)) {
    case BTZ_RELAY_DROP:
        return BTZ_OK;
    case BTZ_RELAY_REPLACE:
        rc = served->connection->own ? BTZ_OK : write_event(served, &item);
        return rc ? no_http(err, rc, "relay's event") : BTZ_OK;
    default:
        return chunk(served, raw, err);
    }
}

static int stream_data(struct btz_http_link *link, struct served *served, struct btz_str bytes,
                       struct btz_err *err)
{
    struct btz_buf *raw = &served->raw;
    struct btz_sse_event event;
    int rc;

    if (!served->events) {
        return chunk(served, bytes, err);
    }
    if (btz_buf_add_str(raw, bytes) != BTZ_OK) {
        return btz_err_set(err, BTZ_ELIMIT, "an event holds too many bytes");
    }
    while ((rc = btz_sse_parser_next(served->events, &bytes, &event, err)) == BTZ_OK) {
        size_t taken = raw->len - bytes.len;

        rc = pass_event(link, served, &event, (struct btz_str){raw->ptr, taken}, err);
        if (rc != BTZ_OK) {
            return rc;
        }
        btz_buf_consume(raw, taken);
    }
    if (rc == BTZ_EAGAIN && raw->len && raw->ptr[0] == ':' && raw->ptr[raw->len - 1] == '\n') {
        rc = chunk(served, btz_buf_view(raw), err); /* comments need no verdict */
        btz_buf_reset(raw);
        return rc;
    }
    return rc == BTZ_EAGAIN ? BTZ_OK : rc;
}

static int stream_end(struct btz_http_link *link, struct served *served, struct btz_err *err)
{
    int rc = chunk(served, btz_buf_view(&served->raw), err);

    if (rc == BTZ_OK && !served->connection->own && btz_http_write_end(lane_of(served)) != BTZ_OK) {
        rc = no_http(err, BTZ_ELIMIT, "end of a stream");
    }
    btz_http_link_served_free(link, served);
    return rc;
}

int btz_http_link_take_out(struct btz_http_link *link, struct btz_err *err)
{
    struct btz_mcp_endpoint_out out;
    int rc = BTZ_OK;

    while (rc == BTZ_OK && btz_mcp_endpoint_next_out(link->endpoint, &out)) {
        struct served *served = find_served(link, out.exchange);

        link->moved = true;
        if (!served) {
            continue; /* dropped by the relay while this waited */
        }
        switch (out.kind) {
        case BTZ_MCP_OUT_RESPONSE:
        case BTZ_MCP_OUT_STREAM:
            rc = respond(link, served, &out, err);
            break;
        case BTZ_MCP_OUT_STREAM_DATA:
            rc = stream_data(link, served, out.bytes, err);
            break;
        case BTZ_MCP_OUT_STREAM_END:
            rc = stream_end(link, served, err);
            break;
        default:
            cut(link, served);
            break;
        }
    }
    return rc;
}

int btz_http_link_inject_event(struct btz_http_link *link, uint64_t exchange, struct btz_str event,
                               struct btz_str id, int64_t retry_ms, struct btz_str data)
{
    struct served *served = find_served(link, exchange);
    const struct btz_http_relay_item item = {
        .event = event.len ? event : BTZ_STR("message"),
        .id = id,
        .retry_ms = retry_ms,
        .body = data,
    };

    if (!served || !served->streaming || served->connection->own) {
        return BTZ_ENOTFOUND;
    }
    return write_event(served, &item);
}

int btz_http_link_end_replay(struct btz_http_link *link, uint64_t exchange)
{
    struct served *served = find_served(link, exchange);

    if (!served || !served->connection->own) {
        return BTZ_ENOTFOUND;
    }
    served->connection->closing[END_CLIENT] = true;
    return BTZ_OK;
}
