#include "llm/model.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "json/json.h"

enum { NAME_MAX_BYTES = 256, URL_MAX_BYTES = 1024, STATE_MAX_BYTES = 65536 };

static const char offered[] =
    "offered are ref:floor, ref:reader, ref:insider, ref:null, openai:NAME, "
    "openai:NAME@http://host:port/v1 (any server with that interface) and local";

static bool is_printable(struct btz_str s)
{
    for (size_t i = 0; i < s.len; i++) {
        if ((unsigned char)s.ptr[i] <= ' ' || s.ptr[i] == 0x7f) {
            return false;
        }
    }
    return true;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

static bool is_host_byte(char c)
{
    c = lower(c);
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
}

static bool is_loopback(struct btz_str host)
{
    int64_t octet;
    struct btz_str part;
    int parts = 0;

    if (btz_str_is(host, "localhost") || btz_str_is(host, "::1")) {
        return true;
    }
    if (!btz_str_starts(host, BTZ_STR("127."))) {
        return false;
    }
    while (btz_str_cut(&host, '.', &part)) {
        if (part.len > 3 || btz_str_int64(part, &octet) || octet < 0 || octet > 255) {
            return false;
        }
        parts++;
    }
    return parts == 4;
}

static int url_error(struct btz_str url, const char *why, struct btz_err *err)
{
    return btz_err_set(err, BTZ_EUSAGE,
                       "\"%.*s\" is not the base URL of a model server: %s; "
                       "expected http://host:port/v1 or https://host/v1",
                       (int)(url.len < 200 ? url.len : 200), url.ptr, why);
}

/* Takes the host from the front of *rest. */
static bool host_cut(struct btz_str *rest, struct btz_str *host)
{
    size_t n = 0;

    if (rest->len && rest->ptr[0] == '[') {
        ptrdiff_t end = btz_str_find(*rest, BTZ_STR("]"));

        if (end < 3) {
            return false;
        }
        *host = btz_str_sub(*rest, 1, (size_t)end - 1);
        *rest = btz_str_sub(*rest, (size_t)end + 1, rest->len);
        for (size_t i = 0; i < host->len; i++) {
            if (!strchr("0123456789abcdefABCDEF:.", host->ptr[i])) {
                return false;
            }
        }
        return true;
    }
    while (n < rest->len && is_host_byte(rest->ptr[n])) {
        n++;
    }
    *host = btz_str_sub(*rest, 0, n);
    *rest = btz_str_sub(*rest, n, rest->len);
    return n > 0 && n <= 253;
}

static int url_parse(struct btz_arena *arena, struct btz_str url, struct btz_llm_model *out,
                     struct btz_err *err)
{
    struct btz_str rest = url;
    struct btz_str host;
    int64_t port;
    char *text;

    if (url.len > URL_MAX_BYTES || !is_printable(url)) {
        return url_error(url, "it is too long or has spaces or control characters", err);
    }
    out->https = btz_str_starts(url, BTZ_STR("https://"));
    if (!out->https && !btz_str_starts(url, BTZ_STR("http://"))) {
        return url_error(url, "it starts with neither http:// nor https://", err);
    }
    rest = btz_str_sub(url, out->https ? 8 : 7, url.len);
    if (!host_cut(&rest, &host)) {
        return url_error(url, "the host name is missing or wrong", err);
    }
    port = out->https ? 443 : 80;
    if (rest.len && rest.ptr[0] == ':') {
        ptrdiff_t slash = btz_str_find(rest, BTZ_STR("/"));
        size_t end = slash < 0 ? rest.len : (size_t)slash;

        if (end > 6 || btz_str_int64(btz_str_sub(rest, 1, end - 1), &port) || port < 1 ||
            port > 65535) {
            return url_error(url, "the port must be a number from 1 to 65535", err);
        }
        rest = btz_str_sub(rest, end, rest.len);
    }
    if (rest.len && rest.ptr[0] != '/') {
        return url_error(url, "a user name or other text stands between host and path", err);
    }
    if (memchr(rest.ptr, '?', rest.len) || memchr(rest.ptr, '#', rest.len)) {
        return url_error(url, "it has a query or a fragment", err);
    }
    while (url.len && url.ptr[url.len - 1] == '/') {
        url.len--;
    }
    out->url = btz_arena_dup(arena, url);
    text = btz_arena_cstr(arena, host);
    for (size_t i = 0; i < host.len; i++) {
        text[i] = lower(text[i]);
    }
    out->host = (struct btz_str){text, host.len};
    out->port = (uint16_t)port;
    out->loopback = is_loopback(out->host);
    return BTZ_OK;
}

static int ref_parse(struct btz_str name, struct btz_llm_model *out, struct btz_err *err)
{
    static const char *const names[] = {"floor", "reader", "insider", "null"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (btz_str_is(name, names[i])) {
            out->kind = BTZ_LLM_MODEL_REF;
            out->ref = (enum btz_llm_ref)i;
            out->id = btz_str_of(names[i]);
            return BTZ_OK;
        }
    }
    return btz_err_set(err, BTZ_EUSAGE,
                       "\"ref:%.*s\" is no reference agent; there are ref:floor, ref:reader, "
                       "ref:insider and ref:null",
                       (int)(name.len < 64 ? name.len : 64), name.ptr);
}

/* Offset of the last "@http" in `s`, or -1. */
static ptrdiff_t last_at_http(struct btz_str s)
{
    for (size_t i = s.len; i-- > 0;) {
        if (btz_str_starts(btz_str_sub(s, i, s.len), BTZ_STR("@http"))) {
            return (ptrdiff_t)i;
        }
    }
    return -1;
}

static int openai_parse(struct btz_arena *arena, struct btz_str text, struct btz_llm_model *out,
                        struct btz_err *err)
{
    ptrdiff_t at = last_at_http(text);
    struct btz_str name = at < 0 ? text : btz_str_sub(text, 0, (size_t)at);
    struct btz_str url =
        at < 0 ? BTZ_STR(BTZ_LLM_OPENAI_URL) : btz_str_sub(text, (size_t)at + 1, text.len);

    if (name.len == 0 || name.len > NAME_MAX_BYTES || !is_printable(name)) {
        return btz_err_set(err, BTZ_EUSAGE,
                           "openai: needs the model's name, 1 to %d characters without spaces, as "
                           "in openai:NAME or openai:NAME@http://host:port/v1",
                           NAME_MAX_BYTES);
    }
    /* A mistyped address must never become the name of a model that is asked elsewhere. */
    if (at < 0 && (memchr(name.ptr, '@', name.len) || btz_str_find(name, BTZ_STR("://")) >= 0)) {
        return btz_err_set(
            err, BTZ_EUSAGE,
            "openai:%.*s looks like an address, and one behind @ must begin with http:// or "
            "https://, as in openai:NAME@http://host:port/v1",
            (int)(name.len < 64 ? name.len : 64), name.ptr);
    }
    out->kind = BTZ_LLM_MODEL_OPENAI;
    out->id = btz_arena_dup(arena, name);
    return url_parse(arena, url, out, err);
}

static struct btz_str local_text(struct btz_arena *arena, const struct btz_json *root,
                                 const char *pointer)
{
    const struct btz_json *value = btz_json_pointer(root, btz_str_of(pointer));

    return btz_arena_dup(arena, btz_json_is(value, BTZ_JSON_NUMBER) ? btz_json_number_text(value)
                                                                    : btz_json_str(value));
}

static int64_t local_int(const struct btz_json *root, const char *key)
{
    int64_t n;

    return btz_json_int64(btz_json_getz(root, key), &n) && n > 0 ? n : 0;
}

int btz_llm_local_parse(struct btz_arena *arena, struct btz_str text, const char *path,
                        struct btz_llm_model *out, struct btz_err *err)
{
    const struct btz_json_limits limits = {.max_bytes = STATE_MAX_BYTES, .max_depth = 8};
    struct btz_llm_model model = {.kind = BTZ_LLM_MODEL_LOCAL, .reference = BTZ_STR("local")};
    const struct btz_json *root;
    int rc = btz_json_parse(arena, text, &limits, &root, err);

    if (rc) {
        goto out;
    }
    model.id = local_text(arena, root, "/model_id");
    if (model.id.len == 0 || btz_json_str(btz_json_getz(root, "url")).len == 0) {
        rc = btz_err_set(err, BTZ_EINVAL,
                         "expected an object with the texts \"url\" and "
                         "\"model_id\"");
        goto out;
    }
    rc = url_parse(arena, btz_json_str(btz_json_getz(root, "url")), &model, err);
    if (!rc && !model.loopback) {
        rc = btz_err_set(err, BTZ_EINVAL, "\"url\" must be on this machine (127.0.0.1), not %s",
                         model.host.ptr);
    }
    if (rc) {
        goto out;
    }
    model.local = (struct btz_llm_local){
        .weights_package = local_text(arena, root, "/weights/package"),
        .weights_version = local_text(arena, root, "/weights/version"),
        .weights_sha256 = local_text(arena, root, "/weights/sha256"),
        .file_type = local_text(arena, root, "/weights/file_type"),
        .parameters = local_text(arena, root, "/weights/parameters"),
        .server_package = local_text(arena, root, "/server/package"),
        .server_version = local_text(arena, root, "/server/version"),
        .license = local_text(arena, root, "/license"),
        .tool_template = btz_json_bool(btz_json_getz(root, "tool_template"), false),
        .context = local_int(root, "context"),
        .pid = local_int(root, "pid"),
    };
    *out = model;
out:
    if (rc && err) {
        unsigned line = err->line;
        unsigned column = err->column;

        err->code = rc = BTZ_EINVAL;
        btz_err_prefix(err, "the state of the local model is wrong (mend it by running `make "
                            "local-model` again): ");
        btz_err_at(err, path, line, column);
    }
    return rc;
}

static int local_load(struct btz_arena *arena, const char *path, struct btz_llm_model *out,
                      struct btz_err *err)
{
    FILE *file;
    char *bytes;
    size_t len;
    bool bad;

    if (!path) {
        return btz_err_set(err, BTZ_EUNSUPPORTED, "the model \"local\" is not offered here");
    }
    file = fopen(path, "rb");
    if (!file && errno == ENOENT) {
        return btz_err_set(err, BTZ_EMISSING,
                           "there is no local model yet (%s does not exist); `make local-model` "
                           "sets one up",
                           path);
    }
    if (!file) {
        return btz_err_set(err, BTZ_EIO, "cannot open %s: %s", path, strerror(errno));
    }
    bytes = btz_arena_alloc(arena, STATE_MAX_BYTES + 1);
    len = fread(bytes, 1, STATE_MAX_BYTES + 1, file);
    bad = ferror(file) != 0;
    (void)fclose(file);
    if (bad) {
        return btz_err_set(err, BTZ_EIO, "cannot read %s", path);
    }
    return btz_llm_local_parse(arena, (struct btz_str){bytes, len}, path, out, err);
}

static bool is_planned_provider(struct btz_str text)
{
    static const char *const names[] = {"anthropic:", "gemini:", "bedrock:", "azure:"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (btz_str_starts(text, btz_str_of(names[i]))) {
            return true;
        }
    }
    return false;
}

int btz_llm_model_parse(struct btz_arena *arena, struct btz_str reference, const char *local_state,
                        struct btz_llm_model *out, struct btz_err *err)
{
    struct btz_llm_model model = {0};
    struct btz_str shown = btz_str_sub(reference, 0, 128);
    int rc;

    if (btz_str_starts(reference, BTZ_STR("ref:"))) {
        rc = ref_parse(btz_str_sub(reference, 4, reference.len), &model, err);
    } else if (btz_str_starts(reference, BTZ_STR("openai:"))) {
        rc = openai_parse(arena, btz_str_sub(reference, 7, reference.len), &model, err);
    } else if (btz_str_is(reference, "local")) {
        rc = local_load(arena, local_state, &model, err);
    } else if (is_planned_provider(reference)) {
        rc = btz_err_set(err, BTZ_EUNSUPPORTED,
                         "model \"%.*s\": this provider is not offered "
                         "yet; %s",
                         BTZ_FMT(shown), offered);
    } else {
        rc = btz_err_set(err, BTZ_EUSAGE, "\"%.*s\" is no model reference; %s", BTZ_FMT(shown),
                         offered);
    }
    if (!rc) {
        model.reference = btz_arena_dup(arena, reference);
        *out = model;
    }
    return rc;
}

struct btz_str btz_llm_bare_name(struct btz_str id)
{
    for (size_t i = id.len; i > 0; i--) {
        if (id.ptr[i - 1] == '/') {
            return btz_str_sub(id, i, id.len);
        }
    }
    return id;
}

/* Some servers name the newest version so where others name none. */
static struct btz_str without_latest(struct btz_str name)
{
    struct btz_str tag = BTZ_STR(":latest");

    return btz_str_ends(name, tag) ? btz_str_sub(name, 0, name.len - tag.len) : name;
}

bool btz_llm_same_name(struct btz_str a, struct btz_str b)
{
    struct btz_str x = without_latest(btz_llm_bare_name(a));
    struct btz_str y = without_latest(btz_llm_bare_name(b));

    return x.len == y.len && x.len > 0 && strncasecmp(x.ptr, y.ptr, x.len) == 0;
}
