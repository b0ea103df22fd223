#include "mcp/ask.h"

#include "mcp/check.h"

static bool is_method(struct btz_str name, enum btz_mcp_method_id id)
{
    return btz_str_is(name, btz_mcp_method_at(id)->name);
}

static int check_sampling(const struct btz_json *params, struct btz_err *err)
{
    static const struct rule rules[] = {
        {"messages", BTZ_JSON_ARRAY, true},         {"maxTokens", BTZ_JSON_NUMBER, true},
        {"systemPrompt", BTZ_JSON_STRING, false},   {"modelPreferences", BTZ_JSON_OBJECT, false},
        {"includeContext", BTZ_JSON_STRING, false}, {"temperature", BTZ_JSON_NUMBER, false},
        {"stopSequences", BTZ_JSON_ARRAY, false},   {"metadata", BTZ_JSON_OBJECT, false},
        {"tools", BTZ_JSON_ARRAY, false},           {"toolChoice", BTZ_JSON_OBJECT, false},
        {"_meta", BTZ_JSON_OBJECT, false},
    };
    int rc = BTZ_MCP_CHECK(params, NULL, rules, err);

    return rc ? rc : btz_mcp_check_messages(btz_json_getz(params, "messages"), true, err);
}

static int check_elicitation(const struct btz_json *params, struct btz_err *err)
{
    static const struct rule form[] = {{"message", BTZ_JSON_STRING, true},
                                       {"mode", BTZ_JSON_STRING, false},
                                       {"requestedSchema", BTZ_JSON_OBJECT, true},
                                       {"_meta", BTZ_JSON_OBJECT, false}};
    static const struct rule url[] = {{"message", BTZ_JSON_STRING, true},
                                      {"mode", BTZ_JSON_STRING, true},
                                      {"url", BTZ_JSON_STRING, true},
                                      {"elicitationId", BTZ_JSON_STRING, false},
                                      {"_meta", BTZ_JSON_OBJECT, false}};
    const struct btz_json *mode = btz_json_getz(params, "mode");

    if (btz_str_is(btz_json_str(mode), "url")) {
        return BTZ_MCP_CHECK(params, NULL, url, err);
    }
    if (mode && !btz_str_is(btz_json_str(mode), "form")) {
        return btz_err_set(err, BTZ_EINVAL, "/mode must be \"form\" or \"url\"");
    }
    return BTZ_MCP_CHECK(params, NULL, form, err);
}

int btz_mcp_check_ask(struct btz_str method, const struct btz_json *params, struct btz_err *err)
{
    static const struct rule none[] = {{"_meta", BTZ_JSON_OBJECT, false}};

    if (is_method(method, BTZ_MCP_M_SAMPLING)) {
        return check_sampling(params, err);
    }
    if (is_method(method, BTZ_MCP_M_ELICITATION)) {
        return check_elicitation(params, err);
    }
    if (is_method(method, BTZ_MCP_M_ROOTS_LIST)) {
        return params ? BTZ_MCP_CHECK(params, NULL, none, err) : BTZ_OK;
    }
    return btz_err_set(err, BTZ_EINVAL,
                       "a server may ask for sampling/createMessage, elicitation/create and "
                       "roots/list only");
}

static int check_sampled(const struct btz_json *result, struct btz_err *err)
{
    static const struct rule rules[] = {{"model", BTZ_JSON_STRING, true},
                                        {"role", BTZ_JSON_STRING, true},
                                        {"stopReason", BTZ_JSON_STRING, false},
                                        {"_meta", BTZ_JSON_OBJECT, false}};
    int rc = BTZ_MCP_CHECK(result, NULL, rules, err);

    return rc ? rc : btz_mcp_check_message(result, NULL, true, err);
}

static int check_elicited(const struct btz_json *result, struct btz_err *err)
{
    static const struct rule rules[] = {{"action", BTZ_JSON_STRING, true},
                                        {"content", BTZ_JSON_OBJECT, false},
                                        {"_meta", BTZ_JSON_OBJECT, false}};
    struct btz_str action = btz_json_str(btz_json_getz(result, "action"));
    int rc = BTZ_MCP_CHECK(result, NULL, rules, err);

    if (!rc && !btz_str_is(action, "accept") && !btz_str_is(action, "decline") &&
        !btz_str_is(action, "cancel")) {
        rc = btz_err_set(err, BTZ_EINVAL, "/action must be accept, decline or cancel");
    }
    return rc;
}

static int check_roots(const struct btz_json *result, struct btz_err *err)
{
    static const struct rule rules[] = {{"roots", BTZ_JSON_ARRAY, true},
                                        {"_meta", BTZ_JSON_OBJECT, false}};
    static const struct rule root[] = {{"uri", BTZ_JSON_STRING, true},
                                       {"name", BTZ_JSON_STRING, false},
                                       {"_meta", BTZ_JSON_OBJECT, false}};
    const struct btz_json *roots = btz_json_getz(result, "roots");
    struct place base = btz_mcp_place(NULL, "roots", 0);
    int rc = BTZ_MCP_CHECK(result, NULL, rules, err);

    for (size_t i = 0; !rc && i < btz_json_count(roots); i++) {
        struct place at = btz_mcp_place(&base, NULL, i);

        rc = BTZ_MCP_CHECK(btz_json_at(roots, i), &at, root, err);
    }
    return rc;
}

