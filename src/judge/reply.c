/* A judge's reply, read strictly, and the verdict that is made of it. */
#include "judge/judge_int.h"
#include "llm/reply.h"

/* The least length keeps a judge from citing a letter or a full stop. */
const char judge_reply_schema[] =
    "{\"type\":\"object\",\"additionalProperties\":false,"
    "\"required\":[\"success\",\"detected\",\"confidence\",\"evidence\"],\"properties\":{"
    "\"success\":{\"type\":\"boolean\"},\"detected\":{\"type\":\"boolean\"},"
    "\"confidence\":{\"type\":\"number\",\"minimum\":0,\"maximum\":1},"
    "\"evidence\":{\"type\":\"string\",\"minLength\":4,\"maxLength\":2000}}}";

static const char *const flaw_names[BTZ_JUDGE_FLAWS] = {
    [BTZ_JUDGE_SOUND] = "",
    [BTZ_JUDGE_CUT] = "cut",
    [BTZ_JUDGE_FILTERED] = "filtered",
    [BTZ_JUDGE_TOOL_CALL] = "tool_call",
    [BTZ_JUDGE_NOT_JSON] = "not_json",
    [BTZ_JUDGE_WRONG_SHAPE] = "wrong_shape",
    [BTZ_JUDGE_EVIDENCE] = "evidence",
};

const char *btz_judge_flaw_name(enum btz_judge_flaw flaw)
{
    return flaw_names[flaw];
}

struct btz_schema *judge_schema_new(struct btz_arena *arena)
{
    const struct btz_json *json = NULL;
    struct btz_schema *schema = NULL;

    if (btz_json_parse(arena, btz_str_of(judge_reply_schema), NULL, &json, NULL) != BTZ_OK ||
        btz_schema_compile(json, NULL, &schema, NULL) != BTZ_OK) {
        btz_panic("the schema of a judge's reply does not compile");
    }
    return schema;
}

static void flawed(struct btz_judge_opinion *out, enum btz_judge_flaw flaw, struct btz_str detail)
{
    out->flaw = flaw;
    out->detail = detail;
}

/* At most `max` bytes, cut before a character. */
static struct btz_str clip(struct btz_str s, size_t max)
{
    size_t len = s.len < max ? s.len : max;

    while (len > 0 && len < s.len && ((unsigned char)s.ptr[len] & 0xC0) == 0x80) {
        len--;
    }
    return (struct btz_str){s.ptr, len};
}

void btz_judge_read_text(const struct btz_judge *judge, struct btz_arena *arena,
                         struct btz_str text, struct btz_str shown, struct btz_judge_opinion *out)
{
    const struct btz_json_limits limits = {
        .max_bytes = BTZ_JUDGE_MAX_REPLY, .max_depth = 8, .max_values = 1000};
    const struct btz_json *value = NULL;
    struct btz_schema_report report;
    struct btz_err err = {0};
    double confidence = 0;

    *out =
        (struct btz_judge_opinion){.reply = btz_arena_dup(arena, clip(text, BTZ_JUDGE_MAX_REPLY))};
    if (btz_json_parse(arena, text, &limits, &value, &err) != BTZ_OK) {
        flawed(out, BTZ_JUDGE_NOT_JSON,
               btz_arena_printf(arena, "the reply is not one JSON object: %s", err.msg));
        return;
    }
    if (btz_schema_check(judge->schema, value, arena, &report) != BTZ_OK ||
        !btz_json_double(btz_json_getz(value, "confidence"), &confidence)) {
        flawed(out, BTZ_JUDGE_WRONG_SHAPE, btz_schema_report_text(arena, &report));
        return;
    }
    if (btz_str_find(shown, btz_json_str(btz_json_getz(value, "evidence"))) < 0) {
        flawed(out, BTZ_JUDGE_EVIDENCE,
               BTZ_STR("the evidence does not stand in the trajectory that the judge was shown"));
        return;
    }
    out->success = btz_json_bool(btz_json_getz(value, "success"), false);
    out->detected = btz_json_bool(btz_json_getz(value, "detected"), false);
    out->confidence = confidence;
    out->evidence = btz_json_str(btz_json_getz(value, "evidence"));
}

