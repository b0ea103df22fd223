/* A gateway of somebody else as the defence (`proxy:COMMAND`, `proxy:URL`): every connection of the
 * trial goes through it, and what it did is found by comparing what the server's end sent with what
 * the client's end got. The waits of wire/gateway.h happen inside the step, with deadlines. */
#include "base/clock.h"
#include "trial/trial_int.h"

enum {
    HANDSHAKE_MS = 20000, /* from the start of the gateway's program on */
    REQUEST_MS = 15000,
    NOTICE_MS = 2000, /* for a changed list to be announced through the gateway */
    MAX_ROUNDS = 100  /* of taking in what nobody waits for */
};

static int64_t limit_us(int64_t given_us, int64_t default_ms)
{
    return given_us > 0 ? given_us : default_ms * 1000;
}

static int make_gateway(struct btz_trial *trial, struct btz_err *err)
{
    const struct btz_proxy *proxy = &trial->options.defence.proxy;
    struct btz_gateway_options options = {.target = proxy->target,
                                          .program = proxy->program,
                                          .address = proxy->address,
                                          .port = proxy->port};

    return trial->gateway ? BTZ_OK : btz_gateway_new(&options, &trial->gateway, err);
}

int gate_open(struct btz_trial *trial, struct conn *conn,
              const struct btz_mcp_client_options *client,
              const struct btz_mcp_catalogue *catalogue, struct btz_err *err)
{
    struct btz_gateway_conn_options options = {.tag = conn,
                                               .id = conn->server->id,
                                               .client = *client,
                                               .http = carry_http_client(trial, client),
                                               .server = carry_http_server(trial, conn)};
    int64_t begun = btz_clock_mono_us();
    int rc = make_gateway(trial, err);

    if (rc == BTZ_OK) {
        rc = btz_gateway_open(trial->gateway, &options, catalogue, &conn->gate, err);
    }
    if (rc != BTZ_OK) {
        btz_err_prefix(err,
                       "server %.*s: the gateway did not start: ", BTZ_FMT(conn->server->label));
        return rc;
    }
    conn->client = btz_gateway_client(conn->gate);
    trial->record.guarding.took_us += btz_clock_mono_us() - begun;
    return BTZ_OK;
}

void gate_close(struct conn *conn)
{
    btz_gateway_close(conn->gate);
    conn->gate = NULL;
    conn->client = NULL;
}

/* What a server of the trial answers, whoever of the gateway's side asks. */
static int serve(struct btz_trial *trial, int64_t *own_us, struct btz_err *err)
{
    struct btz_mcp_server_event event;
    struct btz_mcp_server *machine = NULL;
    void *tag = NULL;

    while (btz_gateway_next_event(trial->gateway, &tag, &machine, &event)) {
        int64_t begun = btz_clock_mono_us();
        struct conn *conn = tag;
        int rc = BTZ_OK;

        if (event.kind != BTZ_MCP_SERVER_CANCELLED) {
            conn->asked_server = true;
            if (event.kind == BTZ_MCP_SERVER_CALL) {
                conn->got_arguments = btz_json_dup(trial->arena, event.arguments);
            }
            rc = carry_serve(trial, conn, machine, &event, err);
        }
        *own_us += btz_clock_mono_us() - begun;
        if (rc != BTZ_OK) {
            return rc;
        }
    }
    return BTZ_OK;
}

static void take_client_events(struct btz_trial *trial)
{
    for (size_t i = 0; i < trial->conn_count; i++) {
        struct conn *conn = &trial->conns[i];
        struct btz_mcp_client_event event;

        if (!conn->gate) {
            continue;
        }
        conn->client = btz_gateway_client(conn->gate);
        while (btz_mcp_client_next_event(conn->client, &event)) {
            carry_client_event(trial, conn, &event);
        }
    }
}

/* A gateway that broke is recorded once; the connection is of no use from then on. */
static void note_broken(struct btz_trial *trial, struct conn *conn)
{
    struct btz_str why = btz_gateway_broken(conn->gate);
    struct btz_json *payload;

    if (!why.len || conn->lost.len) {
        return;
    }
    conn->lost = BTZ_STR("the connection to the server was lost");
    payload = btz_json_new_object(trial->arena);
    btz_json_set_strz(trial->arena, payload, "target", "gateway");
    btz_json_set_strz(trial->arena, payload, "action", "fail");
    btz_json_set_str(trial->arena, payload, "server", conn->server->id);
    btz_json_set_str(trial->arena, payload, "text",
                     btz_arena_printf(trial->arena, "%.*s%.*s", BTZ_FMT(why),
                                      BTZ_FMT(btz_gateway_remarks(conn->gate, trial->arena))));
    trial_event_json(trial, BTZ_LAYER_GUARD, "broken", false, payload);
}