int btz_mcp_check_answer(struct btz_str method, const struct btz_json *result, struct btz_err *err)
{
    if (is_method(method, BTZ_MCP_M_SAMPLING)) {
        return check_sampled(result, err);
    }
    if (is_method(method, BTZ_MCP_M_ELICITATION)) {
        return check_elicited(result, err);
    }
    if (is_method(method, BTZ_MCP_M_ROOTS_LIST)) {
        return check_roots(result, err);
    }
    return btz_err_set(err, BTZ_EINVAL, "no server asks for this method");
}

int btz_mcp_check_inputs(const struct btz_json *requests, struct btz_err *err)
{
    static const struct rule rules[] = {{"method", BTZ_JSON_STRING, true},
                                        {"params", BTZ_JSON_OBJECT, false}};

    if (!btz_json_is(requests, BTZ_JSON_OBJECT) || !btz_json_count(requests)) {
        return btz_err_set(err, BTZ_EINVAL,
                           "inputRequests must be an object with one member at least");
    }
    for (size_t i = 0; i < btz_json_count(requests); i++) {
        const struct btz_json *one = btz_json_value_at(requests, i);
        int rc = BTZ_MCP_CHECK(one, NULL, rules, err);

        if (!rc) {
            rc = btz_mcp_check_ask(btz_json_str(btz_json_getz(one, "method")),
                                   btz_json_getz(one, "params"), err);
        }
        if (rc) {
            btz_err_prefix(err, "inputRequests \"%.*s\": ", BTZ_FMT(btz_json_key_at(requests, i)));
            return rc;
        }
    }
    return BTZ_OK;
}

/* {capability: {part: {}}}, or {capability: {}} without a part. */
static struct btz_json *name_missing(struct btz_arena *arena, const char *capability,
                                     const char *part)
{
    struct btz_json *missing = btz_json_new_object(arena);
    struct btz_json *one = btz_json_new_object(arena);

    if (part) {
        btz_json_setz(arena, one, part, btz_json_new_object(arena));
    }
    btz_json_setz(arena, missing, capability, one);
    return missing;
}

/* elicitation {} is form mode; with any mode named only the named ones are there. */
static bool has_mode(const struct btz_json *elicitation, bool url)
{
    bool named_form = btz_json_is(btz_json_getz(elicitation, "form"), BTZ_JSON_OBJECT);
    bool named_url = btz_json_is(btz_json_getz(elicitation, "url"), BTZ_JSON_OBJECT);

    if (!btz_json_is(elicitation, BTZ_JSON_OBJECT)) {
        return false;
    }
    return url ? named_url : named_form || !named_url;
}

struct btz_json *btz_mcp_ask_missing(struct btz_arena *arena, const struct btz_json *capabilities,
                                     struct btz_str method, const struct btz_json *params)
{
    const struct btz_json *sampling = btz_json_getz(capabilities, "sampling");

    if (is_method(method, BTZ_MCP_M_ELICITATION)) {
        bool url = btz_str_is(btz_json_str(btz_json_getz(params, "mode")), "url");

        return has_mode(btz_json_getz(capabilities, "elicitation"), url)
                   ? NULL
                   : name_missing(arena, "elicitation", url ? "url" : "form");
    }
    if (is_method(method, BTZ_MCP_M_ROOTS_LIST)) {
        return btz_json_is(btz_json_getz(capabilities, "roots"), BTZ_JSON_OBJECT)
                   ? NULL
                   : name_missing(arena, "roots", NULL);
    }
    if (is_method(method, BTZ_MCP_M_SAMPLING)) {
        bool tools = btz_json_getz(params, "tools") || btz_json_getz(params, "toolChoice");

        if (btz_json_is(sampling, BTZ_JSON_OBJECT) &&
            (!tools || btz_json_is(btz_json_getz(sampling, "tools"), BTZ_JSON_OBJECT))) {
            return NULL;
        }
        return name_missing(arena, "sampling", tools ? "tools" : NULL);
    }
    return NULL;
}

static void merge(struct btz_arena *arena, struct btz_json *into, const struct btz_json *from)
{
    for (size_t i = 0; i < btz_json_count(from); i++) {
        struct btz_str key = btz_json_key_at(from, i);
        const struct btz_json *old = btz_json_get(into, key);
        struct btz_json *one = old ? btz_json_dup(arena, old) : btz_json_new_object(arena);
        const struct btz_json *parts = btz_json_value_at(from, i);

        for (size_t j = 0; j < btz_json_count(parts); j++) {
            btz_json_set(arena, one, btz_json_key_at(parts, j), btz_json_value_at(parts, j));
        }
        btz_json_set(arena, into, key, one);
    }
}

struct btz_json *btz_mcp_inputs_missing(struct btz_arena *arena,
                                        const struct btz_json *capabilities,
                                        const struct btz_json *requests)
{
    struct btz_json *all = NULL;

    for (size_t i = 0; i < btz_json_count(requests); i++) {
        const struct btz_json *one = btz_json_value_at(requests, i);
        struct btz_json *missing =
            btz_mcp_ask_missing(arena, capabilities, btz_json_str(btz_json_getz(one, "method")),
                                btz_json_getz(one, "params"));

        if (!missing) {
            continue;
        }
        if (!all) {
            all = btz_json_new_object(arena);
        }
        merge(arena, all, missing);
    }
    return all;
}
