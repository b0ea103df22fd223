/* What a setting keeps from the host, for some time or for good: tools, so that a list grows, and
 * servers, so that the host's configuration changes. */
#include "lab/attack_int.h"

/* Of the arm at hand: a twin may have a list of its own, else it has the setting's. */
static const struct btz_json *of_arm(const struct btz_stage *stage, const char *key)
{
    const struct btz_json *card = stage->variant ? stage->variant->pub.card : NULL;
    const struct btz_json *own =
        btz_json_getz(btz_json_getz(btz_json_getz(card, "twins"), btz_arm_name(stage->arm)), key);

    return own ? own : btz_json_getz(btz_json_getz(card, "setting"), key);
}

static const struct btz_json *withheld(const struct btz_stage *stage)
{
    return of_arm(stage, "withheld");
}

bool btz_stage_grows(const struct btz_stage *stage)
{
    const struct btz_json *list = withheld(stage);

    for (size_t i = 0; i < btz_json_count(list); i++) {
        if (btz_json_getz(btz_json_at(list, i), "since")) {
            return true;
        }
    }
    return false;
}

static bool is_withheld(const struct btz_stage *stage, struct btz_str server, struct btz_str tool)
{
    const struct btz_json *list = withheld(stage);

    for (size_t i = 0; i < btz_json_count(list); i++) {
        const struct btz_json *item = btz_json_at(list, i);
        const struct btz_json *since = btz_json_getz(item, "since");

        if (btz_str_eq(btz_json_str(btz_json_getz(item, "server")), server) &&
            btz_str_eq(btz_json_str(btz_json_getz(item, "tool")), tool)) {
            return !since || !btz_stage_reached(stage, since);
        }
    }
    return false;
}

void btz_stage_withhold(struct btz_stage *stage)
{
    for (size_t s = 0; s < stage->server_count; s++) {
        struct stage_server *server = &stage->servers[s];
        struct btz_json *offered = btz_json_new_array(stage->arena);
        bool any = false;

        for (size_t t = 0; t < server->server->tool_count; t++) {
            bool held = is_withheld(stage, server->pub.id, server->server->tools[t].name);

            server->tools[t].withheld = held;
            any = any || held;
            if (!held) {
                btz_json_push(stage->arena, offered, btz_json_at(server->pub.tools, t));
            }
        }
        server->pub.tools = any ? offered : server->pub.tools;
    }
}

bool btz_stage_shows(const struct btz_stage *stage, const char *field)
{
    const struct btz_json *shown =
        btz_json_pointer(stage->variant->pub.card, BTZ_STR("/setting/shows"));

    for (size_t i = 0; i < btz_json_count(shown); i++) {
        if (btz_str_is(btz_json_str(btz_json_at(shown, i)), field)) {
            return true;
        }
    }
    return false;
}

bool btz_stage_polled(const struct btz_stage *stage)
{
    return stage->variant &&
           btz_json_bool(btz_json_pointer(stage->variant->pub.card, BTZ_STR("/setting/polled")),
                         false);
}

bool btz_stage_configured(const struct btz_stage *stage, size_t server)
{
    const struct btz_json *change = of_arm(stage, "reconfigured");
    size_t turn = btz_stage_reconnect(stage);
    bool later = turn == SIZE_MAX ? stage->progress.session > 1 : stage->progress.turn > turn;
    struct btz_str id = server < stage->server_count ? stage->servers[server].pub.id : BTZ_STR_NONE;

    return !btz_lab_lists(btz_json_getz(change, later ? "leaves" : "joins"), id);
}

struct btz_stage_lists btz_stage_lists(const struct btz_stage *stage, size_t server)
{
    const struct btz_json *card = stage->variant ? stage->variant->pub.card : NULL;
    const struct btz_json *lists = btz_json_getz(btz_json_getz(card, "setting"), "lists");
    struct btz_stage_lists out = {0};
    int64_t page_size = 0;

    if (server < stage->server_count && stage->servers[server].pub.attacker) {
        (void)btz_json_int64(btz_json_getz(lists, "page_size"), &page_size);
        (void)btz_json_int64(btz_json_getz(lists, "ttl_ms"), &out.ttl_ms);
        out.page_size = (size_t)page_size;
    }
    return out;
}