/* Moves messages until `*over` is true or `until_us` has passed; then takes in what waits. */
static int settle(struct btz_trial *trial, struct conn *conn, const bool *over, const bool *also,
                  int64_t until_us, struct btz_err *err)
{
    int64_t begun = btz_clock_mono_us();
    int64_t end_us = trial->options.defence.proxy.until_us;
    int64_t own_us = 0;
    int rounds = 0;
    int rc = BTZ_OK;

    while (rc == BTZ_OK && rounds < MAX_ROUNDS) {
        bool is_over = *over || *also || conn->lost.len || conn->queries;
        int moved = btz_gateway_wait(trial->gateway, is_over                       ? 0
                                                     : end_us && end_us < until_us ? end_us
                                                                                   : until_us);

        if (!is_over && end_us && btz_clock_mono_us() >= end_us) {
            rc = btz_err_set(err, BTZ_ECANCELLED, "out of time while a gateway was waited for");
        } else if (moved == BTZ_ECANCELLED) {
            rc = btz_err_set(err, BTZ_ECANCELLED, "interrupted while a gateway was waited for");
        } else if (moved == BTZ_EAGAIN) {
            break;
        } else {
            rc = serve(trial, &own_us, err);
            take_client_events(trial);
            note_broken(trial, conn);
            rounds += is_over || btz_clock_mono_us() >= until_us ? 1 : 0;
        }
    }
    trial->record.guarding.took_us += btz_clock_mono_us() - begun - own_us;
    return rc;
}

/* Why there is no handshake, with all that is known: a person has to mend it. */
static void explain(struct btz_trial *trial, struct conn *conn, int64_t limit)
{
    struct btz_str remarks = btz_gateway_remarks(conn->gate, trial->arena);
    struct btz_str broken = btz_gateway_broken(conn->gate);

    if (broken.len) {
        conn->failure =
            btz_arena_printf(trial->arena, "%.*s%.*s", BTZ_FMT(broken), BTZ_FMT(remarks));
    } else if (conn->answered) {
        conn->failure = btz_arena_printf(trial->arena, "the gateway answered: %.*s%.*s",
                                         BTZ_FMT(conn->failure), BTZ_FMT(remarks));
    } else {
        conn->failure = btz_arena_printf(trial->arena, "the gateway gave none within %lld ms%.*s",
                                         (long long)(limit / 1000), BTZ_FMT(remarks));
    }
    conn->lost = BTZ_STR_NONE;
}

int gate_settle(struct btz_trial *trial, struct conn *conn, struct btz_err *err)
{
    const struct btz_proxy *proxy = &trial->options.defence.proxy;
    bool handshake = !conn->awaiting; /* or nothing that is waited for */
    int64_t limit = handshake ? limit_us(proxy->handshake_us, HANDSHAKE_MS)
                              : limit_us(proxy->request_us, REQUEST_MS);
    int rc = settle(trial, conn, &conn->answered, handshake ? &conn->ready : &conn->answered,
                    btz_clock_mono_us() + limit, err);

    if (rc == BTZ_OK && handshake && !conn->ready) {
        explain(trial, conn, limit);
    }
    return rc;
}

int gate_update(struct btz_trial *trial, struct conn *conn,
                const struct btz_mcp_catalogue *catalogue, struct btz_err *err)
{
    bool told = false;
    bool no = false;
    int rc = btz_gateway_set_catalogue(conn->gate, catalogue, &told, err);

    if (rc != BTZ_OK || !told) {
        return rc; /* a gateway that did not listen hears nothing, and neither does the client */
    }
    return settle(trial, conn, &conn->lists_stale, &no, btz_clock_mono_us() + NOTICE_MS * 1000LL,
                  err);
}

bool gate_is_lost(const struct conn *conn)
{
    return conn->gate && conn->lost.len > 0;
}

/* ---- What it did ---- */

static void record(struct btz_trial *trial, const struct conn *conn, enum btz_guard_target target,
                   struct btz_str name, const char *verdict, bool blocked)
{
    trial->record.guarding.detected++;
    defend_record(trial, target, conn->server->id, name, NULL, verdict, blocked);
}

static void failed(struct btz_trial *trial, const struct conn *conn, enum btz_guard_target target,
                   struct btz_str name)
{
    struct btz_json *details = btz_json_new_object(trial->arena);

