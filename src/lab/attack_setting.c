/* The setting of a variant: what a schema cannot say about servers, sessions and choices. */
#include <stdio.h>

#include "lab/attack_int.h"

struct btz_str btz_lab_card_below(struct checking *c, const char *fmt, size_t index)
{
    char tail[100];

    (void)snprintf(tail, sizeof(tail), fmt, index);
    return btz_arena_printf(c->lab->arena, "%s%s", c->path.ptr, tail);
}

bool btz_lab_lists(const struct btz_json *list, struct btz_str text)
{
    for (size_t i = 0; i < btz_json_count(list); i++) {
        if (btz_str_eq(btz_json_str(btz_json_at(list, i)), text)) {
            return true;
        }
    }
    return false;
}

/* Among how many a model that does not look chooses: tools of the setting, one the attacker's. */
static int check_choices(struct checking *c)
{
    const struct btz_json *given = btz_json_getz(c->setting, "choices");
    const struct btz_json *servers = btz_json_getz(c->setting, "servers");
    size_t tools = 0;
    int64_t choices = 0;

    if (!given) {
        return BTZ_OK;
    }
    for (size_t i = 0; i < btz_json_count(servers); i++) {
        const struct server *server =
            btz_lab_server_in(c->lab, c->variant, btz_json_str(btz_json_at(servers, i)));

        tools += server ? server->tool_count : 0;
    }
    if (!btz_str_is(btz_json_str(btz_json_getz(c->variant->pub.attack_card, "mapping")),
                    "shadowing")) {
        return btz_lab_refuse(c->script, btz_lab_card_below(c, "/setting/choices", 0), c->err,
                              "only an attack that hopes for a wrong choice has it, and its "
                              "mapping is \"shadowing\"");
    }
    if (!btz_json_int64(given, &choices) || choices < 2 || (uint64_t)choices > tools) {
        return btz_lab_refuse(c->script, btz_lab_card_below(c, "/setting/choices", 0), c->err,
                              "must be a whole number from 2 to %zu, the tools of the setting's "
                              "servers",
                              tools);
    }
    return BTZ_OK;
}

static int check_places(struct checking *c)
{
    const struct btz_json *servers = btz_json_getz(c->setting, "servers");
    const struct btz_json *resources = btz_json_getz(c->setting, "resources");
    struct btz_str attacker = btz_json_str(btz_json_getz(c->setting, "attacker"));

    for (size_t i = 0; i < btz_json_count(servers); i++) {
        struct btz_str id = btz_json_str(btz_json_at(servers, i));

        if (!btz_lab_server_in(c->lab, c->variant, id)) {
            return btz_lab_refuse(c->script, btz_lab_card_below(c, "/setting/servers/%zu", i),
                                  c->err, "there is no server \"%.*s\" in the packs", BTZ_FMT(id));
        }
    }
    for (size_t i = 0; i < btz_json_count(resources); i++) {
        struct btz_str uri = btz_json_str(btz_json_at(resources, i));
        const struct btz_json *values = NULL;
        bool found = false;

        for (size_t s = 0; s < btz_json_count(servers); s++) {
            struct server *server =
                btz_lab_server_in(c->lab, c->variant, btz_json_str(btz_json_at(servers, s)));

            for (size_t r = 0; r < server->resource_count; r++) {
                found = found || btz_str_eq(server->resources[r].uri, uri);
            }
            found = found || btz_lab_template_match(server, c->lab->scratch, uri, &values);
        }
        if (!found) {
            return btz_lab_refuse(c->script, btz_lab_card_below(c, "/setting/resources/%zu", i),
                                  c->err, "no server of the setting has a resource \"%.*s\"",
                                  BTZ_FMT(uri));
        }
    }
    if (!btz_str_is(attacker, "user") && !btz_str_is(attacker, "wire") &&
        !btz_str_is(attacker, "content") && !btz_lab_lists(servers, attacker)) {
        return btz_lab_refuse(c->script, btz_lab_card_below(c, "/setting/attacker", 0), c->err,
                              "must be one of setting.servers, \"user\", \"content\" or \"wire\"");
    }
    return check_choices(c);
}

