/* The text is a tool definition or a list of some. Every arm: no crash, equal results twice, spans
 * in their texts and in order; arms that are to be idempotent are, byte for byte. A second text
 * behind a byte 0xFF is read as a model's reply. */
#include <stdlib.h>
#include <string.h>

#include "guard/canon.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_spans(const struct btz_canon_result *r)
{
    for (size_t i = 0; i < r->span_count; i++) {
        const struct btz_canon_span *s = &r->spans[i];

        if (s->begin >= s->end || !s->rule || (s->action == BTZ_CANON_REMOVED && s->text.len) ||
            (i && btz_str_eq(s[-1].field, s->field) && s[-1].end > s->begin)) {
            abort();
        }
    }
}

static void same(struct btz_arena *arena, const struct btz_json *a, const struct btz_json *b)
{
    if (!btz_str_eq(btz_json_text(arena, a), btz_json_text(arena, b))) {
        abort();
    }
}

static void one(enum btz_canon_arm arm, const struct btz_json *tool, struct btz_arena *arena)
{
    const struct btz_canon_options options = {.seed = 7, .want_spans = true};
    const struct btz_canon_options plain = {.seed = 7};
    struct btz_canon_result first;
    struct btz_canon_result again;

    if (btz_canon_tool(arm, tool, &options, arena, &first, NULL)) {
        return;
    }
    check_spans(&first);
    if (btz_canon_tool(arm, tool, &plain, arena, &again, NULL) ||
        again.removed_bytes != first.removed_bytes) {
        abort();
    }
    if (arm != BTZ_CANON_RANDOM_DELETE && arm != BTZ_CANON_RANDOM_DELETE_BYTES) {
        same(arena, first.definition, again.definition);
        if (btz_canon_tool(arm, first.definition, NULL, arena, &again, NULL)) {
            abort();
        }
        same(arena, first.definition, again.definition);
    }
    (void)btz_canon_arguments(&first, tool, arena);
}

static void list(const struct btz_json *tools, struct btz_arena *arena)
{
    size_t count = btz_json_count(tools);
    struct btz_canon_result *first = btz_arena_array(arena, count + 1, sizeof(*first));
    struct btz_canon_result *again = btz_arena_array(arena, count + 1, sizeof(*again));
    struct btz_json *now = btz_json_new_array(arena);

    if (btz_canon_list(BTZ_CANON_CANON, tools, NULL, arena, first, NULL)) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        btz_json_push(arena, now, first[i].definition);
        for (size_t k = 0; k < i && count < 64; k++) {
            if (btz_str_eq(first[i].name, first[k].name)) {
                abort();
            }
        }
    }
    if (btz_canon_list(BTZ_CANON_CANON, now, NULL, arena, again, NULL)) {
        abort();
    }
    for (size_t i = 0; i < count; i++) {
        same(arena, first[i].definition, again[i].definition);
    }
}

static void reply(const struct btz_json *tool, struct btz_str text, struct btz_arena *arena)
{
    static const enum btz_canon_arm arms[] = {BTZ_CANON_MODEL_REWRITE, BTZ_CANON_CANON_REWRITE};

    for (unsigned i = 0; i < 2; i++) {
        struct btz_canon_question question;
        struct btz_canon_result result;

        (void)btz_canon_question(arms[i], tool, arena, &question, NULL);
        (void)btz_canon_reply(arms[i], tool, text, NULL, arena, &result, NULL);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct btz_arena *arena = btz_arena_new();
    const uint8_t *mark = size ? memchr(data, 0xFF, size) : NULL;
    struct btz_str text = {(const char *)data, mark ? (size_t)(mark - data) : size};
    const struct btz_json *value = NULL;

    if (btz_json_parse(arena, text, NULL, &value, NULL) == BTZ_OK) {
        if (btz_json_is(value, BTZ_JSON_ARRAY)) {
            list(value, arena);
        } else {
            for (unsigned arm = 0; arm < BTZ_CANON_ARMS; arm++) {
                if (!btz_canon_arm_asks((enum btz_canon_arm)arm)) {
                    one((enum btz_canon_arm)arm, value, arena);
                }
            }
            if (mark) {
                reply(value, (struct btz_str){(const char *)mark + 1, size - text.len - 1}, arena);
            }
        }
    }
    btz_arena_free(arena);
    return 0;
}
