/* The place between client and server where an adversary may sit (the variant's relay), and what
 * protects against it.
 *
 * Host-profile switch transport.authenticate: the sender seals each message with a key that only
 * the two ends have, over its direction, its number and its bytes; the receiver refuses what does
 * not fit. It stands for a transport that authenticates its peers, such as TLS with pinned
 * certificates: that hides nothing here, but nothing can be changed, repeated, left out in the
 * middle or invented without losing the connection. */
#include "base/hash.h"
#include "trial/trial_int.h"

static struct btz_hash seal(const struct btz_trial *trial, const struct conn *conn,
                            enum btz_side from, uint64_t number, struct btz_str bytes)
{
    struct btz_hasher *hasher = btz_hasher_new();
    uint64_t seed = trial->options.seed;
    struct btz_hash out;

    btz_hasher_add_part(hasher, (struct btz_str){(const char *)&seed, sizeof(seed)});
    btz_hasher_add_part(hasher, conn->server->id);
    btz_hasher_add_part(hasher, from == BTZ_SIDE_CLIENT ? BTZ_STR("client") : BTZ_STR("server"));
    btz_hasher_add_part(hasher, (struct btz_str){(const char *)&number, sizeof(number)});
    btz_hasher_add_part(hasher, bytes);
    out = btz_hasher_end(hasher);
    btz_hasher_free(hasher);
    return out;
}

/* What the relay is shown. Also remembers which request an answer belongs to. */
static struct btz_json *describe(struct btz_trial *trial, struct conn *conn, enum btz_side from,
                                 struct btz_str bytes, const struct btz_json *http)
{
    struct btz_json *message = btz_json_new_object(trial->arena);
    const struct btz_json *body = NULL;
    struct btz_str method = BTZ_STR_NONE;
    const struct btz_json *request = NULL;
    struct btz_str id;

    btz_json_set_strz(trial->arena, message, "direction",
                      from == BTZ_SIDE_CLIENT ? "request" : "response");
    btz_json_set_str(trial->arena, message, "server", conn->server->id);
    btz_json_set_int(trial->arena, message, "session", trial->session);
    btz_json_set_str(trial->arena, message, "text", bytes);
    btz_json_set_strz(trial->arena, message, "method", "");
    if (http) {
        btz_json_setz(trial->arena, message, "http", http);
        btz_json_set_bool(trial->arena, message, "own", false);
        btz_json_setz(trial->arena, message, "log",
                      conn->log ? conn->log : btz_json_new_array(trial->arena));
    }
    if (btz_json_parse(trial->arena, bytes, NULL, &body, NULL) != BTZ_OK) {
        return message;
    }
    btz_json_setz(trial->arena, message, "body", body);
    method = btz_json_str(btz_json_getz(body, "method"));
    if (btz_json_getz(body, "id")) {
        id = btz_json_text(trial->arena, btz_json_getz(body, "id"));
        if (method.len && from == BTZ_SIDE_CLIENT) {
            conn->asked = conn->asked ? conn->asked : btz_json_new_object(trial->arena);
            btz_json_set(trial->arena, conn->asked, id, body);
            request = body;
        } else if (!method.len && from == BTZ_SIDE_SERVER) {
            request = btz_json_get(conn->asked, id);
            method = btz_json_str(btz_json_getz(request, "method"));
        }
    }
    btz_json_set_str(trial->arena, message, "method", method);
    if (btz_str_is(method, "tools/call")) {
        btz_json_set_str(trial->arena, message, "tool",
                         btz_json_str(btz_json_pointer(request, BTZ_STR("/params/name"))));
    }
    return message;
}

static struct btz_str *texts(struct btz_trial *trial, const struct btz_json *list, size_t *count)
{
    struct btz_str *out = btz_arena_array(trial->arena, btz_json_count(list) + 1, sizeof(*out));

    *count = btz_json_count(list);
    for (size_t i = 0; i < *count; i++) {
        const struct btz_json *item = btz_json_at(list, i);
        const struct btz_json *body = btz_json_getz(item, "body");

        out[i] =
            body ? btz_json_text(trial->arena, body) : btz_json_str(btz_json_getz(item, "text"));
    }
    return out;
}

/* The receiver's check of everything that arrives. */
static void authenticate(struct btz_trial *trial, struct conn *conn, enum btz_side from,
                         const struct btz_hash *sent, const struct tapped *tapped)
{
    bool good =
        tapped->back_count == 0 && btz_json_count(btz_json_getz(tapped->action, "inject")) == 0;

    for (size_t i = 0; good && i < tapped->forward_count; i++) {
        struct btz_hash got = seal(trial, conn, from, conn->received[from] + i, tapped->forward[i]);

        good = btz_hash_eq(sent, &got);
    }
    conn->received[from] += tapped->forward_count;
    if (!good) {
        conn->lost = BTZ_STR("the connection was ended: a message was not authentic");
    }
}

void tap_note(struct btz_trial *trial, struct conn *conn, enum btz_side from,
              const struct btz_json *message, const struct btz_json *action)
{
    struct btz_json *payload = btz_json_new_object(trial->arena);

    btz_json_set_str(trial->arena, payload, "server", conn->server->label);
    btz_json_set_strz(trial->arena, payload, "direction",
                      from == BTZ_SIDE_CLIENT ? "request" : "response");
    btz_json_setz(trial->arena, payload, "method", btz_json_getz(message, "method"));
    if (action) {
        btz_json_setz(trial->arena, payload, "action", action);
    }
    trial_event_json(trial, BTZ_LAYER_WIRE, "relay", false, payload);
}

/* A request of the adversary's own leaves the one that they saw as it was. */
static bool only_sends(const struct btz_json *action)
{
    return btz_json_getz(action, "send") && btz_json_count(action) == 1;
}

int tap_message(struct btz_trial *trial, struct conn *conn, enum btz_side from,
                struct btz_str bytes, const struct btz_json *http, struct tapped *out,
                struct btz_err *err)
{
    const struct btz_json *message = describe(trial, conn, from, bytes, http);
    const struct btz_json *action = NULL;
    struct btz_hash sent = seal(trial, conn, from, conn->sent[from]++, bytes);
    size_t journal = btz_stage_journal_count(trial->stage);
    int rc = btz_stage_relay(trial->stage, message, trial->event_count + 1, &action, err);

    if (rc != BTZ_OK) {
        return rc;
    }
    *out = (struct tapped){.forward = BTZ_NEW(trial->arena, struct btz_str), .forward_count = 1};
    out->forward[0] = bytes;
    out->action = action;
    if (action) {
        if (btz_json_getz(action, "forward") || btz_json_getz(action, "back")) {
            out->forward = texts(trial, btz_json_getz(action, "forward"), &out->forward_count);
            out->back = texts(trial, btz_json_getz(action, "back"), &out->back_count);
        } /* else it only injects or sends, and the message goes on */
        conn->tampered = conn->tampered || !only_sends(action);
        conn->held_back = conn->held_back || out->forward_count + out->back_count == 0;
        trial_trigger(trial, "wire", conn->server->id, BTZ_STR_NONE);
    }
    if (action || btz_stage_journal_count(trial->stage) > journal) {
        tap_note(trial, conn, from, message, action);
        trial_take_journal(trial);
    }
    if (trial->options.profile.safe[BTZ_SWITCH_AUTHENTICATE]) {
        authenticate(trial, conn, from, &sent, out);
    }
    return BTZ_OK;
}
