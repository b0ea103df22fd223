/* An adversary who is no party to the host's connection but a client of the same server: with
 * requests of their own, as the user that the server takes them for, and with whatever the server
 * lets such a client see. Nothing here looks at the host's messages. */
#include "trial/trial_int.h"

#define OUTSIDER "outsider" /* whom servers take the adversary for */

enum { MAX_SENT = 64, MAX_LOG = 100 };

struct outsider {
    uint64_t exchanges[MAX_SENT];
    size_t count;
};

static struct btz_str text_or(const struct btz_json *item, const char *name, const char *otherwise)
{
    struct btz_str text = btz_json_str(btz_json_getz(item, name));

    return text.len ? text : btz_str_of(otherwise);
}

static void send_one(struct btz_trial *trial, struct conn *conn, struct btz_http_link *link,
                     const struct btz_json *item)
{
    const struct btz_json *headers = btz_json_getz(item, "headers");
    const struct btz_json *body = btz_json_getz(item, "body");
    struct btz_http_field *fields =
        btz_arena_array(trial->arena, btz_json_count(headers) + 3, sizeof(*fields));
    struct outsider *outsider = conn->outsider;
    uint64_t exchange = 0;
    size_t count = 0;

    fields[count++] = (struct btz_http_field){BTZ_STR("Host"), BTZ_STR("localhost")};
    fields[count++] =
        (struct btz_http_field){BTZ_STR("Accept"), BTZ_STR("application/json, text/event-stream")};
    if (body) {
        fields[count++] =
            (struct btz_http_field){BTZ_STR("Content-Type"), BTZ_STR("application/json")};
    }
    for (size_t i = 0; i < btz_json_count(headers); i++) {
        fields[count++] = (struct btz_http_field){btz_json_key_at(headers, i),
                                                  btz_json_str(btz_json_value_at(headers, i))};
    }
    if (btz_http_link_replay(
            link, text_or(item, "method", "POST"), text_or(item, "target", "/mcp"), fields, count,
            body ? btz_json_text(trial->arena, body) : btz_json_str(btz_json_getz(item, "text")),
            BTZ_STR(OUTSIDER), &exchange) == BTZ_OK) {
        outsider->exchanges[outsider->count++] = exchange;
    } /* what cannot be sent is not sent: the adversary's loss */
}

void outsider_send(struct btz_trial *trial, struct conn *conn, struct btz_http_link *link,
                   const struct btz_json *list)
{
    if (!conn->outsider && btz_json_count(list)) {
        conn->outsider = BTZ_NEW(trial->arena, struct outsider);
    }
    for (size_t i = 0; i < btz_json_count(list) && conn->outsider->count < MAX_SENT; i++) {
        send_one(trial, conn, link, btz_json_at(list, i));
    }
}

bool outsider_sent(const struct conn *conn, uint64_t exchange)
{
    for (size_t i = 0; conn->outsider && i < conn->outsider->count; i++) {
        if (conn->outsider->exchanges[i] == exchange) {
            return true;
        }
    }
    return false;
}

int outsider_got(struct btz_trial *trial, struct conn *conn, struct btz_http_link *link,
                 struct btz_str bytes, const struct btz_json *http, struct btz_err *err)
{
    struct btz_json *message = btz_json_new_object(trial->arena);
    const struct btz_json *body = NULL;
    const struct btz_json *action = NULL;
    size_t journal = btz_stage_journal_count(trial->stage);
    int rc;

    btz_json_set_strz(trial->arena, message, "direction", "response");
    btz_json_set_str(trial->arena, message, "server", conn->server->id);
    btz_json_set_int(trial->arena, message, "session", trial->session);
    btz_json_set_bool(trial->arena, message, "own", true);
    btz_json_set_strz(trial->arena, message, "method", "");
    btz_json_set_str(trial->arena, message, "text", bytes);
    btz_json_setz(trial->arena, message, "http", http);
    if (btz_json_parse(trial->arena, bytes, NULL, &body, NULL) == BTZ_OK) {
        btz_json_setz(trial->arena, message, "body", body);
    }
    rc = btz_stage_relay(trial->stage, message, trial->event_count + 1, &action, err);
    if (rc != BTZ_OK) {
        return rc;
    }
    if (action || btz_stage_journal_count(trial->stage) > journal) {
        tap_note(trial, conn, BTZ_SIDE_SERVER, message, action);
        trial_take_journal(trial);
    }
    outsider_send(trial, conn, link, btz_json_getz(action, "send"));
    return BTZ_OK;
}

void outsider_log(struct btz_trial *trial, struct conn *conn,
                  const struct btz_http_relay_item *item)
{
    const struct btz_http_head head = {.fields = item->fields, .field_count = item->field_count};
    struct btz_str id = btz_http_field_get(&head, "MCP-Session-Id", NULL);

    if (!conn->log) {
        conn->log = btz_json_new_array(trial->arena);
    }
    if (btz_json_count(conn->log) < MAX_LOG) {
        btz_json_push(
            trial->arena, conn->log,
            btz_json_new_str(trial->arena, btz_arena_printf(trial->arena, "%.*s %.*s session=%.*s",
                                                            BTZ_FMT(item->method),
                                                            BTZ_FMT(item->target), BTZ_FMT(id))));
    }
}
