#include "auth/challenge.h"

#include <strings.h>

struct reader {
    struct btz_str rest;
    struct btz_arena *arena;
};

static bool is_token_byte(char c)
{
    return c && ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                 strchr("!#$%&'*+-.^_`|~", c));
}

static void skip(struct reader *r, const char *bytes)
{
    while (r->rest.len && r->rest.ptr[0] && strchr(bytes, r->rest.ptr[0])) {
        r->rest = btz_str_sub(r->rest, 1, r->rest.len);
    }
}

static struct btz_str token(struct reader *r)
{
    size_t len = 0;
    struct btz_str out;

    while (len < r->rest.len && is_token_byte(r->rest.ptr[len])) {
        len++;
    }
    out = btz_str_sub(r->rest, 0, len);
    r->rest = btz_str_sub(r->rest, len, r->rest.len);
    return out;
}

static bool take(struct reader *r, char c)
{
    if (r->rest.len == 0 || r->rest.ptr[0] != c) {
        return false;
    }
    r->rest = btz_str_sub(r->rest, 1, r->rest.len);
    return true;
}

/* A quoted-string behind its first quote; obs-text is refused. */
static bool quoted(struct reader *r, struct btz_str *out)
{
    char *text = btz_arena_alloc(r->arena, r->rest.len + 1);
    size_t len = 0;

    for (size_t i = 0; i < r->rest.len; i++) {
        char c = r->rest.ptr[i];

        if (c == '"') {
            *out = (struct btz_str){text, len};
            r->rest = btz_str_sub(r->rest, i + 1, r->rest.len);
            return true;
        }
        if (c == '\\') {
            if (++i == r->rest.len) {
                return false;
            }
            c = r->rest.ptr[i];
        }
        if ((c < 0x20 && c != '\t') || c >= 0x7F) {
            return false;
        }
        text[len++] = c;
    }
    return false;
}

static bool same(struct btz_str a, const char *b)
{
    return a.len == strlen(b) && strncasecmp(a.ptr, b, a.len) == 0;
}

/* Names that a challenge has had. */
struct seen {
    struct btz_str names[32];
    size_t count;
};

static bool note_name(struct seen *seen, struct btz_str name)
{
    for (size_t i = 0; i < seen->count; i++) {
        if (name.len == seen->names[i].len &&
            strncasecmp(name.ptr, seen->names[i].ptr, name.len) == 0) {
            return false;
        }
    }
    if (seen->count == sizeof(seen->names) / sizeof(seen->names[0])) {
        return false;
    }
    seen->names[seen->count++] = name;
    return true;
}

static void keep(struct btz_auth_challenge *out, struct btz_arena *arena, struct btz_str name,
                 struct btz_str value)
{
    struct btz_str *place = same(name, "realm")               ? &out->realm
                            : same(name, "resource_metadata") ? &out->resource_metadata
                            : same(name, "scope")             ? &out->scope
                            : same(name, "error")             ? &out->error
                            : same(name, "error_description") ? &out->error_description
                                                              : NULL;

    if (place) {
        *place = btz_arena_dup(arena, value);
    }
}

/* `name` was read; the rest of the parameter follows. */
static bool parameter(struct reader *r, struct btz_str name, struct seen *seen,
                      struct btz_auth_challenge *into)
{
    struct btz_str value;

    skip(r, " \t");
    if (!name.len || !take(r, '=')) {
        return false;
    }
    skip(r, " \t");
    if (take(r, '"')) {
        if (!quoted(r, &value)) {
            return false;
        }
    } else if (!(value = token(r)).len) {
        return false;
    }
    if (!note_name(seen, name)) {
        return false;
    }
    if (into) {
        keep(into, r->arena, name, value);
    }
    return true;
}

/* What follows a scheme may be one token68: letters, digits, -._~+/ and then '='. */
static bool token68(struct reader *r)
{
    struct reader probe = *r;
    size_t len = 0;

    while (len < probe.rest.len &&
           (is_token_byte(probe.rest.ptr[len]) || probe.rest.ptr[len] == '/')) {
        len++;
    }
    probe.rest = btz_str_sub(probe.rest, len, probe.rest.len);
    skip(&probe, "=");
    skip(&probe, " \t");
    if (len == 0 || (probe.rest.len && probe.rest.ptr[0] != ',')) {
        return false;
    }
    *r = probe;
    return true;
}

/* Parameters of one challenge up to the next scheme or the end; `*next` is the scheme then. */
static bool parameters(struct reader *r, struct btz_auth_challenge *into, struct btz_str *next)
{
    struct seen seen = {.count = 0};
    struct btz_str name = token(r);

    *next = BTZ_STR_NONE;
    for (;;) {
        if (!parameter(r, name, &seen, into)) {
            return false;
        }
        skip(r, " \t");
        if (r->rest.len == 0) {
            return true;
        }
        if (!take(r, ',')) {
            return false;
        }
        skip(r, " \t,");
        name = token(r);
        if (!name.len) {
            return r->rest.len == 0;
        }
        if (r->rest.len == 0 || r->rest.ptr[0] == ',') {
            *next = name; /* a scheme alone */
            return true;
        }
        if (r->rest.ptr[0] == ' ') {
            struct reader ahead = *r;

            skip(&ahead, " \t");
            if (ahead.rest.len == 0 || ahead.rest.ptr[0] != '=') {
                *next = name;
                return true;
            }
        }
    }
}

static bool challenges(struct reader *r, struct btz_auth_challenge *out)
{
    struct btz_str scheme;

    skip(r, " \t,");
    scheme = token(r);
    while (scheme.len) {
        bool first = same(scheme, "bearer") && !out->bearer;
        struct btz_auth_challenge *into = first ? out : NULL;

        out->bearer |= first;
        scheme = BTZ_STR_NONE;
        if (r->rest.len && r->rest.ptr[0] == ' ') {
            skip(r, " ");
            if (r->rest.len && r->rest.ptr[0] != ',' && !token68(r) &&
                !parameters(r, into, &scheme)) {
                return false;
            }
        }
        if (scheme.len) {
            continue;
        }
        if (r->rest.len && !take(r, ',')) {
            return false;
        }
        skip(r, " \t,");
        scheme = token(r);
    }
    return r->rest.len == 0;
}

int btz_auth_challenge_parse(struct btz_arena *arena, struct btz_str value,
                             struct btz_auth_challenge *out, struct btz_err *err)
{
    struct reader reader = {value, arena};
    struct btz_auth_challenge challenge = {.bearer = false};

    if (value.len > BTZ_AUTH_CHALLENGE_MAX) {
        return btz_err_set(err, BTZ_ELIMIT, "WWW-Authenticate is longer than %d bytes",
                           BTZ_AUTH_CHALLENGE_MAX);
    }
    if (!challenges(&reader, &challenge)) {
        return btz_err_set(err, BTZ_EINVAL, "WWW-Authenticate breaks its grammar at byte %zu",
                           value.len - reader.rest.len + 1);
    }
    *out = challenge;
    return BTZ_OK;
}

struct btz_auth_challenge btz_auth_challenge_of(struct btz_arena *arena,
                                                const struct btz_http_field *fields, size_t count)
{
    struct btz_auth_challenge challenge = {.bearer = false};

    for (size_t i = 0; i < count && !challenge.bearer; i++) {
        if (!same(fields[i].name, "www-authenticate") ||
            btz_auth_challenge_parse(arena, fields[i].value, &challenge, NULL) != BTZ_OK) {
            continue;
        }
    }
    return challenge;
}
