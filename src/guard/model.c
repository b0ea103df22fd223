#include "guard/model.h"

#include "base/hash.h"
#include "guard/guard_int.h"
#include "json/json.h"

enum { REASON_MAX = 1000, REPLY_MAX = 64 * 1024, MARK_TRIES = 1000 };

static const char *prompt_name(enum btz_guard_target target)
{
    switch (target) {
    case BTZ_GUARD_TASK:
        return "task.md";
    case BTZ_GUARD_DEFINITION:
        return "definition.md";
    default:
        return "result.md";
    }
}

struct btz_str btz_guard_prompt(const char *wanted, unsigned *version)
{
    for (size_t i = 0; i < btz_guard_prompts_count; i++) {
        if (btz_str_is(btz_str_of(btz_guard_prompts[i].name), wanted)) {
            struct btz_str rest = {btz_guard_prompts[i].bytes, btz_guard_prompts[i].len};
            struct btz_str line = BTZ_STR_NONE;
            int64_t number = 0;

            if (!btz_str_cut(&rest, '\n', &line) || !btz_str_starts(line, BTZ_STR("version: ")) ||
                btz_str_int64(btz_str_sub(line, 9, line.len), &number) || number < 1) {
                btz_panic("prompts/guard/%s has no version", btz_guard_prompts[i].name);
            }
            *version = (unsigned)number;
            return btz_str_trim(rest);
        }
    }
    btz_panic("prompts/guard/%s is missing", wanted);
}

static size_t boundary(struct btz_str s, size_t at, bool forward)
{
    while (at > 0 && at < s.len && ((unsigned char)s.ptr[at] & 0xC0) == 0x80) {
        at = forward ? at + 1 : at - 1;
    }
    return at;
}

static struct btz_str shorten(struct btz_str text, size_t max, struct btz_arena *arena)
{
    size_t head = boundary(text, max - max / 4, false);
    size_t tail = boundary(text, text.len - max / 4, true);

    return btz_arena_printf(arena, "%.*s\n[%zu bytes left out]\n%.*s", (int)head, text.ptr,
                            tail - head, (int)(text.len - tail), text.ptr + tail);
}

struct btz_str btz_guard_mark(struct btz_str text, struct btz_arena *arena)
{
    struct btz_hash hash = btz_hash_of(text);

    for (unsigned i = 0; i < MARK_TRIES; i++) {
        char hex[65];
        struct btz_str mark;

        mark = btz_arena_dup(arena, (struct btz_str){btz_hash_hex(&hash, hex), 16});
        if (btz_str_find(text, mark) < 0) {
            return mark;
        }
        hash = btz_hash_of((struct btz_str){(const char *)hash.bytes, sizeof(hash.bytes)});
    }
    btz_panic("no mark is free");
}

void btz_guard_question(enum btz_guard_target target, struct btz_str name, struct btz_str context,
                        struct btz_str text, size_t max_bytes, struct btz_arena *arena,
                        struct btz_guard_question *out)
{
    /* As a request carries it: what is no text is replaced, so that evidence can be verbatim. */
    struct btz_str clean = btz_json_str(btz_json_new_str(arena, text));
    struct btz_str shown = clean;
    struct btz_str mark;
    struct btz_buf user;

    *out = (struct btz_guard_question){0};
    out->system = btz_arena_dup(arena, btz_guard_prompt(prompt_name(target), &out->version));
    if (max_bytes && clean.len > max_bytes) {
        shown = shorten(clean, max_bytes, arena);
        out->cut = true;
    }
    context = btz_json_str(btz_json_new_str(arena, context));
    name = btz_json_str(btz_json_new_str(arena, name));
    /* Neither name nor context may hold the mark: they are untrusted as well. */
    btz_buf_init(&user, SIZE_MAX / 2);
    (void)btz_buf_printf(&user, "%.*s\n%.*s\n", BTZ_FMT(name), BTZ_FMT(context));
    (void)btz_buf_add_str(&user, shown);
    mark = btz_guard_mark(btz_buf_view(&user), arena);
    btz_buf_reset(&user);
    (void)btz_buf_printf(&user, "What it is: %s\n", btz_guard_target_name(target));
    if (name.len) {
        (void)btz_buf_add_text(&user, "Name: ");
        (void)btz_json_write_str(&user, name);
        (void)btz_buf_add_byte(&user, '\n');
    }
    if (context.len) {
        (void)btz_buf_add_text(&user, "What the user asked for: ");
        (void)btz_json_write_str(&user, context);
        (void)btz_buf_add_byte(&user, '\n');
    }
    (void)btz_buf_printf(&user, "\n[begin %.*s]\n", BTZ_FMT(mark));
    (void)btz_buf_add_str(&user, shown);
    (void)btz_buf_printf(&user, "\n[end %.*s]\n", BTZ_FMT(mark));
    out->user = btz_arena_dup(arena, btz_buf_view(&user));
    out->scanned = shown;
    btz_buf_fini(&user);
}

