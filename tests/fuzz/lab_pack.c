/* Loads an attack file, or after a leading "S" a server file, under the loader's budgets, beside
 * two small servers; what loads is staged in all arms and its tools are called. */
#include "lab/embedded.h"
#include "lab/lab_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char desk[] =
    "return server { id = 'desk', title = 'Desk', instructions = 'Be brief.',"
    " base = function() return { notes = { a = 'first' } } end,"
    " seed = function(w, r) w:put('notes', 'b', r:pick { 'x', 'y' }) end,"
    " tools = { { name = 'read_note', title = 'R', description = 'Reads.',"
    "   input = { type = 'object', properties = { name = { type = 'string' } } }, annotations = {},"
    "   handler = function(w, args) return w:get('notes', args.name or 'a') or fail('none') end } "
    "},"
    " resources = { { uri = 'desk://notes', name = 'N', description = 'N.', mimeType = "
    "'text/plain',"
    "   read = function(w) return json.encode(w:get('notes')) end } },"
    " templates = { { uri = 'desk://notes/{name}', name = 'N', description = 'N.', mimeType = "
    "'text/plain',"
    "   complete = { name = function(w) return w:keys('notes') end },"
    "   read = function(w, vars) return w:get('notes', vars.name) or fail('none') end } },"
    " prompts = { { name = 'sum_up', title = 'S', description = 'Sums up.',"
    "   arguments = { { name = 'note', description = 'N.', required = true,"
    "     complete = function(w) return w:keys('notes') end } },"
    "   get = function(w, args) return w:get('notes', args.note) or fail('none') end } } }";

static const char post[] =
    "return server { id = 'post', title = 'Post', instructions = '',"
    " tools = { { name = 'send_card', title = 'S', description = 'Sends.',"
    "   input = { type = 'object', properties = { to = { type = 'string', description = 'T.' },"
    "     kind = { type = 'string', enum = { 'plain', 'picture' } }, text = { type = 'string' } } "
    "},"
    "   annotations = {}, sink = 'post.sent',"
    "   handler = function(w, args) w:sink('post.sent', args) return w:id('card') end } },"
    " resources = {}, prompts = {} }";

static void play_prompts(struct btz_stage *stage, size_t server)
{
    const struct btz_stage_server *s = btz_stage_server_at(stage, server);
    const struct btz_json *result;

    for (size_t p = 0; p < btz_json_count(s->prompts) && p < 4; p++) {
        const struct btz_json *prompt = btz_json_at(s->prompts, p);
        const struct btz_json *arguments = btz_json_getz(prompt, "arguments");
        struct btz_str name = btz_json_str(btz_json_getz(prompt, "name"));
        struct btz_json *ref = btz_json_new_object(stage->arena);
        struct btz_json *given = btz_json_new_object(stage->arena);

        btz_json_set_strz(stage->arena, ref, "type", "ref/prompt");
        btz_json_set_str(stage->arena, ref, "name", name);
        for (size_t a = 0; a < btz_json_count(arguments) && a < 4; a++) {
            struct btz_str argument =
                btz_json_str(btz_json_getz(btz_json_at(arguments, a), "name"));

            (void)!btz_stage_complete(stage, server, ref, argument, BTZ_STR("a"), given, &result,
                                      NULL);
            btz_json_set(stage->arena, given, argument,
                         btz_json_new_str(stage->arena, BTZ_STR("a")));
        }
        (void)!btz_stage_prompt(stage, server, name, given, 1, &result, NULL);
    }
    for (size_t t = 0; t < btz_json_count(s->templates) && t < 4; t++) {
        struct btz_str uri =
            btz_json_str(btz_json_getz(btz_json_at(s->templates, t), "uriTemplate"));
        struct btz_json *ref = btz_json_new_object(stage->arena);

        btz_json_set_strz(stage->arena, ref, "type", "ref/resource");
        btz_json_set_str(stage->arena, ref, "uri", uri);
        (void)!btz_stage_complete(stage, server, ref, BTZ_STR("name"), BTZ_STR("a"), NULL, &result,
                                  NULL);
        (void)!btz_stage_read(stage, server, uri, 1, &result, NULL);
    }
}

static void play(struct btz_stage *stage)
{
    const struct btz_json *result;
    const struct btz_json *empty = btz_json_new_array(stage->arena);
    struct btz_stage_verdict verdict;
    bool useful;

    for (size_t s = 0; s < btz_stage_server_count(stage); s++) {
        const struct btz_json *tools = btz_stage_server_at(stage, s)->tools;

        for (size_t t = 0; t < btz_json_count(tools) && t < 4; t++) {
            struct btz_str name = btz_json_str(btz_json_getz(btz_json_at(tools, t), "name"));

            (void)!btz_stage_call(stage, s, name, NULL, 1, &result, NULL);
        }
        play_prompts(stage, s);
    }
    (void)!btz_stage_oracle(stage, empty, empty, &verdict, NULL);
    (void)!btz_stage_utility(stage, empty, empty, &useful, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bool server = size > 0 && data[0] == 'S';
    struct btz_embedded files[] = {
        {"servers/desk.lua", desk, sizeof(desk) - 1},
        {"servers/post.lua", post, sizeof(post) - 1},
        {server ? "servers/x.lua" : "attacks/st/x.lua", (const char *)data + server, size - server},
    };
    struct btz_lab *lab;
    struct btz_stage *stage;
    struct btz_err err;

    if (btz_lab_new_given(files, 3, &lab, &err) != BTZ_OK) {
        if (err.msg[0] == '\0') {
            __builtin_trap(); /* every refusal says why */
        }
        return 0;
    }
    for (size_t i = 0; i < btz_lab_scenario_count(lab) && i < 4; i++) {
        for (int arm = 0; arm < 3; arm++) {
            if (btz_stage_new(lab, btz_lab_scenario_at(lab, i), (enum btz_arm)arm, 1, &stage,
                              &err) == BTZ_OK) {
                play(stage);
                btz_stage_free(stage);
            }
        }
    }
    if (server) {
        struct btz_str id = lab->servers[lab->server_count - 1]->id;

        if (btz_stage_new_plain(lab, &id, 1, 1, &stage, &err) == BTZ_OK) {
            play(stage);
            btz_stage_free(stage);
        }
    }
    btz_lab_free(lab);
    return 0;
}
