#include "llm/request.h"

#include <math.h>

#include "json/json.h"
#include "llm/reply.h"

enum { SETTINGS_MAX = 4096 };

/* Settings that are handed on, in the order of the body. */
static const struct {
    const char *name;
    bool integer;
} handed_on[] = {
    {"temperature", false},          {"top_p", false}, {"max_tokens", true},
    {"max_completion_tokens", true}, {"seed", true},
};

enum { HANDED_ON = sizeof(handed_on) / sizeof(handed_on[0]) };

struct settings {
    const struct btz_json *values[HANDED_ON];
    bool json_actions;
};

static int settings_member(struct settings *s, struct btz_str key, const struct btz_json *value,
                           struct btz_err *err)
{
    int64_t whole;

    if (btz_str_is(key, "actions")) {
        struct btz_str text = btz_json_str(value);

        s->json_actions = btz_str_is(text, "json");
        if (!s->json_actions && !btz_str_is(text, "native")) {
            return btz_err_set(err, BTZ_EINVAL,
                               "model settings: \"actions\" must be \"native\" or \"json\"");
        }
        return BTZ_OK;
    }
    for (size_t i = 0; i < HANDED_ON; i++) {
        if (!btz_str_is(key, handed_on[i].name)) {
            continue;
        }
        if (handed_on[i].integer ? !btz_json_int64(value, &whole)
                                 : !btz_json_is(value, BTZ_JSON_NUMBER)) {
            return btz_err_set(err, BTZ_EINVAL, "model settings: \"%s\" must be %s, not %s",
                               handed_on[i].name, handed_on[i].integer ? "an integer" : "a number",
                               btz_json_kind_name(btz_json_kind(value)));
        }
        s->values[i] = value;
        return BTZ_OK;
    }
    return btz_err_set(err, BTZ_EINVAL,
                       "model settings: unknown member \"%.*s\"; known are actions, temperature, "
                       "top_p, max_tokens, max_completion_tokens, seed",
                       (int)(key.len < 64 ? key.len : 64), key.ptr);
}

static int settings_parse(struct btz_arena *arena, struct btz_str text, struct settings *out,
                          struct btz_err *err)
{
    const struct btz_json_limits limits = {.max_bytes = SETTINGS_MAX, .max_depth = 4};
    const struct btz_json *root;
    int rc = btz_json_parse(arena, text, &limits, &root, err);

    if (rc) {
        btz_err_prefix(err, "model settings: ");
        return rc;
    }
    if (!btz_json_is(root, BTZ_JSON_OBJECT)) {
        return btz_err_set(err, BTZ_EINVAL, "model settings must be a JSON object, not %s",
                           btz_json_kind_name(btz_json_kind(root)));
    }
    for (size_t i = 0; i < btz_json_count(root); i++) {
        rc = settings_member(out, btz_json_key_at(root, i), btz_json_value_at(root, i), err);
        if (rc) {
            return rc;
        }
    }
    return BTZ_OK;
}

static bool has_brackets(struct btz_str text, char open, char close)
{
    return text.len >= 2 && text.ptr[0] == open && text.ptr[text.len - 1] == close;
}

static bool is_empty_list(struct btz_str text)
{
    return text.len == 0 || (has_brackets(text, '[', ']') &&
                             btz_str_trim(btz_str_sub(text, 1, text.len - 2)).len == 0);
}

static int messages_add(const struct btz_str *parts, size_t count, struct btz_buf *out,
                        struct btz_err *err)
{
    (void)btz_buf_add_text(out, ",\"messages\":[");
    for (size_t i = BTZ_LLM_PART_MESSAGES; i < count; i++) {
        if (!has_brackets(parts[i], '{', '}')) {
            return btz_err_set(err, BTZ_EINVAL,
                               "part %zu of the request must be a JSON object "
                               "(a message), from '{' to '}'",
                               i);
        }
        if (i > BTZ_LLM_PART_MESSAGES) {
            (void)btz_buf_add_byte(out, ',');
        }
        (void)btz_buf_add_str(out, parts[i]);
    }
    (void)btz_buf_add_byte(out, ']');
    return BTZ_OK;
}

int btz_llm_request_body(const struct btz_str *parts, size_t count, struct btz_str model_id,
                         struct btz_buf *out, struct btz_err *err)
{
    struct btz_arena *arena = btz_arena_new();
    struct settings settings = {0};
    int rc;

