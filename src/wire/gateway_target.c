/* The command or URL of a gateway, as a person writes it. */
#include <stdio.h>

#include "proc/words.h"
#include "wire/gateway_int.h"

enum { MAX_TARGET = 8192, MAX_FILLED = 64 * 1024 };

/* Placeholders that a word may hold. */
static const char *const names[] = {"url", "command", "program", "address", "server", "port"};
enum { NAMES = sizeof(names) / sizeof(names[0]) };

struct values {
    struct btz_str of[NAMES];
};

bool btz_gateway_is_url(struct btz_str target)
{
    return btz_str_starts(target, BTZ_STR("http://")) ||
           btz_str_starts(target, BTZ_STR("https://"));
}

bool target_has(struct btz_str text, const char *name)
{
    char wanted[32];
    int len = snprintf(wanted, sizeof(wanted), "{%s}", name);

    return btz_str_find(text, (struct btz_str){wanted, (size_t)len}) >= 0;
}

/* Which placeholder begins at `at`; NAMES if none does. */
static size_t name_at(struct btz_str text, size_t at)
{
    for (size_t i = 0; i < NAMES; i++) {
        size_t len = strlen(names[i]);

        if (text.len - at >= len + 2 && text.ptr[at] == '{' && text.ptr[at + len + 1] == '}' &&
            memcmp(text.ptr + at + 1, names[i], len) == 0) {
            return i;
        }
    }
    return NAMES;
}

/* The text with its placeholders replaced. Other braces stay: JSON has them, too. */
static struct btz_str fill(struct btz_arena *arena, struct btz_str text,
                           const struct values *values)
{
    struct btz_buf out;
    struct btz_str made;
    size_t at = 0;

    btz_buf_init(&out, MAX_FILLED);
    while (at < text.len) {
        size_t name = name_at(text, at);

        if (name == NAMES) {
            (void)btz_buf_add_byte(&out, text.ptr[at++]);
        } else {
            (void)btz_buf_add_str(&out, values->of[name]);
            at += strlen(names[name]) + 2;
        }
    }
    made = btz_arena_dup(arena, btz_buf_view(&out));
    btz_buf_fini(&out);
    return made;
}

static struct values values_for(struct btz_arena *arena, const struct btz_gateway_options *options,
                                const struct btz_gateway_conn *conn, uint16_t port)
{
    struct values values = {{conn ? conn->url : BTZ_STR("-"), BTZ_STR_NONE, options->program,
                             conn ? conn->address : BTZ_STR("-"),
                             conn ? conn->options.id : BTZ_STR("-"),
                             btz_arena_printf(arena, "%u", (unsigned)port)}};
    struct btz_buf line;

    btz_buf_init(&line, MAX_FILLED);
    btz_proc_quote(&line, values.of[2]);
    (void)btz_buf_add_text(&line, " connect ");
    btz_proc_quote(&line, values.of[3]);
    values.of[1] = btz_arena_dup(arena, btz_buf_view(&line));
    btz_buf_fini(&line);
    return values;
}

/* argv of a command; `words` without the one that tells the path. */
static const char **make_argv(struct btz_arena *arena, const struct btz_proc_word *words,
                              size_t count, const struct values *values)
{
    const char **argv = btz_arena_array(arena, 3 * count + 1, sizeof(*argv));
    size_t n = 0;

    for (size_t i = 0; i < count; i++) {
        if (!words[i].quoted && btz_str_is(words[i].text, "{command}")) {
            argv[n++] = btz_arena_cstr(arena, values->of[2]);
            argv[n++] = "connect";
            argv[n++] = btz_arena_cstr(arena, values->of[3]);
        } else {
            argv[n++] = btz_arena_cstr(arena, fill(arena, words[i].text, values));
        }
    }
    argv[n] = NULL;
    return argv;
}

static int make_command(struct btz_arena *arena, const struct btz_gateway_options *options,
                        const struct values *values, uint16_t port, struct target *out,
                        struct btz_err *err)
{
    struct btz_proc_word *words = NULL;
    struct btz_str path = BTZ_STR("/mcp");
    size_t count = 0;
    bool has_path;

