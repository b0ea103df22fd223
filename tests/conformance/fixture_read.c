/* Resources, prompts and completion. */
#include "fixture.h"

#include <string.h>

#define TEMPLATE_HEAD "test://template/"
#define TEMPLATE_TAIL "/data"

static struct btz_json *contents_of(struct btz_arena *arena, struct btz_json *item)
{
    struct btz_json *result = btz_json_new_object(arena);
    struct btz_json *contents = btz_json_new_array(arena);

    btz_json_push(arena, contents, item);
    btz_json_setz(arena, result, "contents", contents);
    return result;
}

/* The part of a URI that {id} stands for; false if it is none of the template. */
static bool template_id(struct btz_str uri, struct btz_str *id)
{
    size_t edge = sizeof(TEMPLATE_HEAD) + sizeof(TEMPLATE_TAIL) - 2;

    if (!btz_str_starts(uri, BTZ_STR(TEMPLATE_HEAD)) ||
        !btz_str_ends(uri, BTZ_STR(TEMPLATE_TAIL)) || uri.len <= edge) {
        return false;
    }
    *id = btz_str_sub(uri, sizeof(TEMPLATE_HEAD) - 1, uri.len - edge);
    return btz_str_find(*id, BTZ_STR("/")) < 0;
}

static struct btz_str template_text(struct btz_arena *arena, struct btz_str id)
{
    struct btz_json *data = btz_json_new_object(arena);

    btz_json_set_str(arena, data, "id", id);
    btz_json_set_bool(arena, data, "templateTest", true);
    btz_json_set_str(arena, data, "data",
                     btz_arena_printf(arena, "Data for ID: %.*s", BTZ_FMT(id)));
    return btz_json_text(arena, data);
}

void fixture_read(struct fixture *f, uint64_t handle, const struct btz_mcp_server_event *event)
{
    struct btz_json *item = btz_json_new_object(f->work);
    struct btz_str id;

    btz_json_set_str(f->work, item, "uri", event->name);
    if (btz_str_is(event->name, "test://static-text")) {
        btz_json_set_strz(f->work, item, "mimeType", "text/plain");
        btz_json_set_strz(f->work, item, "text",
                          "This is the content of the static text resource.");
    } else if (btz_str_is(event->name, "test://static-binary")) {
        btz_json_set_strz(f->work, item, "mimeType", "image/png");
        btz_json_set_strz(f->work, item, "blob", FIXTURE_PNG);
    } else if (btz_str_is(event->name, "test://watched-resource")) {
        btz_json_set_strz(f->work, item, "mimeType", "text/plain");
        btz_json_set_strz(f->work, item, "text", "Subscribe to me.");
    } else if (template_id(event->name, &id)) {
        btz_json_set_strz(f->work, item, "mimeType", "application/json");
        btz_json_set_str(f->work, item, "text", template_text(f->work, id));
    } else {
        struct btz_json *data = btz_json_new_object(f->work);

        btz_json_set_str(f->work, data, "uri", event->name);
        fixture_refuse(f, handle, event->token, BTZ_STR("Resource not found"), data);
        return;
    }
    fixture_reply(f, handle, event->token, contents_of(f->work, item));
}

static void push_message(struct btz_arena *arena, struct btz_json *messages,
                         const struct btz_json *content)
{
    struct btz_json *message = btz_json_new_object(arena);

    btz_json_set_strz(arena, message, "role", "user");
    btz_json_setz(arena, message, "content", content);
    btz_json_push(arena, messages, message);
}

static void push_text(struct btz_arena *arena, struct btz_json *messages, struct btz_str text)
{
    struct btz_json *block = btz_json_new_object(arena);

    btz_json_set_strz(arena, block, "type", "text");
    btz_json_set_str(arena, block, "text", text);
    push_message(arena, messages, block);
}

