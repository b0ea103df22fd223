/* The HTTP side of a play. */
#include "arena/site.h"

#include <openssl/rand.h>
#include <stdlib.h>

#include "arena/llm_proxy.h"
#include "lab/serve.h"
#include "mcp/endpoint.h"
#include "net/http_server.h"

enum {
    MAX_CONNECTIONS = 256,
    MAX_OPEN = 2 * MAX_CONNECTIONS,
    SECRET_BYTES = 32,
    MAX_ANSWER = 1024 * 1024
};

struct place { /* of one server */
    struct btz_mcp_endpoint *endpoint;
    struct btz_str path; /* "/mailroom/mcp" */
    struct btz_str url;
};

/* Exchanges that an endpoint has not ended. */
struct open {
    uint64_t exchange; /* 0 = free */
    size_t server;
};

struct btz_site {
    struct btz_arena *arena;
    struct btz_net_loop *loop;
    struct btz_play *play;
    struct btz_net_http_server *server;
    struct btz_llm_proxy *proxy; /* or NULL */
    struct place *places;
    size_t count;
    size_t page_size;
    struct btz_str url;
    struct open open[MAX_OPEN];
};

/* ---- Making ---- */

struct btz_str btz_site_label_path(struct btz_arena *arena, struct btz_str label)
{
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    struct btz_buf out;
    struct btz_str path;

    btz_buf_init(&out, 65536);
    for (size_t i = 0; i < label.len; i++) {
        unsigned char byte = (unsigned char)label.ptr[i];

        if (byte && strchr(plain, byte)) {
            (void)btz_buf_add_byte(&out, (char)byte);
        } else {
            (void)btz_buf_printf(&out, "%%%02X", byte);
        }
    }
    path = btz_arena_dup(arena, btz_buf_view(&out));
    btz_buf_fini(&out);
    return path;
}

static int make_endpoint(struct btz_site *site, size_t index, struct btz_err *err)
{
    char secret[SECRET_BYTES];
    struct btz_mcp_catalogue catalogue =
        btz_stage_catalogue(site->arena, btz_stage_server_at(btz_play_stage(site->play), index));
    struct btz_mcp_endpoint_options options = {
        .server = btz_play_server_options(site->play, index, site->page_size),
        .id_secret = {secret, sizeof(secret)}};

    if (RAND_bytes((unsigned char *)secret, sizeof(secret)) != 1) {
        return btz_err_set(err, BTZ_EINTERNAL, "there are no random bytes for session ids");
    }
    return btz_mcp_endpoint_new(&options, &catalogue, &site->places[index].endpoint, err);
}

static bool path_is_taken(const struct btz_site *site, size_t count, struct btz_str path)
{
    for (size_t i = 0; i < count; i++) {
        if (btz_str_eq(site->places[i].path, path)) {
            return true;
        }
    }
    return false;
}

static int make_places(struct btz_site *site, struct btz_err *err)
{
    struct btz_stage *stage = btz_play_stage(site->play);

    site->count = btz_stage_server_count(stage);
    site->places = btz_arena_array(site->arena, site->count, sizeof(*site->places));
    for (size_t i = 0; i < site->count; i++) {
        struct btz_str label =
            btz_site_label_path(site->arena, btz_stage_server_at(stage, i)->label);
        int rc = make_endpoint(site, i, err);

        if (rc != BTZ_OK) {
            return rc;
        }
        site->places[i].path = btz_arena_printf(site->arena, "/%.*s/mcp", BTZ_FMT(label));
        if (path_is_taken(site, i, site->places[i].path)) { /* two servers of one label */
            site->places[i].path =
                btz_arena_printf(site->arena, "/%.*s-%zu/mcp", BTZ_FMT(label), i + 1);
        }
        site->places[i].url = btz_arena_printf(site->arena, "%.*s%.*s", BTZ_FMT(site->url),
                                               BTZ_FMT(site->places[i].path));
    }
    return BTZ_OK;
}

