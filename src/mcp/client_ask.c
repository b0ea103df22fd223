/* Requests of a legacy server to this client, and the owner's answers. */
#include <stdlib.h>

#include "mcp/ask.h"
#include "mcp/client_int.h"

static struct asked **find_asked(struct btz_mcp_client *client, uint64_t number)
{
    struct asked **link = &client->asked;

    while (*link && (*link)->number != number) {
        link = &(*link)->next;
    }
    return link;
}

static struct asked **find_id(struct btz_mcp_client *client, struct btz_mcp_id id)
{
    struct asked **link = &client->asked;

    while (*link && !btz_mcp_id_eq((*link)->id, id)) {
        link = &(*link)->next;
    }
    return link;
}

static void drop_asked(struct btz_mcp_client *client, struct asked **link)
{
    struct asked *gone = *link;

    *link = gone->next;
    client->asked_count--;
    free(gone);
}

void btz_mcp_client_drop_asked(struct btz_mcp_client *client)
{
    while (client->asked) {
        drop_asked(client, &client->asked);
    }
}

static int send_error(struct btz_mcp_client *client, struct btz_mcp_id id, int64_t code,
                      struct btz_str message, const struct btz_json *data)
{
    struct btz_mcp_out out = {
        .kind = BTZ_MCP_ERROR, .id = id, .related = id, .revision = client->revision};
    struct out_item *item = btz_mcp_queue_item(&client->queue, &out);
    int rc = btz_mcp_write_error(&item->bytes, id, code, message, data);
    int pushed = btz_mcp_queue_push(&client->queue, item);

    return rc ? rc : pushed;
}

static int send_result(struct btz_mcp_client *client, struct btz_mcp_id id,
                       const struct btz_json *result)
{
    struct btz_mcp_out out = {
        .kind = BTZ_MCP_RESULT, .id = id, .related = id, .revision = client->revision};
    struct out_item *item = btz_mcp_queue_item(&client->queue, &out);
    int rc = btz_mcp_write_result(&item->bytes, id, result);
    int pushed = btz_mcp_queue_push(&client->queue, item);

    return rc ? rc : pushed;
}

static int refuse(struct received *in, int code, const char *text)
{
    in->client->stats.refused++;
    return send_error(in->client, in->message.id, code, btz_str_of(text), NULL);
}

/* Keeps the request for the owner to answer. */
static int hand_over(struct received *in, const struct btz_mcp_method *method)
{
    struct btz_mcp_client *client = in->client;
    struct btz_mcp_id id = in->message.id;
    struct asked *asked = calloc(1, sizeof(*asked) + id.text.len);

    if (!asked) {
        btz_panic("out of memory (asked)");
    }
    asked->number = client->next_asked++;
    asked->method = method;
    asked->id = id;
    if (id.kind == BTZ_MCP_ID_STRING && id.text.len) {
        memcpy(asked->text, id.text.ptr, id.text.len);
    }
    asked->id.text.ptr = asked->text;
    asked->next = client->asked;
    client->asked = asked;
    client->asked_count++;
    btz_mcp_client_push(client,
                        &(struct btz_mcp_client_event){.kind = BTZ_MCP_CLIENT_ASKED,
                                                       .ask = asked->number,
                                                       .method = btz_str_of(method->name),
                                                       .params = in->message.params},
                        in->arena);
    in->arena = NULL;
    return BTZ_OK;
}

/* Legacy servers may ask, once the session is open, for what was declared. */
static int take_ask(struct received *in)
{
    struct btz_mcp_client *client = in->client;
    const struct btz_mcp_method *method = btz_mcp_method_find(in->message.method);
    struct btz_err err;

    if (client->state != CLIENT_READY || !method || method->notification ||
        !btz_mcp_method_allowed(method, BTZ_MCP_FROM_SERVER, client->revision) ||
        (btz_mcp_method_id(method) != BTZ_MCP_M_SAMPLING &&
         btz_mcp_method_id(method) != BTZ_MCP_M_ELICITATION &&
         btz_mcp_method_id(method) != BTZ_MCP_M_ROOTS_LIST) ||
        btz_mcp_ask_missing(in->arena, client->capabilities, in->message.method,
                            in->message.params)) {
        return refuse(in, BTZ_MCP_E_METHOD, "this client offers no such method");
    }
    if (btz_mcp_check_ask(in->message.method, in->message.params, &err)) {
        return refuse(in, BTZ_MCP_E_PARAMS, err.msg);
    }
    if (*find_id(client, in->message.id)) {
        return refuse(in, BTZ_MCP_E_REQUEST,
                      "a request with this id is still in flight; use a new id");
    }
    /* Also by waiting events: asking and cancelling in turn must not fill the queue. */
    if (client->asked_count >= client->options.max_asks ||
        client->event_count >= client->options.max_events) {
        return refuse(in, BTZ_MCP_E_INTERNAL, "too many requests wait for an answer");
    }
    return hand_over(in, method);
}

int btz_mcp_client_take_request(struct received *in)
{
    struct btz_mcp_client *client = in->client;

    if (btz_mcp_era_of(client->revision) == BTZ_MCP_MODERN) {
        client->stats.refused++;
        btz_mcp_client_alarm(client, 0,
                             "the server sent a request; modern servers must not, it was dropped");
        return BTZ_OK;
    }
    if (btz_str_is(in->message.method, btz_mcp_method_at(BTZ_MCP_M_PING)->name)) {
        return send_result(client, in->message.id, NULL);
    }
    return take_ask(in);
}

bool btz_mcp_client_ask_cancelled(struct received *in, struct btz_mcp_id id)
{
    struct asked **link = find_id(in->client, id);
    struct btz_mcp_client_event event = {
        .kind = BTZ_MCP_CLIENT_ASK_CANCELLED,
        .message = btz_json_str(btz_json_getz(in->message.params, "reason"))};

    if (!*link) {
        return false;
    }
    event.ask = (*link)->number;
    event.method = btz_str_of((*link)->method->name);
    drop_asked(in->client, link);
    btz_mcp_client_push_minor(in, &event);
    return true;
}

int btz_mcp_client_answer(struct btz_mcp_client *client, uint64_t ask,
                          const struct btz_json *result, struct btz_err *err)
{
    struct asked **link = find_asked(client, ask);
    int rc;

    if (client->state != CLIENT_READY) {
        return btz_err_set(err, BTZ_ESTATE, "the connection is closed");
    }
    if (!*link) {
        return btz_err_set(err, BTZ_ENOTFOUND, "the server does not wait for this answer");
    }
    rc = btz_mcp_check_answer(btz_str_of((*link)->method->name), result, err);
    if (rc) {
        return rc;
    }
    rc = send_result(client, (*link)->id, result);
    if (rc) {
        return btz_err_set(err, rc, "the answer does not fit into the queue");
    }
    drop_asked(client, link);
    return BTZ_OK;
}

int btz_mcp_client_answer_error(struct btz_mcp_client *client, uint64_t ask, int64_t code,
                                struct btz_str message, const struct btz_json *data)
{
    struct asked **link = find_asked(client, ask);
    int rc;

    if (client->state != CLIENT_READY) {
        return BTZ_ESTATE;
    }
    if (!*link) {
        return BTZ_ENOTFOUND;
    }
    rc = send_error(client, (*link)->id, code, message, data);
    if (!rc) {
        drop_asked(client, link);
    }
    return rc;
}