/* Sessions, and what has to do with them. */
static int check_sessions(struct checking *c)
{
    const struct btz_json *turns = btz_json_getz(c->setting, "turns");
    const struct btz_json *memory = btz_json_getz(c->setting, "memory");
    static const char *const marks[] = {"second_session_turn", "reconnect_turn"};
    int64_t sessions = 1;

    (void)btz_json_int64(btz_json_getz(c->setting, "sessions"), &sessions);
    if ((sessions == 2) != (btz_json_getz(c->setting, "second_session_turn") != NULL)) {
        return btz_lab_refuse(c->script, btz_lab_card_below(c, "/setting/sessions", 0), c->err,
                              "two sessions need second_session_turn, the number of the user turn "
                              "that begins the second; one session has none");
    }
    for (size_t i = 0; i < 2; i++) {
        int64_t turn = 0;

        if (btz_json_int64(btz_json_getz(c->setting, marks[i]), &turn) &&
            (turn < 2 || (size_t)turn > btz_json_count(turns))) {
            return btz_lab_refuse(c->script, btz_lab_card_below(c, "/setting", 0), c->err,
                                  "%s must be the number of a user turn after the first", marks[i]);
        }
    }
    if (memory && (sessions != 2 ||
                   !btz_lab_lists(btz_json_getz(c->setting, "servers"), btz_json_str(memory)))) {
        return btz_lab_refuse(c->script, btz_lab_card_below(c, "/setting/memory", 0), c->err,
                              "must be one of setting.servers, in a setting of two sessions");
    }
    return BTZ_OK;
}

static int check_rounds(struct checking *c)
{
    const struct btz_json *rounds = btz_json_getz(c->setting, "rounds");

    if (rounds && !btz_lab_lists(btz_json_getz(c->setting, "servers"), btz_json_str(rounds))) {
        return btz_lab_refuse(c->script, btz_lab_card_below(c, "/setting/rounds", 0), c->err,
                              "must be one of setting.servers");
    }
    return BTZ_OK;
}

int btz_lab_reconfigured_check(struct checking *c, const struct btz_json *change,
                               struct btz_str path)
{
    static const char *const names[] = {"leaves", "joins"};
    const struct btz_json *servers = btz_json_getz(c->setting, "servers");

    if (change && !btz_json_getz(c->setting, "reconnect_turn") &&
        !btz_json_getz(c->setting, "second_session_turn")) {
        return btz_lab_refuse(c->script, path, c->err,
                              "a host reads its configuration when it connects: the setting needs "
                              "reconnect_turn or second_session_turn");
    }
    for (size_t i = 0; i < 2; i++) {
        const struct btz_json *list = btz_json_getz(change, names[i]);
        const struct btz_json *other = btz_json_getz(change, names[1 - i]);

        if (list && btz_json_count(list) == btz_json_count(servers)) {
            return btz_lab_refuse(c->script, path, c->err,
                                  "some server must be there before and after");
        }
        for (size_t n = 0; n < btz_json_count(list); n++) {
            struct btz_str id = btz_json_str(btz_json_at(list, n));

            if (!btz_lab_lists(servers, id) || btz_lab_lists(other, id)) {
                return btz_lab_refuse(c->script, path, c->err,
                                      "\"%.*s\" must be one of setting.servers, and either leave "
                                      "or join",
                                      BTZ_FMT(id));
            }
        }
    }
    return BTZ_OK;
}

int btz_lab_setting_check(struct checking *c)
{
    int code = check_places(c);

    code = code != BTZ_OK ? code : check_sessions(c);
    code = code != BTZ_OK
               ? code
               : btz_lab_reconfigured_check(c, btz_json_getz(c->setting, "reconfigured"),
                                            btz_lab_card_below(c, "/setting/reconfigured", 0));
    return code != BTZ_OK ? code : check_rounds(c);
}