static int listen_on(struct btz_site *site, const struct btz_site_options *options,
                     struct btz_err *err)
{
    struct btz_net_http_server_options http = {.address =
                                                   btz_arena_cstr(site->arena, options->address),
                                               .port = options->port,
                                               .max_connections = MAX_CONNECTIONS};
    bool six = btz_str_is(options->address, "::1");
    int rc;

    if (!six && !btz_str_is(options->address, "127.0.0.1")) {
        return btz_err_set(err, BTZ_EUSAGE,
                           "the arena listens on 127.0.0.1 or [::1] only: its servers have no "
                           "authentication");
    }
    rc = btz_net_http_server_new(site->loop, &http, &site->server, err);
    if (rc == BTZ_OK) {
        site->url = btz_arena_printf(site->arena, "http://%s:%u", six ? "[::1]" : "127.0.0.1",
                                     (unsigned)btz_net_http_server_port(site->server));
    }
    return rc;
}

int btz_site_new(struct btz_net_loop *loop, struct btz_play *play,
                 const struct btz_site_options *options, struct btz_site **out, struct btz_err *err)
{
    struct btz_arena *arena = btz_arena_new();
    struct btz_site *site = BTZ_NEW(arena, struct btz_site);
    int rc;

    site->arena = arena;
    site->loop = loop;
    site->play = play;
    site->page_size = options->page_size;
    rc = listen_on(site, options, err);
    if (rc == BTZ_OK) {
        rc = make_places(site, err);
    }
    if (rc == BTZ_OK && options->model.len) {
        rc = btz_llm_proxy_new(loop, play, options->model, &site->proxy, err);
    }
    if (rc != BTZ_OK) {
        btz_site_free(site);
        return rc;
    }
    *out = site;
    return BTZ_OK;
}

void btz_site_free(struct btz_site *site)
{
    if (!site) {
        return;
    }
    btz_llm_proxy_free(site->proxy);
    btz_net_http_server_free(site->server);
    for (size_t i = 0; site->places && i < site->count; i++) {
        btz_mcp_endpoint_free(site->places[i].endpoint);
    }
    btz_arena_free(site->arena);
}

uint16_t btz_site_port(const struct btz_site *site)
{
    return btz_net_http_server_port(site->server);
}

struct btz_str btz_site_url(const struct btz_site *site)
{
    return site->url;
}

struct btz_str btz_site_server_url(const struct btz_site *site, size_t server)
{
    return site->places[server].url;
}

/* ---- Control ---- */

static void answer_json(struct btz_site *site, uint64_t exchange, int status,
                        struct btz_arena *arena, const struct btz_json *value)
{
    static const struct btz_http_field fields[] = {
        {BTZ_STR("Content-Type"), BTZ_STR("application/json")},
        {BTZ_STR("Cache-Control"), BTZ_STR("no-store")}};
    struct btz_str text = btz_json_text(arena, value);

    /* Whoever is gone by now needs no answer. */
    (void)!btz_net_http_server_respond(site->server, exchange, status, fields, 2, text);
}

static void answer_error(struct btz_site *site, uint64_t exchange, int status, const char *text)
{
    struct btz_arena *arena = btz_arena_new();
    struct btz_json *body = btz_json_new_object(arena);

    btz_json_set_strz(arena, body, "error", text);
    answer_json(site, exchange, status, arena, body);
    btz_arena_free(arena);
}

/* Host is loopback (so that no foreign name that resolves here is served), and a page of a browser
 * may ask only if this very server gave it out. */
static bool is_local(struct btz_arena *arena, const struct btz_http_head *head)
{
    static const char *const names[] = {"127.0.0.1", "localhost", "[::1]"};
    size_t origins = 0;
    struct btz_str host = btz_http_field_get(head, "Host", NULL);
    struct btz_str origin = btz_http_field_get(head, "Origin", &origins);

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct btz_str name = btz_str_of(names[i]);

        if (btz_str_starts(host, name) && (host.len == name.len || host.ptr[name.len] == ':')) {
            return !origins ||
                   btz_str_eq(origin, btz_arena_printf(arena, "http://%.*s", BTZ_FMT(host)));
        }
    }
    return false;
}

