/* What the fixture offers. */
#include "fixture.h"

#include <string.h>

#define NO_ARGUMENTS "{\"type\":\"object\",\"properties\":{}}"
#define ONE_TEXT(name)                                                                             \
    "{\"type\":\"object\",\"properties\":{\"" name                                                 \
    "\":{\"type\":\"string\"}},\"required\":[\"" name "\"]}"

struct item {
    const char *name, *description, *schema;
};

static const struct item tools[] = {
    {"test_simple_text", "Gives one block of text.", NO_ARGUMENTS},
    {"test_image_content", "Gives an image of one pixel.", NO_ARGUMENTS},
    {"test_audio_content", "Gives a millisecond of silence.", NO_ARGUMENTS},
    {"test_embedded_resource", "Gives an embedded resource.", NO_ARGUMENTS},
    {"test_multiple_content_types", "Gives text, an image and a resource.", NO_ARGUMENTS},
    {"test_tool_with_logging", "Logs three lines while it works.", NO_ARGUMENTS},
    {"test_tool_with_progress", "Reports progress in three steps.", NO_ARGUMENTS},
    {"test_error_handling", "Always fails.", NO_ARGUMENTS},
    {"test_reconnection", "Closes its stream and answers later.", NO_ARGUMENTS},
    {"test_sampling", "Asks the client's model.", ONE_TEXT("prompt")},
    {"test_elicitation", "Asks the user for name and address.", ONE_TEXT("message")},
    {"test_elicitation_sep1034_defaults", "Asks the user with defaults of all types.",
     NO_ARGUMENTS},
    {"test_elicitation_sep1330_enums", "Asks the user to choose in five ways.", NO_ARGUMENTS},
    {"json_schema_2020_12_tool", "Has an input schema with keywords of JSON Schema 2020-12.",
     "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"type\":\"object\","
     "\"$defs\":{\"address\":{\"$anchor\":\"addressDef\",\"type\":\"object\",\"properties\":{"
     "\"street\":{\"type\":\"string\"},\"city\":{\"type\":\"string\"}}}},"
     "\"properties\":{\"name\":{\"type\":\"string\"},\"address\":{\"$ref\":\"#/$defs/address\"},"
     "\"contactMethod\":{\"type\":\"string\",\"enum\":[\"phone\",\"email\"]},"
     "\"phone\":{\"type\":\"string\"},\"email\":{\"type\":\"string\"}},"
     "\"allOf\":[{\"anyOf\":[{\"required\":[\"phone\"]},{\"required\":[\"email\"]}]}],"
     "\"if\":{\"properties\":{\"contactMethod\":{\"const\":\"phone\"}},"
     "\"required\":[\"contactMethod\"]},\"then\":{\"required\":[\"phone\"]},"
     "\"else\":{\"required\":[\"email\"]},\"additionalProperties\":false}"},
    {"test_mirrored_arguments", "Has arguments that are mirrored as headers.",
     "{\"type\":\"object\",\"properties\":{"
     "\"region\":{\"type\":\"string\",\"x-mcp-header\":\"Region\"},"
     "\"priority\":{\"type\":\"integer\",\"x-mcp-header\":\"Priority\"},"
     "\"note\":{\"type\":\"string\"}}}"},
    {"test_missing_capability", "Needs the client's model.", NO_ARGUMENTS},
    {"test_logging_tool", "Logs one line.", NO_ARGUMENTS},
    {"test_streaming_elicitation", "Reports progress, then asks the user.", NO_ARGUMENTS},
    {"test_trigger_tool_change", "Adds or removes a tool.", NO_ARGUMENTS},
    {"test_trigger_prompt_change", "Adds or removes a prompt.", NO_ARGUMENTS},
    {"test_trigger_resource_update", "Says that test://watched-resource changed.", NO_ARGUMENTS},
    {"test_input_required_result_elicitation", "Asks the user for a name.", NO_ARGUMENTS},
    {"test_input_required_result_sampling", "Asks the model for a capital.", NO_ARGUMENTS},
    {"test_input_required_result_list_roots", "Asks for the client's roots.", NO_ARGUMENTS},
    {"test_input_required_result_request_state", "Asks with a sealed state.", NO_ARGUMENTS},
    {"test_input_required_result_multiple_inputs", "Asks three things at once.", NO_ARGUMENTS},
    {"test_input_required_result_multi_round", "Asks twice, one after the other.", NO_ARGUMENTS},
    {"test_input_required_result_tampered_state", "Asks with a sealed state.", NO_ARGUMENTS},
    {"test_input_required_result_capabilities", "Asks what the client can answer.", NO_ARGUMENTS},
};