    trial->record.guarding.scans++; /* what was to be judged, and never came */
    trial->record.guarding.failed++;
    btz_json_set_str(trial->arena, details, "text", conn->failure);
    defend_record(trial, target, conn->server->id, name, details, "failed", false);
}

/* The item of a list that has this name or URI. */
static const struct btz_json *find(const struct btz_json *list, const char *key,
                                   struct btz_str name)
{
    for (size_t i = 0; i < btz_json_count(list); i++) {
        if (btz_str_eq(btz_json_str(btz_json_getz(btz_json_at(list, i), key)), name)) {
            return btz_json_at(list, i);
        }
    }
    return NULL;
}

/* Only what a model or person reads counts: software on the way adds and drops other members. */
static bool differs(const struct btz_json *sent, const struct btz_json *got)
{
    static const char *const fields[] = {"title", "description", "inputSchema"};

    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        const struct btz_json *a = btz_json_getz(sent, fields[i]);
        const struct btz_json *b = btz_json_getz(got, fields[i]);

        if ((a || b) && !(a && b && btz_json_equal(a, b))) {
            return true;
        }
    }
    return false;
}

void gate_listed(struct btz_trial *trial, struct conn *conn, enum btz_guard_target target,
                 const struct btz_json *sent)
{
    const char *key = target == BTZ_GUARD_RESOURCE ? "uri" : "name";

    if (!conn->gate) {
        return;
    }
    if (!conn->answer) {
        failed(trial, conn, target, BTZ_STR("*"));
        return;
    }
    trial->record.guarding.scans++;
    for (size_t i = 0; i < btz_json_count(sent); i++) {
        struct btz_str name = btz_json_str(btz_json_getz(btz_json_at(sent, i), key));
        const struct btz_json *got = find(conn->answer, key, name);

        if (!got) {
            record(trial, conn, target, name, "withheld", true);
        } else if (differs(btz_json_at(sent, i), got)) {
            record(trial, conn, target, name, "changed", false);
        }
    }
}

static bool is_error(const struct btz_json *result)
{
    return btz_json_bool(btz_json_getz(result, "isError"), false);
}

static bool result_differs(const struct btz_json *sent, const struct btz_json *got)
{
    static const char *const fields[] = {"content", "structuredContent", "contents", "messages"};

    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        const struct btz_json *a = btz_json_getz(sent, fields[i]);
        const struct btz_json *b = btz_json_getz(got, fields[i]);

        if ((a || b) && !(a && b && btz_json_equal(a, b))) {
            return true;
        }
    }
    return false;
}

static bool same_arguments(const struct btz_json *sent, const struct btz_json *got)
{
    return btz_json_equal(sent, got) || (btz_json_count(sent) == 0 && btz_json_count(got) == 0);
}

void gate_answered(struct btz_trial *trial, struct conn *conn, enum btz_guard_target target,
                   struct btz_str name, const struct btz_json *arguments)
{
    bool refused;

    if (!conn->gate) {
        return;
    }
    if (conn->got_arguments && arguments && !same_arguments(arguments, conn->got_arguments)) {
        /* The call that the model made was not made. */
        record(trial, conn, BTZ_GUARD_ARGUMENT, name, "changed", true);
    }
    if (!conn->answer && conn->fault != BTZ_MCP_FAULT_REMOTE) {
        failed(trial, conn, target, name);
        return;
    }
    trial->record.guarding.scans++;
    refused = !conn->answer || is_error(conn->answer);
    if (!conn->asked_server) {
        if (refused) {
            record(trial, conn, target, name, "refused", true);
        } /* else it knew the answer */
    } else if (conn->served && !is_error(conn->served) && refused) {
        record(trial, conn, target, name, "replaced", true);
    } else if (conn->served && conn->answer && result_differs(conn->served, conn->answer)) {
        record(trial, conn, target, name, "changed", false);
    }
}

struct btz_str gate_raw(struct btz_trial *trial, const struct conn *conn)
{
    const struct btz_json *sent = conn->served ? conn->served : conn->answer;

    return sent ? btz_json_text(trial->arena, sent) : BTZ_STR_NONE;
}

const struct btz_json *gate_sent(const struct conn *conn)
{
    return conn->gate ? conn->server->tools : conn->tools;
}

struct btz_str gate_sent_instructions(const struct conn *conn)
{
    return conn->gate ? conn->server->instructions : conn->instructions;
}

const struct btz_json *gate_shown(const struct conn *conn, struct btz_str tool)
{
    return find(conn->tools, "name", tool);
}
