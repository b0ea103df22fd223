/* Prompt, rubrics, versions. */
#include <stdlib.h>

#include "judge/judge_int.h"
#include "llm/request.h"

enum { VERSION_DIGITS = 16 };

static struct btz_str embedded(struct btz_str name)
{
    for (size_t i = 0; i < btz_judge_prompts_count; i++) {
        const struct btz_embedded *file = &btz_judge_prompts[i];

        if (btz_str_is(name, file->name)) {
            return (struct btz_str){file->bytes, file->len};
        }
    }
    return BTZ_STR_NONE;
}

struct btz_judge *btz_judge_new(int64_t max_tokens)
{
    struct btz_judge *judge = calloc(1, sizeof(*judge));
    struct btz_str prompt = embedded(BTZ_STR("judge-system.md"));
    struct btz_hasher *hasher;

    if (!judge) {
        btz_panic("out of memory");
    }
    judge->arena = btz_arena_new();
    judge->schema = judge_schema_new(judge->arena);
    judge->settings = btz_llm_part_settings(
        judge->arena, 0.0, max_tokens > 0 ? max_tokens : BTZ_JUDGE_MAX_TOKENS, -1, false);
    judge->system = btz_llm_part_message(judge->arena, "system", prompt);
    hasher = btz_hasher_new();
    btz_hasher_add_part(hasher, judge->settings);
    btz_hasher_add_part(hasher, judge->system);
    btz_hasher_add_part(hasher, btz_str_of(judge_reply_schema));
    btz_hasher_add_part(hasher, btz_str_of(judge_trace_form));
    judge->prompt_hash = btz_hasher_end(hasher);
    btz_hasher_free(hasher);
    return judge;
}

void btz_judge_free(struct btz_judge *judge)
{
    if (judge) {
        btz_schema_free(judge->schema);
        btz_arena_free(judge->arena);
        free(judge);
    }
}

struct btz_hash btz_judge_prompt_hash(const struct btz_judge *judge)
{
    return judge->prompt_hash;
}

struct btz_str btz_judge_rubric(struct btz_str name)
{
    char path[256];

    if (name.len == 0 || name.len > 200) {
        return BTZ_STR_NONE;
    }
    memcpy(path, "judge/", 6);
    memcpy(path + 6, name.ptr, name.len);
    return embedded((struct btz_str){path, name.len + 6});
}

struct btz_str btz_judge_version(const struct btz_judge *judge, struct btz_arena *arena,
                                 struct btz_str rubric)
{
    struct btz_hash hash = btz_hash_of(rubric);
    char prompt_hex[65];
    char rubric_hex[65];

    return btz_arena_printf(arena, "%.*s+%.*s", VERSION_DIGITS,
                            btz_hash_hex(&judge->prompt_hash, prompt_hex), VERSION_DIGITS,
                            btz_hash_hex(&hash, rubric_hex));
}