static struct btz_json *task_json(struct btz_site *site, struct btz_arena *arena)
{
    struct btz_json *task = btz_json_new_object(arena);

    btz_json_set_int(arena, task, "turn", (int64_t)btz_play_turn(site->play));
    btz_json_set_int(arena, task, "turns", (int64_t)btz_play_turn_count(site->play));
    btz_json_set_int(arena, task, "session", btz_play_session(site->play));
    btz_json_set_str(arena, task, "text", btz_play_turn_text(site->play));
    return task;
}

static void give_verdict(struct btz_site *site, uint64_t exchange, struct btz_arena *arena)
{
    struct btz_json *verdict = NULL;
    struct btz_err err;

    if (btz_play_verdict_json(site->play, arena, &verdict, &err) != BTZ_OK) {
        answer_error(site, exchange, 500, err.msg);
    } else {
        answer_json(site, exchange, 200, arena, verdict);
    }
}

static void give_trajectory(struct btz_site *site, uint64_t exchange, struct btz_arena *arena)
{
    struct btz_json *record = btz_json_new_object(arena);

    btz_json_setz(arena, record, "trajectory", btz_play_trajectory(site->play));
    btz_json_setz(arena, record, "journal", btz_play_journal(site->play));
    answer_json(site, exchange, 200, arena, record);
}

static void go_on(struct btz_site *site, uint64_t exchange, struct btz_arena *arena)
{
    struct btz_err err;
    int rc = btz_site_next_turn(site, &err);

    if (rc == BTZ_OK) {
        answer_json(site, exchange, 200, arena, task_json(site, arena));
    } else {
        answer_error(site, exchange, rc == BTZ_ENOTFOUND ? 409 : 500, err.msg);
    }
}

/* False: no such path. */
static bool control(struct btz_site *site, const struct btz_net_http_server_event *event,
                    struct btz_str path, struct btz_arena *arena)
{
    static const char *const paths[] = {"/task", "/verdict", "/trajectory", "/next", "/answer"};
    size_t which = 0;

    while (which < 5 && !btz_str_is(path, paths[which])) {
        which++;
    }
    if (which == 5) {
        return false;
    }
    if (!btz_str_is(event->head->method, which >= 3 ? "POST" : "GET")) {
        answer_error(site, event->exchange, 405, which >= 3 ? "use POST" : "use GET");
    } else if (!btz_play_turn_count(site->play)) {
        answer_error(site, event->exchange, 404, "the arena was started without --scenario");
    } else if (which == 0) {
        answer_json(site, event->exchange, 200, arena, task_json(site, arena));
    } else if (which == 1) {
        give_verdict(site, event->exchange, arena);
    } else if (which == 2) {
        give_trajectory(site, event->exchange, arena);
    } else if (which == 3) {
        go_on(site, event->exchange, arena);
    } else if (event->body.len > MAX_ANSWER) {
        answer_error(site, event->exchange, 413, "an answer has at most 1 MiB");
    } else {
        btz_play_answer(site->play, event->body);
        give_verdict(site, event->exchange, arena);
    }
    return true;
}

static void to_model(struct btz_site *site, const struct btz_net_http_server_event *event,
                     struct btz_str path)
{
    switch (btz_llm_proxy_request(site->proxy, event->exchange, event->head, path, event->body)) {
    case BTZ_OK:
        break;
    case BTZ_ENOTFOUND:
        answer_error(site, event->exchange, 404, "the way to the model has no such path");
        break;
    case BTZ_EUNSUPPORTED:
        answer_error(site, event->exchange, 405, "not with this method");
        break;
    case BTZ_ELIMIT:
        answer_error(site, event->exchange, 503, "too many requests at once");
        break;
    default:
        answer_error(site, event->exchange, 400, "this request cannot be passed on");
        break;
    }
}