    if (btz_proc_words(arena, options->target, &words, &count, err) != BTZ_OK) {
        struct btz_err why = *err;

        return btz_err_set(err, BTZ_EUSAGE, "the gateway's command: %s", why.msg);
    }
    has_path = btz_str_starts(words[count - 1].text, BTZ_STR("@/"));
    if (has_path) {
        path = btz_str_sub(words[--count].text, 1, MAX_TARGET);
    }
    out->http = target_has(options->target, "port");
    if (count == 0 || (has_path && !out->http)) {
        return btz_err_set(err, BTZ_EUSAGE, "the gateway's command: %s",
                           count ? "@/PATH is of use with {port} only" : "it has no program");
    }
    if (!target_has(options->target, "url") && !target_has(options->target, "command") &&
        !target_has(options->target, "address")) {
        return btz_err_set(err, BTZ_EUSAGE,
                           "the gateway's command does not say where its server is: put {url} or "
                           "{command} into it");
    }
    out->argv = make_argv(arena, words, count, values);
    out->origin = btz_arena_printf(arena, "http://127.0.0.1:%u", (unsigned)port);
    out->path = fill(arena, path, values);
    return BTZ_OK;
}

/* No port, or ":" and a number; nothing that could make another host of what stands before. */
static bool has_good_port(struct btz_str port)
{
    int64_t number = 0;

    return port.len == 0 ||
           (port.len <= 6 && btz_str_int64(btz_str_sub(port, 1, port.len), &number) == BTZ_OK &&
            number >= 1 && number <= UINT16_MAX);
}

/* Whether it is this machine; `*port` gets what stands behind the name, with its colon. */
static bool is_loopback(struct btz_str host, struct btz_str *port)
{
    static const char *const hosts[] = {"127.0.0.1", "localhost", "[::1]"};

    for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
        struct btz_str name = btz_str_of(hosts[i]);

        if (btz_str_starts(host, name) && (host.len == name.len || host.ptr[name.len] == ':')) {
            *port = btz_str_sub(host, name.len, host.len);
            return true;
        }
    }
    return false;
}

static int make_url(struct btz_arena *arena, const struct btz_gateway_options *options,
                    const struct values *values, struct target *out, struct btz_err *err)
{
    struct btz_str rest = btz_str_sub(options->target, strlen("http://"), MAX_TARGET);
    struct btz_str host;
    struct btz_str port;

    if (!btz_str_starts(options->target, BTZ_STR("http://"))) {
        return btz_err_set(err, BTZ_EUSAGE,
                           "the gateway's URL must begin with http://: it is on "
                           "this machine");
    }
    (void)btz_str_cut(&rest, '/', &host);
    if (!is_loopback(host, &port)) {
        return btz_err_set(err, BTZ_EUSAGE,
                           "the gateway's URL must have the host 127.0.0.1, localhost or [::1]");
    }
    if (!has_good_port(port)) {
        return btz_err_set(err, BTZ_EUSAGE,
                           "the gateway's URL must have a port from 1 to 65535, got \"%.*s\"",
                           BTZ_FMT(btz_str_sub(port, 1, 32)));
    }
    for (size_t i = 0; i < rest.len; i++) {
        if (rest.ptr[i] <= ' ' || rest.ptr[i] == 127) {
            return btz_err_set(err, BTZ_EUSAGE,
                               "the gateway's URL has a space or control "
                               "character in it");
        }
    }
    out->argv = NULL;
    out->http = true;
    out->origin = btz_arena_printf(arena, "http://%.*s", BTZ_FMT(host));
    out->path = btz_arena_printf(arena, "/%.*s", BTZ_FMT(fill(arena, rest, values)));
    return BTZ_OK;
}

int target_make(struct btz_arena *arena, const struct btz_gateway_options *options,
                const struct btz_gateway_conn *conn, uint16_t port, struct target *out,
                struct btz_err *err)
{
    struct values values;

    if (options->target.len > MAX_TARGET) {
        return btz_err_set(err, BTZ_EUSAGE, "the gateway's command has over %d bytes", MAX_TARGET);
    }
    values = values_for(arena, options, conn, port);
    return btz_gateway_is_url(options->target)
               ? make_url(arena, options, &values, out, err)
               : make_command(arena, options, &values, port, out, err);
}

int btz_gateway_check(struct btz_str target, struct btz_err *err)
{
    struct btz_gateway_options options = {.target = target, .program = BTZ_STR("bartizan")};
    struct btz_arena *arena = btz_arena_new();
    struct btz_err own;
    struct target made;
    int rc = target_make(arena, &options, NULL, 0, &made, &own);

    if (rc != BTZ_OK && err) {
        *err = own;
    }
    btz_arena_free(arena);
    return rc;
}
