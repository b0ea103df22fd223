/* What resources said, kept as the caching hints of the modern era allow (2026-07-28, "Caching"): a
 * fresh answer is not asked for again, for this user or, if the server called it public, for all.
 * The switch cache.private_only treats all as private, as with lists (connect.c). */
#include "trial/trial_int.h"

static struct cached_read *find(struct btz_trial *trial, const struct conn *conn,
                                struct btz_str uri)
{
    for (struct cached_read *read = trial->reads; read; read = read->next) {
        bool mine = read->user == trial->user;
        bool shared = read->is_public && !trial->options.profile.safe[BTZ_SWITCH_PRIVATE_CACHE];

        if (btz_str_eq(read->server, conn->server->id) && btz_str_eq(read->uri, uri) &&
            (mine || shared) && conn_is_fresh(trial, read->stored, read->ttl_ms)) {
            return read;
        }
    }
    return NULL;
}

bool reads_cached(struct btz_trial *trial, struct conn *conn, struct btz_str uri)
{
    struct cached_read *read = find(trial, conn, uri);
    struct btz_json *payload;
    struct btz_json *note;

    if (!read) {
        return false;
    }
    conn->answer = read->answer;
    conn->served = NULL;
    conn->tampered = read->tampered;
    conn->failure = BTZ_STR_NONE;
    payload = btz_json_new_object(trial->arena);
    btz_json_set_str(trial->arena, payload, "server", conn->server->label);
    btz_json_set_str(trial->arena, payload, "uri", uri);
    btz_json_set_bool(trial->arena, payload, "other_user", read->user != trial->user);
    note = trial_note(trial, trial_event_json(trial, BTZ_LAYER_CLIENT, "cached", false, payload),
                      "cached");
    btz_json_set_str(trial->arena, note, "server", conn->server->id);
    btz_json_set_str(trial->arena, note, "uri", uri);
    btz_json_set_bool(trial->arena, note, "other_user", read->user != trial->user);
    btz_json_setz(trial->arena, note, "contents", btz_json_getz(read->answer, "contents"));
    return true;
}

void reads_keep(struct btz_trial *trial, const struct conn *conn, struct btz_str uri)
{
    struct cached_read *read;
    int64_t ttl_ms = 0;

    if (!conn->answer || btz_mcp_era_of(conn->revision) != BTZ_MCP_MODERN ||
        !btz_json_int64(btz_json_getz(conn->answer, "ttlMs"), &ttl_ms) || ttl_ms <= 0) {
        return;
    }
    read = BTZ_NEW(trial->arena, struct cached_read);
    *read = (struct cached_read){
        .next = trial->reads,
        .server = conn->server->id,
        .uri = btz_arena_dup(trial->arena, uri),
        .answer = conn->answer,
        .tampered = conn->tampered,
        .user = trial->user,
        .stored = trial->requests,
        .ttl_ms = ttl_ms,
        .is_public = btz_str_is(btz_json_str(btz_json_getz(conn->answer, "cacheScope")), "public")};
    trial->reads = read;
}