struct btz_hash btz_guard_prompts_hash(void)
{
    struct btz_hasher *hasher = btz_hasher_new();
    struct btz_hash hash;

    for (size_t i = 0; i < btz_guard_prompts_count; i++) {
        btz_hasher_add_part(hasher, btz_str_of(btz_guard_prompts[i].name));
        btz_hasher_add_part(hasher,
                            (struct btz_str){btz_guard_prompts[i].bytes, btz_guard_prompts[i].len});
    }
    hash = btz_hasher_end(hasher);
    btz_hasher_free(hasher);
    return hash;
}

struct btz_str btz_guard_unfence(struct btz_str reply)
{
    struct btz_str s = btz_str_trim(reply);
    struct btz_str body = s;
    struct btz_str line;

    if (s.len < 7 || !btz_str_starts(s, BTZ_STR("```")) || !btz_str_ends(s, BTZ_STR("```"))) {
        return s;
    }
    body.len -= 3;
    if (!btz_str_cut(&body, '\n', &line) || !body.ptr ||
        !(btz_str_is(btz_str_trim(line), "```") || btz_str_is(btz_str_trim(line), "```json"))) {
        return s;
    }
    return btz_str_trim(body);
}

int btz_guard_opinion(struct btz_str reply, struct btz_str scanned, struct btz_arena *arena,
                      struct btz_guard_opinion *out, struct btz_err *err)
{
    const struct btz_json_limits limits = {.max_bytes = REPLY_MAX, .max_depth = 2};
    const struct btz_json *root = NULL;
    const struct btz_json *reason;
    const struct btz_json *evidence;
    struct btz_str verdict;
    struct btz_str quote;
    bool unsafe;

    if (btz_json_parse(arena, btz_guard_unfence(reply), &limits, &root, err)) {
        btz_err_prefix(err, "malformed verdict: ");
        return BTZ_EINVAL;
    }
    verdict = btz_json_str(btz_json_getz(root, "verdict"));
    reason = btz_json_getz(root, "reason");
    evidence = btz_json_getz(root, "evidence");
    unsafe = btz_str_is(verdict, "unsafe");
    if (btz_json_count(root) != 3 || (!unsafe && !btz_str_is(verdict, "safe")) ||
        !btz_json_is(reason, BTZ_JSON_STRING) || !btz_json_is(evidence, BTZ_JSON_STRING)) {
        return btz_err_set(err, BTZ_EINVAL,
                           "malformed verdict: expected {\"verdict\": \"safe\" or \"unsafe\", "
                           "\"reason\": text, \"evidence\": text}");
    }
    quote = btz_json_str(evidence);
    if (btz_json_str(reason).len > REASON_MAX) {
        return btz_err_set(err, BTZ_EINVAL, "malformed verdict: the reason is over %d bytes long",
                           REASON_MAX);
    }
    if (unsafe && (btz_str_trim(quote).len == 0 || btz_str_find(scanned, quote) < 0)) {
        return btz_err_set(err, BTZ_EINVAL,
                           "malformed verdict: the evidence is no part of the text");
    }
    if (!unsafe && quote.len) {
        return btz_err_set(err, BTZ_EINVAL, "malformed verdict: \"safe\", but with evidence");
    }
    *out = (struct btz_guard_opinion){unsafe, btz_json_str(reason), quote};
    return BTZ_OK;
}