    if (count <= BTZ_LLM_PART_MESSAGES) {
        rc = btz_err_set(err, BTZ_EINVAL,
                         "a model request has settings, tools and at least one message; got %zu "
                         "parts",
                         count);
        goto out;
    }
    rc = settings_parse(arena, parts[BTZ_LLM_PART_SETTINGS], &settings, err);
    if (rc) {
        goto out;
    }
    (void)btz_buf_add_text(out, "{\"model\":");
    (void)btz_json_write_str(out, model_id);
    rc = messages_add(parts, count, out, err);
    if (rc) {
        goto out;
    }
    if (!settings.json_actions && !is_empty_list(parts[BTZ_LLM_PART_TOOLS])) {
        if (!has_brackets(parts[BTZ_LLM_PART_TOOLS], '[', ']')) {
            rc = btz_err_set(err, BTZ_EINVAL,
                             "part 1 of the request must be a JSON array (the "
                             "tools), from '[' to ']', or empty");
            goto out;
        }
        (void)btz_buf_add_text(out, ",\"tools\":");
        (void)btz_buf_add_str(out, parts[BTZ_LLM_PART_TOOLS]);
    }
    for (size_t i = 0; i < HANDED_ON; i++) {
        if (settings.values[i]) {
            (void)btz_buf_printf(out, ",\"%s\":", handed_on[i].name);
            (void)btz_buf_add_str(out, btz_json_number_text(settings.values[i]));
        }
    }
    (void)btz_buf_add_byte(out, '}');
    rc = btz_buf_status(out);
    if (rc) {
        (void)btz_err_set(err, rc, "the request is larger than the %zu bytes allowed", out->max);
    }
out:
    btz_arena_free(arena);
    return rc;
}

struct btz_str btz_llm_part_settings(struct btz_arena *arena, double temperature,
                                     int64_t max_tokens, int64_t seed, bool json_actions)
{
    struct btz_json *root = btz_json_new_object(arena);

    if (!isnan(temperature)) {
        btz_json_setz(arena, root, "temperature", btz_json_new_double(arena, temperature));
    }
    if (max_tokens >= 0) {
        btz_json_set_int(arena, root, "max_tokens", max_tokens);
    }
    if (seed >= 0) {
        btz_json_set_int(arena, root, "seed", seed);
    }
    btz_json_set_strz(arena, root, "actions", json_actions ? "json" : "native");
    return btz_json_text(arena, root);
}

struct btz_str btz_llm_part_message(struct btz_arena *arena, const char *role,
                                    struct btz_str content)
{
    struct btz_json *root = btz_json_new_object(arena);

    btz_json_set_strz(arena, root, "role", role);
    btz_json_set_str(arena, root, "content", content);
    return btz_json_text(arena, root);
}

void btz_llm_question(struct btz_arena *arena, double temperature, int64_t max_tokens, int64_t seed,
                      struct btz_str system, struct btz_str user,
                      struct btz_str parts[BTZ_LLM_QUESTION_PARTS])
{
    parts[BTZ_LLM_PART_SETTINGS] =
        btz_llm_part_settings(arena, temperature, max_tokens, seed, false);
    parts[BTZ_LLM_PART_TOOLS] = BTZ_STR("[]");
    parts[BTZ_LLM_PART_MESSAGES] = btz_llm_part_message(arena, "system", system);
    parts[BTZ_LLM_PART_MESSAGES + 1] = btz_llm_part_message(arena, "user", user);
}

struct btz_str btz_llm_part_tool_result(struct btz_arena *arena, struct btz_str call_id,
                                        struct btz_str content)
{
    struct btz_json *root = btz_json_new_object(arena);

    btz_json_set_strz(arena, root, "role", "tool");
    btz_json_set_str(arena, root, "tool_call_id", call_id);
    btz_json_set_str(arena, root, "content", content);
    return btz_json_text(arena, root);
}

struct btz_str btz_llm_part_assistant(struct btz_arena *arena, const struct btz_llm_reply *reply)
{
    struct btz_json *root = btz_json_new_object(arena);
    struct btz_json *calls = btz_json_new_array(arena);

    for (size_t i = 0; i < reply->call_count; i++) {
        const struct btz_llm_call *call = &reply->calls[i];
        struct btz_json *item;
        struct btz_json *function;

        if (call->unanswerable) {
            continue;
        }
        function = btz_json_new_object(arena);
        btz_json_set_str(arena, function, "name", call->name);
        btz_json_set_str(arena, function, "arguments",
                         call->arguments && btz_str_trim(call->arguments_text).len
                             ? call->arguments_text
                             : BTZ_STR("{}"));
        item = btz_json_new_object(arena);
        btz_json_set_str(arena, item, "id", call->id);
        btz_json_set_strz(arena, item, "type", "function");
        btz_json_setz(arena, item, "function", function);
        btz_json_push(arena, calls, item);
    }
    btz_json_set_strz(arena, root, "role", "assistant");
    if (reply->content.len || btz_json_count(calls) == 0) {
        btz_json_set_str(arena, root, "content", reply->content);
    } else {
        btz_json_setz(arena, root, "content", btz_json_null(arena));
    }
    if (btz_json_count(calls)) {
        btz_json_setz(arena, root, "tool_calls", calls);
    }
    return btz_json_text(arena, root);
}
