/* arena config: the entries of the lab's servers for the settings files of MCP clients. Where each
 * file lies is told in docs/user/arena.md. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arena/site.h"
#include "cmd/arena.h"

/* The member that holds the servers, and whether an entry names its transport. */
struct client {
    const char *name;
    const char *servers;
    bool stdio_type, http_type;
};

static const struct client clients[] = {
    {"claude", "mcpServers", false, true}, /* Claude Code needs "type" for a URL */
    {"cursor", "mcpServers", false, false},
    {"vscode", "servers", true, true},
    {"generic", "mcpServers", true, true},
};

static int find_client(struct btz_context *context, const struct client **out, struct btz_err *err)
{
    const char *name = btz_args_text(context->args, "client", "generic");

    for (size_t i = 0; i < sizeof(clients) / sizeof(clients[0]); i++) {
        if (strcmp(name, clients[i].name) == 0) {
            *out = &clients[i];
            return BTZ_OK;
        }
    }
    return btz_err_set(err, BTZ_EUSAGE, "--client is claude, cursor, vscode or generic, not \"%s\"",
                       name);
}

static void add_arg(struct btz_arena *arena, struct btz_json *args, const char *text)
{
    btz_json_push(arena, args, btz_json_new_strz(arena, text));
}

/* The client starts the server by itself: paths are absolute, for it has a folder of its own. */
static int stdio_entry(struct btz_context *context, const struct client *client, const char *server,
                       struct btz_json **out, struct btz_err *err)
{
    struct btz_arena *arena = context->arena;
    struct btz_json *entry = btz_json_new_object(arena);
    struct btz_json *args = btz_json_new_array(arena);
    const char *const *packs = NULL;
    size_t pack_count = btz_args_list(context->args, "pack", &packs);
    char path[PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);

    if (len <= 0) {
        return btz_err_set(err, BTZ_EIO, "the path of this program cannot be read: %s",
                           strerror(errno));
    }
    path[len] = '\0';
    if (client->stdio_type) {
        btz_json_set_strz(arena, entry, "type", "stdio");
    }
    btz_json_set_strz(arena, entry, "command", path);
    add_arg(arena, args, "arena");
    add_arg(arena, args, "--stdio");
    add_arg(arena, args, "--server");
    add_arg(arena, args, server);
    if (btz_args_has(context->args, "seed")) {
        char seed[32];

        (void)snprintf(seed, sizeof(seed), "%lld",
                       (long long)btz_args_int(context->args, "seed", 1));
        add_arg(arena, args, "--seed");
        add_arg(arena, args, seed);
    }
    for (size_t i = 0; i < pack_count; i++) {
        if (btz_lab_pack_is_builtin(packs[i])) {
            (void)snprintf(path, sizeof(path), "%s", packs[i]);
        } else if (!realpath(packs[i], path)) {
            return btz_err_set(err, BTZ_EUSAGE, "the pack %s cannot be found: %s", packs[i],
                               strerror(errno));
        }
        add_arg(arena, args, "--pack");
        add_arg(arena, args, path);
    }
    btz_json_setz(arena, entry, "args", args);
    *out = entry;
    return BTZ_OK;
}

static struct btz_json *http_entry(struct btz_context *context, const struct client *client,
                                   struct btz_str label)
{
    struct btz_json *entry = btz_json_new_object(context->arena);
    struct btz_str host = btz_str_of(btz_args_text(context->args, "http", ""));

    if (client->http_type) {
        btz_json_set_strz(context->arena, entry, "type", "http");
    }
    btz_json_set_str(context->arena, entry, "url",
                     btz_arena_printf(context->arena, "http://%.*s/%.*s/mcp", BTZ_FMT(host),
                                      BTZ_FMT(btz_site_label_path(context->arena, label))));
    return entry;
}

static int add_entries(struct btz_context *context, const struct client *client,
                       const struct btz_play *play, struct btz_json *servers, struct btz_err *err)
{
    struct btz_stage *stage = btz_play_stage((struct btz_play *)play);
    bool http = btz_args_has(context->args, "http");

    for (size_t i = 0; i < btz_stage_server_count(stage); i++) {
        const struct btz_stage_server *server = btz_stage_server_at(stage, i);
        struct btz_str name = server->label;
        struct btz_json *entry = NULL;

        if (btz_json_get(servers, name)) { /* two servers of one label; as in the site's paths */
            name = btz_arena_printf(context->arena, "%.*s-%zu", BTZ_FMT(name), i + 1);
        }
        if (http) {
            entry = http_entry(context, client, name);
        } else {
            int rc = stdio_entry(context, client, btz_arena_cstr(context->arena, server->id),
                                 &entry, err);

            if (rc != BTZ_OK) {
                return rc;
            }
        }
        btz_json_set(context->arena, servers, name, entry);
    }
    return BTZ_OK;
}

int btz_cmd_arena_config(struct btz_context *context, struct btz_lab *lab, struct btz_err *err)
{
    struct btz_json *servers = btz_json_new_object(context->arena);
    struct btz_json *file = btz_json_new_object(context->arena);
    const struct client *client = NULL;
    struct btz_play_options options;
    struct btz_play *play = NULL;
    struct btz_str address;
    struct btz_buf out;
    uint16_t port = 0;
    int rc = find_client(context, &client, err);

    if (rc == BTZ_OK && btz_args_has(context->args, "http")) {
        rc = btz_cmd_arena_address(btz_str_of(btz_args_text(context->args, "http", "")), &address,
                                   &port, err);
        if (rc == BTZ_OK && port == 0) {
            rc = btz_err_set(err, BTZ_EUSAGE, "a client has to be told the port: it cannot be 0");
        }
    } else if (rc == BTZ_OK && btz_args_has(context->args, "scenario")) {
        rc = btz_err_set(err, BTZ_EUSAGE, "a scenario's servers share a world: give --http, too");
    }
    if (rc == BTZ_OK && (rc = btz_cmd_arena_stage(context, lab, &options, err)) == BTZ_OK &&
        (rc = btz_cmd_arena_play(&options, &play, err)) == BTZ_OK) {
        rc = add_entries(context, client, play, servers, err);
    }
    btz_play_free(play);
    if (rc != BTZ_OK) {
        return rc;
    }
    btz_json_setz(context->arena, file, client->servers, servers);
    btz_buf_init(&out, (size_t)16 * 1024 * 1024);
    (void)btz_json_write_pretty(&out, file);
    (void)btz_buf_add_byte(&out, '\n');
    rc = btz_cmd_print(&out, err);
    btz_buf_fini(&out);
    return rc;
}