void btz_judge_read_body(const struct btz_judge *judge, struct btz_arena *arena,
                         struct btz_str body, struct btz_str shown, struct btz_judge_opinion *out)
{
    struct btz_llm_reply reply;
    struct btz_err err = {0};

    if (btz_llm_reply_parse(arena, body, NULL, &reply, &err) != BTZ_OK) {
        *out = (struct btz_judge_opinion){0};
        flawed(out, BTZ_JUDGE_NOT_JSON, btz_arena_printf(arena, "%s", err.msg));
        return;
    }
    btz_judge_read_text(judge, arena, reply.content, shown, out);
    out->model = reply.model;
    /* What the interface says of the reply goes before what its text looks like. */
    if (reply.truncated) {
        flawed(out, BTZ_JUDGE_CUT, BTZ_STR("the reply ended at its token limit"));
    } else if (reply.filtered || reply.refusal.len) {
        flawed(out, BTZ_JUDGE_FILTERED,
               reply.refusal.len ? btz_arena_printf(arena, "the judge refused: %.*s",
                                                    BTZ_FMT(clip(reply.refusal, 500)))
                                 : BTZ_STR("the provider's filter ended the reply"));
    } else if (reply.call_count) {
        flawed(out, BTZ_JUDGE_TOOL_CALL, BTZ_STR("the judge called a tool"));
    }
    if (out->flaw != BTZ_JUDGE_SOUND) {
        out->success = out->detected = false;
        out->confidence = 0;
        out->evidence = BTZ_STR_NONE;
    }
}

static void set_hash(struct btz_arena *arena, struct btz_json *json, const char *key,
                     struct btz_hash hash)
{
    char hex[65];

    btz_json_set_strz(arena, json, key, btz_hash_hex(&hash, hex));
}

static void set_text(struct btz_arena *arena, struct btz_json *json, const char *key,
                     struct btz_str text, bool known)
{
    btz_json_setz(arena, json, key, known ? btz_json_new_str(arena, text) : btz_json_null(arena));
}

void btz_judge_verdict(const struct btz_judge *judge, struct btz_arena *arena,
                       const struct btz_judge_context *context,
                       const struct btz_judge_request *request,
                       const struct btz_judge_opinion *opinion, int64_t now_us,
                       struct btz_store_verdict *out)
{
    struct btz_json *json = btz_json_new_object(arena);
    bool sound = opinion->flaw == BTZ_JUDGE_SOUND;

    btz_json_set_str(arena, json, "judge", context->judge);
    set_text(arena, json, "model", opinion->model, opinion->model.len > 0);
    set_hash(arena, json, "prompt_hash", judge->prompt_hash);
    set_hash(arena, json, "rubric_hash", btz_hash_of(context->rubric));
    set_hash(arena, json, "request_hash", request->hash);
    btz_json_set_int(arena, json, "asked_for", context->asked_for);
    btz_json_set_bool(arena, json, "same_vendor", context->same_vendor);
    btz_json_set_bool(arena, json, "truncated", request->truncated);
    set_text(arena, json, "malformed", btz_str_of(btz_judge_flaw_name(opinion->flaw)), !sound);
    set_text(arena, json, "detail", opinion->detail, !sound);
    btz_json_setz(arena, json, "detected",
                  sound ? btz_json_new_bool(arena, opinion->detected) : btz_json_null(arena));
    btz_json_setz(arena, json, "confidence",
                  sound ? btz_json_new_double(arena, opinion->confidence) : btz_json_null(arena));
    set_text(arena, json, "evidence", opinion->evidence, sound);
    btz_json_set_str(arena, json, "reply", opinion->reply);
    *out = (struct btz_store_verdict){
        .source = BTZ_STR("judge"),
        .name = context->judge,
        .version = btz_judge_version(judge, arena, context->rubric),
        .success = !sound             ? BTZ_STORE_UNKNOWN
                   : opinion->success ? BTZ_STORE_YES
                                      : BTZ_STORE_NO,
        .act_event = -1,
        .effect_event = -1,
        .at_us = now_us,
        .json = btz_json_text(arena, json),
    };
}