/* ---- Servers ---- */

static bool to_server(struct btz_site *site, const struct btz_net_http_server_event *event,
                      struct btz_str path)
{
    for (size_t i = 0; i < site->count; i++) {
        size_t slot = 0;

        if (!btz_str_eq(path, site->places[i].path)) {
            continue;
        }
        while (slot < MAX_OPEN && site->open[slot].exchange) {
            slot++;
        }
        if (slot == MAX_OPEN || btz_mcp_endpoint_request(site->places[i].endpoint, event->exchange,
                                                         event->head, event->body, BTZ_STR(""),
                                                         btz_net_loop_now(site->loop)) != BTZ_OK) {
            answer_error(site, event->exchange, 503, "too much is under way");
        } else {
            site->open[slot] = (struct open){event->exchange, i};
        }
        return true;
    }
    return false;
}

static struct open *find_open(struct btz_site *site, uint64_t exchange)
{
    for (size_t i = 0; i < MAX_OPEN; i++) {
        if (site->open[i].exchange == exchange) {
            return &site->open[i];
        }
    }
    return NULL;
}

static void closed(struct btz_site *site, uint64_t exchange)
{
    struct open *open = find_open(site, exchange);

    if (open) {
        btz_mcp_endpoint_closed(site->places[open->server].endpoint, exchange,
                                btz_net_loop_now(site->loop));
        open->exchange = 0;
    } else if (site->proxy) {
        btz_llm_proxy_closed(site->proxy, exchange);
    }
}

static void take_request(struct btz_site *site, const struct btz_net_http_server_event *event)
{
    struct btz_arena *arena = btz_arena_new();
    struct btz_str target = event->head->target;
    struct btz_str path = target;

    (void)btz_str_cut(&target, '?', &path);
    if (to_server(site, event, path)) {
        /* its endpoint judges Host and Origin by itself */
    } else if (!is_local(arena, event->head)) {
        answer_error(site, event->exchange, 403, "this Host or Origin is not served");
    } else if (site->proxy && btz_str_starts(path, BTZ_STR("/llm/v1/"))) {
        to_model(site, event, btz_str_sub(path, 7, path.len));
    } else if (!control(site, event, path, arena)) {
        answer_error(site, event->exchange, 404, "there is no such path");
    }
    btz_arena_free(arena);
}

/* Gives one thing of an endpoint to the connection; what it does not take is over. */
static void put_out(struct btz_site *site, size_t server, const struct btz_mcp_endpoint_out *out)
{
    uint64_t exchange = out->exchange;
    struct open *open = find_open(site, exchange);
    int rc = BTZ_OK;

    if (!open) {
        return;
    }
    switch (out->kind) {
    case BTZ_MCP_OUT_RESPONSE:
        btz_play_sent(site->play, server, out->bytes);
        rc = btz_net_http_server_respond(site->server, exchange, out->status, out->fields,
                                         out->field_count, out->bytes);
        open->exchange = 0;
        break;
    case BTZ_MCP_OUT_STREAM:
        rc = btz_net_http_server_stream(site->server, exchange, out->status, out->fields,
                                        out->field_count);
        break;
    case BTZ_MCP_OUT_STREAM_DATA:
        btz_play_sent(site->play, server, out->bytes);
        rc = btz_net_http_server_chunk(site->server, exchange, out->bytes);
        break;
    case BTZ_MCP_OUT_STREAM_END:
        rc = btz_net_http_server_end(site->server, exchange);
        open->exchange = 0;
        break;
    default:
        btz_net_http_server_abort(site->server, exchange);
        open->exchange = 0;
        break;
    }
    if (rc != BTZ_OK && open->exchange) {
        closed(site, exchange);
    }
}

