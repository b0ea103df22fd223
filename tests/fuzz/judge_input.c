/* What comes from outside to the judge room: the text of a judge's reply ('r', then the trajectory
 * up to a NUL, then the reply), a whole body ('b', likewise), labels ('l'), and a trajectory's
 * payload ('t'). */
#include <stdio.h>
#include <stdlib.h>

#include "judge/judge.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct btz_judge *judge;

static void check(bool ok, const char *what)
{
    if (!ok) {
        (void)fprintf(stderr, "broken: %s\n", what);
        abort();
    }
}

static void check_opinion(struct btz_arena *arena, const struct btz_judge_opinion *o,
                          struct btz_str shown)
{
    const struct btz_judge_context context = {.judge = BTZ_STR("j"), .rubric = BTZ_STR("r")};
    struct btz_judge_request request = {.shown = shown};
    struct btz_store_verdict verdict;

    check((o->flaw == BTZ_JUDGE_SOUND) == (o->detail.len == 0), "a flaw has a detail");
    check(o->flaw == BTZ_JUDGE_SOUND || (!o->success && !o->evidence.len), "no opinion");
    if (o->flaw == BTZ_JUDGE_SOUND) {
        check(o->evidence.len >= 4 && btz_str_find(shown, o->evidence) >= 0, "evidence stands");
        check(o->confidence >= 0 && o->confidence <= 1, "confidence");
    }
    btz_judge_verdict(judge, arena, &context, &request, o, 0, &verdict);
    check((verdict.success == BTZ_STORE_UNKNOWN) == (o->flaw != BTZ_JUDGE_SOUND), "verdict");
}

static void fuzz_labels(struct btz_arena *arena, struct btz_str text)
{
    struct btz_judge_label *labels = NULL;
    size_t count = 0;
    size_t unlabelled = 0;

    if (btz_judge_labels_read(arena, text, BTZ_STR("r1"), &labels, &count, &unlabelled, NULL)) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        check(labels[i].trial >= 1 && labels[i].labeller.len > 0 && labels[i].line > 1, "label");
        check(i == 0 || labels[i - 1].trial <= labels[i].trial, "order");
    }
}

static void fuzz_trace(struct btz_arena *arena, struct btz_str text)
{
    static const char *const kinds[] = {"connect", "tools",  "user", "reply",  "answer",
                                        "call",    "result", "stop", "journal"};
    struct btz_judge_request request;
    struct btz_store_event events[2];

    for (int layer = 0; layer < BTZ_STORE_LAYERS; layer++) {
        for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
            events[0] = (struct btz_store_event){.layer = (enum btz_store_layer)layer,
                                                 .kind = btz_str_of(kinds[k]),
                                                 .payload = text};
            events[1] = (struct btz_store_event){
                .layer = BTZ_STORE_MODEL, .kind = BTZ_STR("answer"), .payload = text};
            btz_judge_request_make(judge, arena, BTZ_STR("rubric"), events, 2, &request);
            check(request.shown.len <= BTZ_JUDGE_MAX_TRACE + 64, "size");
            check(btz_str_find(request.text, request.shown) > 0, "shown as it stands");
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct btz_judge_opinion opinion;
    struct btz_str text;
    struct btz_str shown = BTZ_STR_NONE;
    struct btz_arena *arena;

    if (size == 0) {
        return 0;
    }
    if (!judge) {
        judge = btz_judge_new(0);
    }
    text = (struct btz_str){(const char *)data + 1, size - 1};
    arena = btz_arena_new();
    if (data[0] == 'r' || data[0] == 'b') {
        (void)btz_str_cut(&text, '\0', &shown);
        if (data[0] == 'r') {
            btz_judge_read_text(judge, arena, text, shown, &opinion);
        } else {
            btz_judge_read_body(judge, arena, text, shown, &opinion);
        }
        check_opinion(arena, &opinion, shown);
    } else if (data[0] == 'l') {
        fuzz_labels(arena, text);
    } else if (data[0] == 't') {
        fuzz_trace(arena, text);
    }
    btz_arena_free(arena);
    return 0;
}
