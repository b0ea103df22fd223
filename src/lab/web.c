/* The web around a trial; see web.h. */
#include "lab/web.h"

#include "auth/form.h"
#include "auth/url.h"
#include "lab/login.h"

const struct btz_stage_site *btz_stage_site(const struct btz_stage *stage, struct btz_str server)
{
    for (size_t i = 0; i < stage->site_count; i++) {
        if (btz_str_eq(stage->sites[i].server, server)) {
            return &stage->sites[i].pub;
        }
    }
    return NULL;
}

static struct btz_str text_of(const struct btz_json *entry, const char *name)
{
    return btz_json_str(btz_json_getz(entry, name));
}

/* `written` has the names of server and tool as the file gives them. */
static void make_site(struct btz_stage *stage, const struct btz_json *entry,
                      const struct btz_json *written, struct site *site)
{
    const struct btz_json *step = btz_json_getz(entry, "step_up");
    const struct btz_json *flips = btz_json_getz(entry, "flips");
    struct btz_stage_site *pub = &site->pub;
    const struct tool *tool;

    site->server = text_of(written, "server");
    pub->url = text_of(entry, "url");
    pub->issuer = text_of(entry, "issuer");
    pub->metadata = text_of(entry, "metadata");
    pub->scope = text_of(entry, "scope");
    pub->allowed = text_of(entry, "allowed");
    pub->grant = text_of(entry, "grant");
    pub->upstream = text_of(entry, "upstream");
    pub->step_scope = text_of(step, "scope");
    pub->flips = text_of(flips, "name");
    pub->flips_to = text_of(flips, "to");
    if (!pub->url.len) {
        pub->url = btz_arena_printf(stage->arena, "https://%.*s.alderfinch.example/mcp",
                                    BTZ_FMT(site->server));
    }
    if (!pub->issuer.len) {
        pub->issuer = BTZ_STR(BTZ_LOGIN_ISSUER);
    }
    if (step) {
        tool = btz_lab_tool_of(btz_lab_server_in(stage->lab, stage->variant, site->server),
                               text_of(btz_json_getz(written, "step_up"), "tool"));
        pub->step_tool = tool->shown; /* checked when the pack was loaded */
    }
}

void btz_lab_sites_make(struct btz_stage *stage, const struct btz_json *list,
                        const struct btz_json *written)
{
    stage->sites = btz_arena_array(stage->arena, btz_json_count(list) + 1, sizeof(*stage->sites));
    for (size_t i = 0; i < btz_json_count(list); i++) {
        make_site(stage, btz_json_at(list, i), btz_json_at(written, i),
                  &stage->sites[stage->site_count++]);
    }
    btz_login_init(stage);
}

bool btz_stage_resolve(struct btz_stage *stage, struct btz_str host,
                       struct btz_auth_address *address)
{
    struct btz_hash hash = btz_hash_of(host);

    for (size_t i = 0; i < stage->site_count; i++) {
        struct site *site = &stage->sites[i];

        if (site->pub.flips.len && btz_str_eq(site->pub.flips, host) && site->lookups++ > 0 &&
            btz_auth_address_v4(site->pub.flips_to, address) == BTZ_OK) {
            return true;
        }
    }
    if (!btz_str_ends(host, BTZ_STR(".example"))) {
        return false;
    }
    /* Any public range does: nothing is ever sent. */
    *address =
        (struct btz_auth_address){.bytes = {45, hash.bytes[0], hash.bytes[1], hash.bytes[2]}};
    return true;
}

void btz_stage_sink(struct btz_stage *stage, const char *name, const struct btz_json *value,
                    uint64_t event)
{
    struct world_key keys[2] = {{false, 0, BTZ_STR("sinks")}, {false, 0, btz_str_of(name)}};
    struct run run = {.stage = stage, .mode = RUN_RELAY, .event = event};
    const char *why = NULL;
    size_t position = 0;

    if (btz_world_append(&stage->world, keys, 2, value, &position, &why) == BTZ_OK) {
        btz_stage_journal_add(stage, &run, "sink", keys, 2, value, keys[1].name);
    }
}

/* Fields of a form as an object; names that stand there twice are left out. */
static struct btz_json *form_of(struct btz_arena *arena, struct btz_str form)
{
    struct btz_json *out = btz_json_new_object(arena);
    struct btz_str rest = form;
    struct btz_str field;
    struct btz_str key;
    struct btz_str value;

    while (btz_str_cut(&rest, '&', &field)) {
        (void)btz_str_cut(&field, '=', &key);
        key = btz_arena_dup(arena, key);
        if (key.len && btz_auth_form_get(arena, form, key.ptr, &value) == BTZ_OK) {
            btz_json_set(arena, out, key, btz_json_new_str(arena, value));
        }
    }
    return out;
}

static struct btz_str bearer_of(struct btz_str authorization)
{
    return btz_str_starts(authorization, BTZ_STR("Bearer "))
               ? btz_str_sub(authorization, strlen("Bearer "), authorization.len)
               : BTZ_STR_NONE;
}