static void push_resource(struct btz_arena *arena, struct btz_json *messages, struct btz_str uri)
{
    struct btz_json *block = btz_json_new_object(arena);
    struct btz_json *resource = btz_json_new_object(arena);

    btz_json_set_str(arena, resource, "uri", uri);
    btz_json_set_strz(arena, resource, "mimeType", "text/plain");
    btz_json_set_strz(arena, resource, "text", "Embedded resource content for testing.");
    btz_json_set_strz(arena, block, "type", "resource");
    btz_json_setz(arena, block, "resource", resource);
    push_message(arena, messages, block);
}

/* Text of a required argument; false if the client left it out. */
static bool argument(const struct btz_mcp_server_event *event, const char *name,
                     struct btz_str *out)
{
    const struct btz_json *value = btz_json_getz(event->arguments, name);

    *out = btz_json_str(value);
    return btz_json_is(value, BTZ_JSON_STRING);
}

/* False if arguments are missing; `*known` false if there is no such prompt. */
static bool fill(struct fixture *f, const struct btz_mcp_server_event *event,
                 struct btz_json *messages, bool *known)
{
    struct btz_str first;
    struct btz_str second;

    *known = true;
    if (btz_str_is(event->name, "test_simple_prompt")) {
        push_text(f->work, messages, BTZ_STR("This is a simple prompt for testing."));
    } else if (btz_str_is(event->name, "test_added_prompt")) {
        push_text(f->work, messages, BTZ_STR("I am here for the moment."));
    } else if (btz_str_is(event->name, "test_prompt_with_arguments")) {
        if (!argument(event, "arg1", &first) || !argument(event, "arg2", &second)) {
            return false;
        }
        push_text(f->work, messages,
                  btz_arena_printf(f->work, "Prompt with arguments: arg1='%.*s', arg2='%.*s'",
                                   BTZ_FMT(first), BTZ_FMT(second)));
    } else if (btz_str_is(event->name, "test_prompt_with_embedded_resource")) {
        if (!argument(event, "resourceUri", &first)) {
            return false;
        }
        push_resource(f->work, messages, first);
        push_text(f->work, messages, BTZ_STR("Please process the embedded resource above."));
    } else if (btz_str_is(event->name, "test_prompt_with_image")) {
        push_message(f->work, messages,
                     fixture_parse(f->work,
                                   "{\"type\":\"image\",\"mimeType\":\"image/png\",\"data\":"
                                   "\"" FIXTURE_PNG "\"}"));
        push_text(f->work, messages, BTZ_STR("Please analyze the image above."));
    } else {
        *known = false;
        return false;
    }
    return true;
}

void fixture_prompt(struct fixture *f, uint64_t handle, const struct btz_mcp_server_event *event)
{
    struct btz_json *result = btz_json_new_object(f->work);
    struct btz_json *messages = btz_json_new_array(f->work);
    bool known;

    if (fixture_ask(f, handle, event)) {
        return;
    }
    if (!fill(f, event, messages, &known)) {
        fixture_refuse(
            f, handle, event->token,
            known ? BTZ_STR("a required argument is missing") : BTZ_STR("no such prompt"), NULL);
        return;
    }
    btz_json_setz(f->work, result, "messages", messages);
    fixture_reply(f, handle, event->token, result);
}

void fixture_complete(struct fixture *f, uint64_t handle, const struct btz_mcp_server_event *event)
{
    static const char *const words[] = {"paper", "paris", "park", "party", "test", "testing"};
    struct btz_json *result = btz_json_new_object(f->work);
    struct btz_json *completion = btz_json_new_object(f->work);
    struct btz_json *values = btz_json_new_array(f->work);

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (btz_str_starts(btz_str_of(words[i]), event->value)) {
            btz_json_push(f->work, values, btz_json_new_strz(f->work, words[i]));
        }
    }
    btz_json_setz(f->work, completion, "values", values);
    btz_json_set_int(f->work, completion, "total", (int64_t)btz_json_count(values));
    btz_json_set_bool(f->work, completion, "hasMore", false);
    btz_json_setz(f->work, result, "completion", completion);
    fixture_reply(f, handle, event->token, result);
}
