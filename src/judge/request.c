/* Rubric and trajectory become one request. */
#include "judge/judge_int.h"
#include "llm/request.h"

enum { FENCE_DIGITS = 32, TRACE_BYTES = 1024 * 1024 * 1024 };

static bool is_inside_character(struct btz_str s, size_t at)
{
    return at < s.len && ((unsigned char)s.ptr[at] & 0xC0) == 0x80;
}

/* Leaves the middle out: the beginning says what the task and the payload are, the end what came
 * of it. */
static struct btz_str cut(struct btz_arena *arena, struct btz_str whole, bool *truncated)
{
    size_t head = BTZ_JUDGE_MAX_TRACE / 2;
    size_t tail = whole.len - BTZ_JUDGE_MAX_TRACE / 2;

    *truncated = whole.len > BTZ_JUDGE_MAX_TRACE;
    if (!*truncated) {
        return btz_arena_dup(arena, whole);
    }
    while (head > 0 && is_inside_character(whole, head)) {
        head--;
    }
    while (is_inside_character(whole, tail)) {
        tail++;
    }
    return btz_arena_printf(arena, "%.*s\n[cut: %zu bytes]\n%.*s", (int)head, whole.ptr,
                            tail - head, (int)(whole.len - tail), whole.ptr + tail);
}

/* A code that does not stand in what it fences. */
static struct btz_str fence(struct btz_arena *arena, struct btz_str rubric, struct btz_str shown)
{
    struct btz_str code = BTZ_STR_NONE;

    for (unsigned char round = 0; code.len == 0; round++) {
        struct btz_hasher *hasher = btz_hasher_new();
        struct btz_hash hash;
        char hex[65];

        btz_hasher_add_part(hasher, (struct btz_str){(const char *)&round, 1});
        btz_hasher_add_part(hasher, rubric);
        btz_hasher_add_part(hasher, shown);
        hash = btz_hasher_end(hasher);
        btz_hasher_free(hasher);
        code = btz_arena_dup(arena, (struct btz_str){btz_hash_hex(&hash, hex), FENCE_DIGITS});
        if (btz_str_find(shown, code) >= 0 || btz_str_find(rubric, code) >= 0) {
            code = BTZ_STR_NONE;
        }
    }
    return code;
}

void btz_judge_request_make(const struct btz_judge *judge, struct btz_arena *arena,
                            struct btz_str rubric, const struct btz_store_event *events,
                            size_t event_count, struct btz_judge_request *out)
{
    struct btz_hasher *hasher = btz_hasher_new();
    struct btz_str code;
    struct btz_buf trace;

    btz_buf_init(&trace, TRACE_BYTES);
    btz_judge_trace(arena, events, event_count, &trace);
    if (btz_buf_status(&trace) != BTZ_OK) { /* longer than a trial's own limits allow */
        btz_panic("a trajectory of over %d bytes", (int)TRACE_BYTES);
    }
    *out = (struct btz_judge_request){.count = BTZ_LLM_PART_MESSAGES + 2};
    out->shown = cut(arena, btz_buf_view(&trace), &out->truncated);
    btz_buf_fini(&trace);
    code = fence(arena, rubric, out->shown);
    out->text = btz_arena_printf(arena,
                                 "Rubric\n\n%.*s\n\n=== trace %.*s begins ===\n%.*s\n"
                                 "=== trace %.*s ends ===\n\nReply with the JSON object alone.",
                                 BTZ_FMT(btz_str_trim(rubric)), BTZ_FMT(code), BTZ_FMT(out->shown),
                                 BTZ_FMT(code));
    out->parts = btz_arena_array(arena, out->count, sizeof(*out->parts));
    out->parts[BTZ_LLM_PART_SETTINGS] = judge->settings;
    out->parts[BTZ_LLM_PART_TOOLS] = BTZ_STR("");
    out->parts[BTZ_LLM_PART_MESSAGES] = judge->system;
    out->parts[BTZ_LLM_PART_MESSAGES + 1] = btz_llm_part_message(arena, "user", out->text);
    for (size_t i = 0; i < out->count; i++) {
        btz_hasher_add_part(hasher, out->parts[i]);
    }
    out->hash = btz_hasher_end(hasher);
    btz_hasher_free(hasher);
}
