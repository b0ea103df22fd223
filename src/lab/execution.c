/* Execution hashes: what a call of a tool is about to run, as one number.
 *
 * It stands for what a careful host can know of a server: where it comes from, the definition that
 * it showed, and the digest of its build. Here the build is the server's file with the tool's place
 * in it, and once a payload has changed the handler, the variant's file and that payload as well.
 */
#include "lab/lab_int.h"

static struct btz_str bytes_of(const struct btz_hash *hash)
{
    return (struct btz_str){(const char *)hash->bytes, sizeof(hash->bytes)};
}

static void add_code(struct btz_hasher *hasher, const struct btz_stage *stage,
                     const struct stage_server *server, size_t tool)
{
    const struct btz_fragment *changed = server->tools[tool].handler;

    btz_hasher_add_part(hasher, bytes_of(&server->server->script->digest));
    btz_hasher_add_part(hasher, server->server->tools[tool].name);
    if (changed) {
        btz_hasher_add_part(hasher, bytes_of(&stage->variant->script->digest));
        btz_hasher_add_part(hasher, stage->variant->pub.id);
        btz_hasher_add_part(hasher, changed->text);
    }
}

struct btz_hash btz_stage_execution(const struct btz_stage *stage, size_t server_index,
                                    const struct btz_json *definition)
{
    const struct stage_server *server = &stage->servers[server_index];
    struct btz_str name = btz_json_str(btz_json_getz(definition, "name"));
    struct btz_hasher *hasher = btz_hasher_new();
    struct btz_arena *arena = btz_arena_new();
    struct btz_hash out;

    btz_hasher_add_part(hasher, server->pub.id);
    btz_hasher_add_part(hasher, btz_json_text(arena, definition));
    for (size_t i = 0; i < server->server->tool_count; i++) {
        if (btz_str_eq(btz_stage_tool_name(server, i), name)) {
            add_code(hasher, stage, server, i);
        }
    }
    out = btz_hasher_end(hasher);
    btz_hasher_free(hasher);
    btz_arena_free(arena);
    return out;
}