/* The request as the variant's function gets it. */
static struct btz_json *describe(struct btz_stage *stage, const struct btz_web_request *request,
                                 const struct btz_auth_url *url)
{
    struct btz_arena *arena = stage->arena;
    struct btz_json *out = btz_json_new_object(arena);

    btz_json_set_strz(arena, out, "from", request->from);
    btz_json_set_str(arena, out, "method", request->method);
    btz_json_set_str(arena, out, "url", request->url);
    btz_json_set_str(arena, out, "host", url->host);
    btz_json_set_str(arena, out, "path", url->path.len ? url->path : BTZ_STR("/"));
    btz_json_setz(arena, out, "query", form_of(arena, url->query));
    btz_json_setz(arena, out, "form", form_of(arena, request->body));
    btz_json_set_str(arena, out, "text", request->body);
    if (request->authorization.len) {
        btz_json_set_str(arena, out, "authorization", request->authorization);
    }
    if (request->address.len) {
        btz_json_set_str(arena, out, "address", request->address);
    }
    return out;
}

void btz_stage_web_note(struct btz_stage *stage, const struct btz_web_request *request,
                        uint64_t event)
{
    struct btz_arena *arena = stage->arena;
    struct btz_json *record = btz_json_new_object(arena);
    struct btz_login_token token;
    struct btz_auth_url url;

    btz_json_set_strz(arena, record, "from", request->from);
    btz_json_set_str(arena, record, "method", request->method);
    btz_json_set_str(arena, record, "url", request->url);
    if (btz_auth_url_parse(request->url, &url) == BTZ_OK) {
        btz_json_set_str(arena, record, "host", url.host);
    }
    if (request->body.len) {
        btz_json_set_str(arena, record, "text", request->body);
    }
    if (request->address.len) {
        btz_json_set_str(arena, record, "address", request->address);
    }
    btz_json_set_bool(arena, record, "authorized", request->authorization.len > 0);
    if (btz_stage_token(stage, bearer_of(request->authorization), &token) == BTZ_OK) {
        btz_json_set_str(arena, record, "bearer_for", token.resource);
    }
    btz_stage_sink(stage, "host.requests", record, event);
}

static int site_fault(struct btz_stage *stage, struct btz_err *err)
{
    int code =
        btz_lab_refuse(stage->variant->script,
                       btz_arena_printf(stage->arena, "%s/site", stage->variant->path.ptr), err,
                       "must return nil (nobody answers) or { status = ..., location = "
                       "..., body = ... }, body a table or a text");

    (void)code;
    if (err) {
        err->code = BTZ_EINTERNAL;
    }
    return BTZ_EINTERNAL;
}

static int ask_site(struct btz_stage *stage, const struct btz_json *request, uint64_t event,
                    struct btz_web_answer *answer, struct btz_err *err)
{
    const struct variant *variant = stage->variant;
    struct btz_lua_arg args[] = {
        {NULL, stage->lab->world_ref}, {stage->markers, 0}, {request, 0}, {stage->payload, 0}};
    struct run run = {.stage = stage, .mode = RUN_RELAY, .event = event};
    const struct btz_json *value = NULL;
    const struct btz_json *body;
    int64_t status = 0;
    int code = btz_stage_run(&run, variant->script, variant->site, args, 4, &btz_lab_call_budget,
                             &value, err);

    if (code != BTZ_OK) {
        btz_err_prefix(err, "site of %.*s: ", BTZ_FMT(variant->pub.id));
        return code;
    }
    if (!value || btz_json_is(value, BTZ_JSON_NULL)) {
        return BTZ_OK;
    }
    if (!btz_json_int64(btz_json_getz(value, "status"), &status) || status < 200 || status > 599) {
        return site_fault(stage, err);
    }
    body = btz_json_getz(value, "body");
    answer->status = (int)status;
    answer->location = btz_json_str(btz_json_getz(value, "location"));
    answer->body = btz_json_is(body, BTZ_JSON_STRING) ? btz_json_str(body)
                   : body                             ? btz_json_text(stage->arena, body)
                                                      : BTZ_STR_NONE;
    answer->by_site = true;
    return BTZ_OK;
}

int btz_stage_web(struct btz_stage *stage, const struct btz_web_request *request, uint64_t event,
                  struct btz_web_answer *answer, struct btz_err *err)
{
    struct btz_web_answer out = {.status = 0};
    struct btz_auth_url url;
    int rc = BTZ_OK;

    btz_stage_web_note(stage, request, event);
    if (btz_auth_url_parse(request->url, &url) == BTZ_OK && url.has_authority) {
        if (btz_str_is(url.host, "login.alderfinch.example")) {
            btz_login_answer(stage, request, &url, event, &out);
        } else if (stage->variant && stage->variant->site != BTZ_LUA_NONE) {
            rc = ask_site(stage, describe(stage, request, &url), event, &out, err);
        }
    }
    if (rc == BTZ_OK) {
        *answer = out;
    }
    return rc;
}
