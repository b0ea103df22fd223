/* The web as the trial's host, its user's browser and its servers see it.
 *
 * Host-profile switches:
 * auth.open_without_shell: hosts that open an address by a line for the shell let whoever chose the
 * address say what runs. The line is read as a POSIX shell reads a word between double quotes;
 * nothing runs, what would is recorded (sink `host.commands`).
 * client.fetch_icons_bare: icons are fetched from the server's own origin and without credentials;
 * a careless host takes any address and shows the token it keeps for the host there. */
#include "trial/web.h"

enum { MAX_HOPS = 10, MAX_ICONS = 16 };

static int ask_site(struct btz_trial *trial, struct conn *conn,
                    const struct btz_web_request *request, struct btz_web_answer *answer,
                    struct btz_err *err)
{
    struct btz_auth_url url;
    struct site_answer site;
    struct btz_str target;

    if (btz_auth_url_parse(request->url, &url) != BTZ_OK) {
        return BTZ_OK;
    }
    target = btz_arena_printf(trial->arena, "%s%.*s%s%.*s", url.path.len ? "" : "/",
                              BTZ_FMT(url.path), url.has_query ? "?" : "", BTZ_FMT(url.query));
    btz_stage_web_note(trial->stage, request, trial->event_count + 1);
    site_answers(trial, conn, request->method, target, request->authorization, request->body,
                 &site);
    if (conn->tap_failed) {
        *err = conn->tap_err;
        return conn->tap_failed;
    }
    answer->status = site.status ? site.status : 405; /* the endpoint speaks MCP only */
    answer->body = site.body;
    return BTZ_OK;
}

int web_exchange(struct btz_trial *trial, const struct btz_web_request *request,
                 struct btz_web_answer *answer, struct btz_err *err)
{
    struct btz_web_request sent = *request;
    struct conn *owner = site_owner(trial, NULL, request->url);
    int rc;

    *answer = (struct btz_web_answer){.status = 0};
    sent.shared_consent = !trial->options.profile.safe[BTZ_SWITCH_CONSENT_PER_CLIENT];
    rc = owner ? ask_site(trial, owner, &sent, answer, err)
               : btz_stage_web(trial->stage, &sent, trial->event_count + 1, answer, err);
    if (rc == BTZ_OK && answer->by_site) {
        trial_trigger(trial, "site", BTZ_STR_NONE, BTZ_STR_NONE);
    }
    trial_take_journal(trial);
    return rc;
}

static void note_text(struct btz_trial *trial, const char *sink, const char *name,
                      struct btz_str text)
{
    struct btz_json *record = btz_json_new_object(trial->arena);

    btz_json_set_str(trial->arena, record, name, text);
    btz_stage_sink(trial->stage, sink, record, trial->event_count + 1);
    trial_take_journal(trial);
}

/* Opens by a line for the shell: what is left of the address, once the commands in it are noted. */
static struct btz_str through_shell(struct btz_trial *trial, struct btz_str url)
{
    struct btz_json *commands = btz_json_new_array(trial->arena);
    struct btz_str word = shell_word(trial->arena, url, commands);

    for (size_t i = 0; i < btz_json_count(commands); i++) {
        note_text(trial, "host.commands", "command", btz_json_str(btz_json_at(commands, i)));
    }
    return word;
}

static int browse(struct btz_trial *trial, struct btz_str url, struct btz_str *back,
                  struct btz_err *err)
{
    for (int hop = 0; hop < MAX_HOPS; hop++) {
        struct btz_web_request request = {.from = "browser", .method = BTZ_STR("GET"), .url = url};
        struct btz_web_answer answer;
        int rc;

        if (btz_str_starts(url, BTZ_STR(BTZ_LOGIN_REDIRECT "?"))) {
            *back = url;
            return BTZ_OK;
        }
        rc = web_exchange(trial, &request, &answer, err);
        if (rc != BTZ_OK) {
            return rc;
        }
        if (answer.status < 300 || answer.status > 399 ||
            btz_auth_url_resolve(trial->arena, url, answer.location, &url) != BTZ_OK) {
            break;
        }
    }
    return BTZ_OK;
}

int browse_open(struct btz_trial *trial, struct btz_str url, struct btz_str *back,
                struct btz_err *err)
{
    struct btz_auth_url parts;

    *back = BTZ_STR_NONE;
    if (!trial->options.profile.safe[BTZ_SWITCH_OPEN_WITHOUT_SHELL]) {
        url = through_shell(trial, url);
    }
    note_text(trial, "host.opened", "url", btz_arena_dup(trial->arena, url));
    if (btz_auth_url_parse(url, &parts) != BTZ_OK ||
        (!btz_auth_url_is_scheme(&parts, "https") && !btz_auth_url_is_scheme(&parts, "http"))) {
        return BTZ_OK; /* whoever took it, it was no browser */
    }
    return browse(trial, btz_arena_dup(trial->arena, url), back, err);
}

/* Whether the host fetches it, and with which token. */
static bool may_fetch(struct btz_trial *trial, struct conn *conn, struct btz_str src,
                      struct btz_str *authorization)
{
    const struct btz_stage_site *site = btz_stage_site(trial->stage, conn->server->id);
    const struct btz_auth_guard guard = {.development = false};
    const struct btz_auth_token *token;
    struct btz_auth_url icon;
    struct btz_auth_url own;

    *authorization = BTZ_STR_NONE;
    if (btz_auth_url_parse(src, &icon) != BTZ_OK || !icon.has_authority) {
        return false;
    }
    if (trial->options.profile.safe[BTZ_SWITCH_BARE_ICONS]) {
        return site && btz_auth_guard_url(&guard, src) == BTZ_AUTH_ALLOWED &&
               btz_auth_url_parse(site->url, &own) == BTZ_OK &&
               btz_auth_url_same_origin(&icon, &own);
    }
    token = trial->credentials ? btz_auth_store_token_of_host(trial->credentials, src) : NULL;
    if (token && token->access.len) {
        *authorization = btz_arena_printf(trial->arena, "Bearer %.*s", BTZ_FMT(token->access));
    }
    return true;
}

int browse_icons(struct btz_trial *trial, struct conn *conn, struct btz_err *err)
{
    size_t fetched = 0;

    for (size_t t = 0; t < btz_json_count(conn->tools); t++) {
        const struct btz_json *icons = btz_json_getz(btz_json_at(conn->tools, t), "icons");

        for (size_t i = 0; i < btz_json_count(icons) && fetched < MAX_ICONS; i++) {
            struct btz_web_request request = {
                .from = "icon",
                .method = BTZ_STR("GET"),
                .url = btz_json_str(btz_json_getz(btz_json_at(icons, i), "src"))};
            struct btz_web_answer answer;
            int rc;

            if (!may_fetch(trial, conn, request.url, &request.authorization)) {
                continue;
            }
            fetched++;
            rc = web_exchange(trial, &request, &answer, err);
            if (rc != BTZ_OK) {
                return rc;
            }
        }
    }
    return BTZ_OK;
}