static void announce(struct btz_site *site)
{
    struct btz_stage *stage = btz_play_stage(site->play);

    if (btz_play_take_new_lists(site->play)) {
        for (size_t i = 0; i < site->count; i++) {
            struct btz_arena *arena = btz_arena_new();
            struct btz_mcp_catalogue catalogue =
                btz_stage_catalogue(arena, btz_stage_server_at(stage, i));

            /* A catalogue of a stage is always of the same kinds: it cannot be refused. */
            (void)!btz_mcp_endpoint_set_catalogue(site->places[i].endpoint, &catalogue, NULL);
            btz_arena_free(arena);
        }
    }
    for (size_t i = 0; i < site->count; i++) {
        const struct btz_json *resources = btz_stage_server_at(stage, i)->resources;

        if (!btz_play_take_new_world(site->play, i)) {
            continue;
        }
        for (size_t r = 0; r < btz_json_count(resources); r++) {
            btz_mcp_endpoint_resource_updated(
                site->places[i].endpoint,
                btz_json_str(btz_json_getz(btz_json_at(resources, r), "uri")));
        }
    }
}

static bool serve(struct btz_site *site, size_t index)
{
    struct btz_mcp_endpoint *endpoint = site->places[index].endpoint;
    struct btz_mcp_server_event event;
    struct btz_mcp_endpoint_out out;
    uint64_t handle;
    bool any = false;

    while (btz_mcp_endpoint_next_event(endpoint, &handle, &event)) {
        struct btz_mcp_server *machine = btz_mcp_endpoint_server(endpoint, handle);

        any = true;
        if (machine) {
            btz_play_serve(site->play, index, machine, &event);
            announce(site);
        }
    }
    while (btz_mcp_endpoint_next_out(endpoint, &out)) {
        any = true;
        put_out(site, index, &out);
    }
    return any;
}

void btz_site_step(struct btz_site *site)
{
    struct btz_net_http_server_event event;
    bool any;

    do {
        any = false;
        while (btz_net_http_server_next(site->server, &event)) {
            any = true;
            if (event.kind == BTZ_NET_HTTP_REQUEST) {
                take_request(site, &event);
            } else {
                closed(site, event.exchange);
            }
        }
        for (size_t i = 0; i < site->count; i++) {
            btz_mcp_endpoint_tick(site->places[i].endpoint, btz_net_loop_now(site->loop));
            any |= serve(site, i);
        }
        if (site->proxy) {
            btz_llm_proxy_step(site->proxy, site->server);
        }
    } while (any);
    for (size_t i = 0; i < site->count; i++) {
        int64_t due = btz_mcp_endpoint_due(site->places[i].endpoint);

        if (due >= 0) {
            btz_net_loop_wake_at(site->loop, due);
        }
    }
}

/* Fresh connections: streams break off, and the ids of all sessions are unknown from now on, which
 * tells clients to begin anew (specification 2025-11-25, "Session Management"). */
static int renew(struct btz_site *site, size_t index, struct btz_err *err)
{
    for (size_t i = 0; i < MAX_OPEN; i++) {
        if (site->open[i].exchange && site->open[i].server == index) {
            btz_net_http_server_abort(site->server, site->open[i].exchange);
            site->open[i].exchange = 0;
        }
    }
    btz_mcp_endpoint_free(site->places[index].endpoint);
    site->places[index].endpoint = NULL;
    return make_endpoint(site, index, err);
}

int btz_site_next_turn(struct btz_site *site, struct btz_err *err)
{
    bool reconnect = false;
    int rc = btz_play_next_turn(site->play, &reconnect, err);

    if (rc != BTZ_OK) {
        return rc;
    }
    for (size_t i = 0; reconnect && rc == BTZ_OK && i < site->count; i++) {
        rc = renew(site, i, err);
    }
    if (rc == BTZ_OK) {
        announce(site);
    }
    return rc;
}