static const char resources[] =
    "[{\"uri\":\"test://static-text\",\"name\":\"static-text\",\"description\":\"A text.\","
    "\"mimeType\":\"text/plain\"},"
    "{\"uri\":\"test://static-binary\",\"name\":\"static-binary\",\"description\":\"An image.\","
    "\"mimeType\":\"image/png\"},"
    "{\"uri\":\"test://watched-resource\",\"name\":\"watched-resource\","
    "\"description\":\"A text that can be subscribed to.\",\"mimeType\":\"text/plain\"}]";
static const char templates[] =
    "[{\"uriTemplate\":\"test://template/{id}/data\",\"name\":\"template\","
    "\"description\":\"Data of one id.\",\"mimeType\":\"application/json\"}]";
static const char prompts[] =
    "[{\"name\":\"test_simple_prompt\",\"description\":\"A prompt without arguments.\"},"
    "{\"name\":\"test_prompt_with_arguments\",\"description\":\"A prompt with two arguments.\","
    "\"arguments\":[{\"name\":\"arg1\",\"description\":\"First.\",\"required\":true},"
    "{\"name\":\"arg2\",\"description\":\"Second.\",\"required\":true}]},"
    "{\"name\":\"test_prompt_with_embedded_resource\",\"description\":\"Embeds a resource.\","
    "\"arguments\":[{\"name\":\"resourceUri\",\"description\":\"Its URI.\",\"required\":true}]},"
    "{\"name\":\"test_prompt_with_image\",\"description\":\"Has an image.\"},"
    "{\"name\":\"test_input_required_result_prompt\",\"description\":\"Asks the user first.\"}]";

static struct btz_json *tool_of(struct btz_arena *arena, const struct item *item)
{
    struct btz_json *tool = btz_json_new_object(arena);

    btz_json_set_strz(arena, tool, "name", item->name);
    btz_json_set_strz(arena, tool, "description", item->description);
    btz_json_setz(arena, tool, "inputSchema", fixture_parse(arena, item->schema));
    return tool;
}

void fixture_catalogue(struct fixture *f)
{
    struct btz_json *list = btz_json_new_array(f->fixed);

    for (size_t i = 0; i < sizeof(tools) / sizeof(tools[0]); i++) {
        btz_json_push(f->fixed, list, tool_of(f->fixed, &tools[i]));
    }
    f->catalogue = (struct btz_mcp_catalogue){
        .server_info =
            fixture_parse(f->fixed, "{\"name\":\"bartizan-conformance\",\"version\":\"1.0.0\"}"),
        .tools = list,
        .resources = fixture_parse(f->fixed, resources),
        .templates = fixture_parse(f->fixed, templates),
        .prompts = fixture_parse(f->fixed, prompts),
    };
}

/* `list` with `item` behind it, or without its last one if that has the item's name. */
static const struct btz_json *toggle(struct btz_arena *arena, const struct btz_json *list,
                                     struct btz_json *item)
{
    struct btz_json *copy = btz_json_shallow(arena, list);
    size_t last = btz_json_count(copy) - 1;

    if (btz_json_equal(btz_json_at(copy, last), item)) {
        btz_json_remove_at(copy, last);
    } else {
        btz_json_push(arena, copy, item);
    }
    return copy;
}

static void publish(struct fixture *f)
{
    struct btz_err err;

    if (btz_mcp_endpoint_set_catalogue(f->endpoint, &f->catalogue, &err)) {
        btz_panic("fixture: %s", err.msg);
    }
}

void fixture_change_tools(struct fixture *f)
{
    static const struct item added = {"test_added_tool", "Comes and goes.", NO_ARGUMENTS};

    f->catalogue.tools = toggle(f->fixed, f->catalogue.tools, tool_of(f->fixed, &added));
    publish(f);
}

void fixture_change_prompts(struct fixture *f)
{
    struct btz_json *added = btz_json_new_object(f->fixed);

    btz_json_set_strz(f->fixed, added, "name", "test_added_prompt");
    btz_json_set_strz(f->fixed, added, "description", "Comes and goes.");
    f->catalogue.prompts = toggle(f->fixed, f->catalogue.prompts, added);
    publish(f);
}
