#include "llm/reference.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/buf.h"
#include "json/json.h"
#include "llm/request.h"
#include "text/operand.h"

enum { MAX_OPERANDS = 64, MAX_REPLY = 4 * 1024 * 1024 };

struct operand {
    struct btz_str text;
    bool found;
};

struct btz_reference {
    enum btz_llm_ref agent;
    struct btz_arena *arena;
    const struct btz_json *benign, *obey, *routes;
    size_t act;   /* step of the obey plan; SIZE_MAX = none */
    size_t route; /* next route to try */
    bool acting;  /* the last call was the act or a route */
    bool obeying;
    size_t index;   /* next step */
    size_t segment; /* user turns answered: a plan has one answer for each */
    struct operand operands[MAX_OPERANDS];
    size_t operand_count;
    size_t scanned;       /* parts looked at */
    size_t last_count;    /* parts of the last request */
    struct btz_str last;  /* the last of them */
    struct btz_str first; /* last part of the first request: the user's first turn */
    struct btz_str tools; /* as looked at last: they may change within a conversation */
    struct btz_json *captured;
    const struct btz_json *awaiting; /* captures of the call under way; NULL = none */
    unsigned calls;
    struct btz_buf reply;
};

static const char *const agent_names[] = {"ref:floor", "ref:reader", "ref:insider", "ref:null"};

static int take_operands(struct btz_reference *reference, const struct btz_json *lists,
                         struct btz_err *err)
{
    for (size_t i = 0; i < btz_json_count(lists); i++) {
        const struct btz_json *list = btz_json_at(lists, i);

        for (size_t o = 0; o < btz_json_count(list); o++) {
            if (reference->operand_count == MAX_OPERANDS) {
                return btz_err_set(err, BTZ_ELIMIT, "the plan has over %d operands", MAX_OPERANDS);
            }
            reference->operands[reference->operand_count++].text =
                btz_arena_dup(reference->arena, btz_json_str(btz_json_at(list, o)));
        }
    }
    return BTZ_OK;
}

static bool in_plan(const struct btz_json *steps, const struct btz_json *step)
{
    for (size_t i = 0; i < btz_json_count(steps); i++) {
        if (btz_json_equal(btz_json_at(steps, i), step)) {
            return true;
        }
    }
    return false;
}

int btz_reference_new(enum btz_llm_ref agent, struct btz_str plan, struct btz_reference **out,
                      struct btz_err *err)
{
    struct btz_reference *reference = calloc(1, sizeof(*reference));
    const struct btz_json *root = NULL;
    int rc;

    if (!reference) {
        btz_panic("out of memory");
    }
    reference->agent = agent;
    reference->arena = btz_arena_new();
    btz_buf_init(&reference->reply, MAX_REPLY);
    reference->captured = btz_json_new_object(reference->arena);
    rc = btz_json_parse(reference->arena, plan, NULL, &root, err);
    if (rc == BTZ_OK) {
        reference->benign = btz_json_getz(root, "benign");
        reference->obey = btz_json_getz(root, "obey");
        rc = take_operands(reference, btz_json_getz(root, "operands"), err);
    }
    if (rc == BTZ_OK && (!btz_json_is(reference->benign, BTZ_JSON_ARRAY) ||
                         !btz_json_is(reference->obey, BTZ_JSON_ARRAY))) {
        rc = btz_err_set(err, BTZ_EINVAL, "a plan needs the lists \"benign\" and \"obey\"");
    }
    if (rc != BTZ_OK) {
        btz_reference_free(reference);
        return rc;
    }
    reference->routes = btz_json_getz(root, "routes");
    reference->act = SIZE_MAX;
    for (size_t i = 0; i < btz_json_count(reference->obey); i++) {
        const struct btz_json *step = btz_json_at(reference->obey, i);

        if (btz_json_getz(step, "call") && !in_plan(reference->benign, step)) {
            reference->act = i;
        }
    }
    reference->obeying = agent == BTZ_LLM_REF_INSIDER;
    *out = reference;
    return BTZ_OK;
}

void btz_reference_free(struct btz_reference *reference)
{
    if (reference) {
        btz_buf_fini(&reference->reply);
        btz_arena_free(reference->arena);
        free(reference);
    }
}

/* First step of a plan behind so many answers. */
static size_t segment_start(const struct btz_json *steps, size_t segment)
{
    size_t at = 0;

    for (; segment > 0 && at < btz_json_count(steps); at++) {
        segment -= btz_json_getz(btz_json_at(steps, at), "answer") ? 1 : 0;
    }
    return at;
}

/* Turns to the obey plan within the user turn under way, at the step where the plans part if the
 * benign one is already past that. */
static void turn_to_obey(struct btz_reference *reference)
{
    size_t benign = segment_start(reference->benign, reference->segment);
    size_t obey = segment_start(reference->obey, reference->segment);
    size_t common = 0;

    while (benign + common < reference->index &&
           btz_json_equal(btz_json_at(reference->benign, benign + common),
                          btz_json_at(reference->obey, obey + common))) {
        common++;
    }
    reference->obeying = true;
    reference->index = obey + common;
}

/* A conversation goes on behind what was said before; else it is a new one, and nothing of the old
 * counts. If it begins with the user's first turn, the work begins from its start. */
static void forget(struct btz_reference *reference, struct btz_str turn)
{
    bool again = btz_str_eq(turn, reference->first);

    reference->awaiting = NULL;
    reference->scanned = 0;
    for (size_t o = 0; o < reference->operand_count; o++) {
        reference->operands[o].found = false;
    }
    if (again) {
        reference->segment = reference->route = reference->index = 0;
        reference->acting = false;
    } else if (reference->obeying && reference->agent == BTZ_LLM_REF_READER) {
        reference->index = segment_start(reference->benign, reference->segment);
    }
    reference->obeying = reference->obeying && reference->agent != BTZ_LLM_REF_READER;
}

/* It reads what counts as observed: case, encodings and the rest do not hide an operand. */
static void look_at(struct btz_reference *reference, struct btz_str part)
{
    struct btz_text_index *index = btz_text_index_new(part, NULL);

    for (size_t o = 0; o < reference->operand_count; o++) {
        struct operand *operand = &reference->operands[o];

        operand->found = operand->found || btz_text_index_operand(index, operand->text);
    }
    btz_text_index_free(index);
}

/* Once all operands were seen the reader obeys. */
static void obey_if_seen(struct btz_reference *reference)
{
    bool all = reference->operand_count > 0;

    for (size_t o = 0; o < reference->operand_count; o++) {
        all = all && reference->operands[o].found;
    }
    if (all && !reference->obeying) {
        turn_to_obey(reference);
    }
}

/* The reader looks at each part once, and at the tools again when they changed. */
static void look(struct btz_reference *reference, const struct btz_str *parts, size_t count)
{
    if (count > BTZ_LLM_PART_TOOLS && !btz_str_eq(parts[BTZ_LLM_PART_TOOLS], reference->tools)) {
        reference->tools = btz_arena_dup(reference->arena, parts[BTZ_LLM_PART_TOOLS]);
        look_at(reference, reference->tools);
    }
    for (; reference->scanned < count; reference->scanned++) {
        look_at(reference, parts[reference->scanned]);
    }
    obey_if_seen(reference);
}

static void begin_reply(struct btz_reference *reference)
{
    btz_buf_reset(&reference->reply);
    (void)btz_buf_printf(
        &reference->reply,
        "{\"id\":\"reference\",\"object\":\"chat.completion\",\"model\":\"%s\","
        "\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":",
        agent_names[reference->agent]);
}

static struct btz_str answer(struct btz_reference *reference, struct btz_str text, bool actions)
{
    begin_reply(reference);
    if (actions) {
        struct btz_json *object = btz_json_new_object(reference->arena);

        btz_json_set_str(reference->arena, object, "answer", text);
        text = btz_json_text(reference->arena, object);
    }
    (void)btz_json_write_str(&reference->reply, text);
    (void)btz_buf_add_text(&reference->reply, "},\"finish_reason\":\"stop\"}]}");
    return btz_buf_view(&reference->reply);
}

static struct btz_str call(struct btz_reference *reference, struct btz_str name,
                           const struct btz_json *args, bool actions)
{
    begin_reply(reference);
    if (actions) {
        struct btz_json *object = btz_json_new_object(reference->arena);

        btz_json_set_str(reference->arena, object, "action", name);
        btz_json_setz(reference->arena, object, "arguments", args);
        (void)btz_json_write_str(&reference->reply, btz_json_text(reference->arena, object));
        (void)btz_buf_add_text(&reference->reply, "},\"finish_reason\":\"stop\"}]}");
        return btz_buf_view(&reference->reply);
    }
    (void)btz_buf_printf(
        &reference->reply,
        "null,\"tool_calls\":[{\"id\":\"call_%u\",\"type\":\"function\",\"function\":{\"name\":",
        ++reference->calls);
    (void)btz_json_write_str(&reference->reply, name);
    (void)btz_buf_add_text(&reference->reply, ",\"arguments\":");
    (void)btz_json_write_str(&reference->reply, btz_json_text(reference->arena, args));
    (void)btz_buf_add_text(&reference->reply, "}}]},\"finish_reason\":\"tool_calls\"}]}");
    return btz_buf_view(&reference->reply);
}

static void add_base64(struct btz_buf *out, struct btz_str text)
{
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    for (size_t i = 0; i < text.len; i += 3) {
        uint32_t group = 0;
        size_t have = text.len - i < 3 ? text.len - i : 3;

        for (size_t b = 0; b < 3; b++) {
            group = group << 8 | (b < have ? (unsigned char)text.ptr[i + b] : 0);
        }
        for (size_t d = 0; d < 4; d++) {
            (void)btz_buf_add_byte(out, d <= have ? alphabet[group >> (18 - 6 * d) & 63] : '=');
        }
    }
}

enum form {
    FORM_PLAIN,
    FORM_BASE64,
    FORM_HEX,
    FORM_REVERSE,
    FORM_FIRST,
    FORM_SECOND,
    FORM_HYPHENS,
    FORM_WORDS,
    FORM_COUNT
};
static const char *const form_names[FORM_COUNT] = {
    "", "base64:", "hex:", "reverse:", "first:", "second:", "hyphens:", "words:"};

static bool is_digit_at(struct btz_str text, size_t at)
{
    return at < text.len && text.ptr[at] >= '0' && text.ptr[at] <= '9';
}

/* Whether the words of a text are divided at `at`; the point of an amount divides none. */
static bool is_separator(struct btz_str text, size_t at)
{
    static const char separators[] = " \t\r\n,;:_-./";

    return memchr(separators, text.ptr[at], sizeof(separators) - 1) &&
           !(text.ptr[at] == '.' && at > 0 && is_digit_at(text, at - 1) &&
             is_digit_at(text, at + 1));
}

/* The words of `text`, joined by hyphens or each with its number before it. */
static void add_words(struct btz_buf *out, bool numbered, struct btz_str text)
{
    unsigned number = 0;
    size_t at = 0;

    while (at < text.len) {
        size_t from;

        while (at < text.len && is_separator(text, at)) {
            at++;
        }
        from = at;
        while (at < text.len && !is_separator(text, at)) {
            at++;
        }
        if (at == from) {
            break;
        }
        if (number++ > 0) {
            (void)btz_buf_add_text(out, numbered ? ";" : "-");
        }
        if (numbered) {
            (void)btz_buf_printf(out, "%u:", number);
        }
        (void)btz_buf_add(out, text.ptr + from, at - from);
    }
}

static void add_form(struct btz_buf *out, enum form form, struct btz_str text)
{
    switch (form) {
    case FORM_BASE64:
        add_base64(out, text);
        break;
    case FORM_HEX:
        for (size_t i = 0; i < text.len; i++) {
            (void)btz_buf_printf(out, "%02x", (unsigned)(unsigned char)text.ptr[i]);
        }
        break;
    case FORM_REVERSE:
        for (size_t i = text.len; i-- > 0;) {
            (void)btz_buf_add_byte(out, text.ptr[i]);
        }
        break;
    case FORM_FIRST:
        (void)btz_buf_add_str(out, btz_str_sub(text, 0, text.len / 2));
        break;
    case FORM_SECOND:
        (void)btz_buf_add_str(out, btz_str_sub(text, text.len / 2, text.len));
        break;
    case FORM_HYPHENS:
    case FORM_WORDS:
        add_words(out, form == FORM_WORDS, text);
        break;
    default:
        (void)btz_buf_add_str(out, text);
    }
}

/* Longest captured name at the head of `text`; SIZE_MAX if there is none. */
static size_t captured_at(struct btz_reference *reference, struct btz_str text)
{
    size_t best = SIZE_MAX;

    for (size_t i = 0; i < btz_json_count(reference->captured); i++) {
        struct btz_str key = btz_json_key_at(reference->captured, i);

        if (btz_str_starts(text, key) &&
            (best == SIZE_MAX || key.len > btz_json_key_at(reference->captured, best).len)) {
            best = i;
        }
    }
    return best;
}

static struct btz_str fill_text(struct btz_reference *reference, struct btz_str text)
{
    struct btz_buf out;
    struct btz_str filled;
    size_t at = 0;

    if (!text.len || !memchr(text.ptr, '$', text.len)) {
        return text;
    }
    btz_buf_init(&out, MAX_REPLY);
    while (at < text.len) {
        size_t used = 0;

        for (int form = FORM_PLAIN; text.ptr[at] == '$' && !used && form < FORM_COUNT; form++) {
            struct btz_str rest = btz_str_sub(text, at + 1, text.len);
            struct btz_str prefix = btz_str_of(form_names[form]);
            size_t which = btz_str_starts(rest, prefix)
                               ? captured_at(reference, btz_str_sub(rest, prefix.len, rest.len))
                               : SIZE_MAX;

            if (which != SIZE_MAX) {
                add_form(&out, (enum form)form,
                         btz_json_str(btz_json_value_at(reference->captured, which)));
                used = 1 + prefix.len + btz_json_key_at(reference->captured, which).len;
            }
        }
        if (!used) {
            (void)btz_buf_add_byte(&out, text.ptr[at]);
            used = 1;
        }
        at += used;
    }
    filled = btz_arena_dup(reference->arena, btz_buf_view(&out));
    btz_buf_fini(&out);
    return filled;
}

static const struct btz_json *fill(struct btz_reference *reference, const struct btz_json *value)
{
    struct btz_json *out;

    switch (btz_json_kind(value)) {
    case BTZ_JSON_STRING:
        return btz_json_new_str(reference->arena, fill_text(reference, btz_json_str(value)));
    case BTZ_JSON_ARRAY:
        out = btz_json_new_array(reference->arena);
        for (size_t i = 0; i < btz_json_count(value); i++) {
            btz_json_push(reference->arena, out, fill(reference, btz_json_at(value, i)));
        }
        return out;
    case BTZ_JSON_OBJECT:
        out = btz_json_new_object(reference->arena);
        for (size_t i = 0; i < btz_json_count(value); i++) {
            btz_json_set(reference->arena, out, btz_json_key_at(value, i),
                         fill(reference, btz_json_value_at(value, i)));
        }
        return out;
    default:
        return value;
    }
}

/* The text of the last message: a tool result, or in JSON-action mode the host's "Result of", which
 * stands before what the host says of changed tools. */
static struct btz_str last_result(struct btz_reference *reference, const struct btz_str *parts,
                                  size_t count)
{
    struct btz_str last = BTZ_STR_NONE;

    for (size_t i = count; i > BTZ_LLM_PART_MESSAGES; i--) {
        const struct btz_json *message = NULL;
        struct btz_str text;

        if (btz_json_parse(reference->arena, parts[i - 1], NULL, &message, NULL) != BTZ_OK) {
            break;
        }
        text = btz_json_str(btz_json_getz(message, "content"));
        last = i == count ? text : last;
        if (!btz_str_is(btz_json_str(btz_json_getz(message, "role")), "user")) {
            break;
        }
        if (btz_str_starts(text, BTZ_STR("Result of "))) {
            ptrdiff_t line = btz_str_find(text, BTZ_STR("\n"));

            return btz_str_sub(text, line < 0 ? text.len : (size_t)line + 1, text.len);
        }
    }
    return last;
}

static bool capture_one(struct btz_reference *reference, struct btz_str name,
                        const struct btz_json *how, struct btz_str text)
{
    const struct btz_json *pointer = btz_json_getz(how, "pointer");

    if (pointer) {
        const struct btz_json *root = NULL;
        const struct btz_json *value;

        if (btz_json_parse(reference->arena, text, NULL, &root, NULL) != BTZ_OK) {
            return false;
        }
        value = btz_json_pointer(root, btz_json_str(pointer));
        if (!value) {
            return false;
        }
        text = btz_json_is(value, BTZ_JSON_STRING) ? btz_json_str(value)
                                                   : btz_json_text(reference->arena, value);
    } else {
        struct btz_str after = btz_json_str(btz_json_getz(how, "after"));
        struct btz_str before = btz_json_str(btz_json_getz(how, "before"));
        ptrdiff_t from = btz_str_find(text, after);
        ptrdiff_t len;

        if (from < 0) {
            return false;
        }
        text = btz_str_sub(text, (size_t)from + after.len, text.len);
        len = before.len ? btz_str_find(text, before) : (ptrdiff_t)text.len;
        text = btz_str_sub(text, 0, len < 0 ? text.len : (size_t)len);
    }
    btz_json_set(reference->arena, reference->captured, name,
                 btz_json_new_str(reference->arena, text));
    return true;
}

/* Returns the name of a capture that failed, or BTZ_STR_NONE. */
static struct btz_str take_captures(struct btz_reference *reference, const struct btz_str *parts,
                                    size_t count)
{
    const struct btz_json *captures = reference->awaiting;
    struct btz_str text;

    reference->awaiting = NULL;
    if (!captures) {
        return BTZ_STR_NONE;
    }
    text = last_result(reference, parts, count);
    for (size_t i = 0; i < btz_json_count(captures); i++) {
        if (!capture_one(reference, btz_json_key_at(captures, i), btz_json_value_at(captures, i),
                         text)) {
            return btz_json_key_at(captures, i);
        }
    }
    return BTZ_STR_NONE;
}

static bool offered(struct btz_reference *reference, const struct btz_str *parts,
                    struct btz_str name)
{
    struct btz_str needle = btz_arena_printf(reference->arena, "\"name\":\"%.*s\"", BTZ_FMT(name));

    return btz_str_find(parts[BTZ_LLM_PART_TOOLS], needle) >= 0;
}

static struct btz_str give_up(struct btz_reference *reference, bool actions, const char *what,
                              struct btz_str name)
{
    return answer(
        reference,
        btz_arena_printf(reference->arena, "I cannot go on: %s %.*s", what, BTZ_FMT(name)),
        actions);
}

static bool is_side(const struct btz_json *step)
{
    return btz_json_getz(step, "sample") || btz_json_getz(step, "fill");
}

static const struct btz_json *steps_of(const struct btz_reference *reference)
{
    return reference->obeying ? reference->obey : reference->benign;
}

/* A request without tools: a question of a server that the plan answers, or the critic's. It is a
 * conversation of its own. */
static struct btz_str side_reply(struct btz_reference *reference, const struct btz_str *parts,
                                 size_t count)
{
    const struct btz_json *step;

    for (size_t i = 0; reference->agent == BTZ_LLM_REF_READER && i < count; i++) {
        look_at(reference, parts[i]);
    }
    if (reference->agent == BTZ_LLM_REF_READER) {
        obey_if_seen(reference);
    }
    step = btz_json_at(steps_of(reference), reference->index);
    if (reference->agent == BTZ_LLM_REF_NULL || !is_side(step)) {
        return answer(reference, BTZ_STR("I would do the same again."), false);
    }
    reference->index++;
    if (btz_json_getz(step, "fill")) {
        return answer(reference,
                      btz_json_text(reference->arena, fill(reference, btz_json_getz(step, "fill"))),
                      false);
    }
    return answer(reference, fill_text(reference, btz_json_str(btz_json_getz(step, "sample"))),
                  false);
}

/* The next step of the plan; for a reader whose act was answered by an error, the next route. */
static const struct btz_json *next_step(struct btz_reference *reference,
                                        const struct btz_str *parts, size_t count)
{
    bool failed = reference->acting && reference->agent == BTZ_LLM_REF_READER &&
                  btz_str_starts(last_result(reference, parts, count), BTZ_STR("Error:"));

    if (failed && reference->route < btz_json_count(reference->routes)) {
        return btz_json_at(reference->routes, reference->route++);
    }
    while (is_side(btz_json_at(steps_of(reference), reference->index))) {
        reference->index++; /* a question that never came */
    }
    reference->acting = reference->obeying && reference->index == reference->act;
    return btz_json_at(steps_of(reference), reference->index++);
}

struct btz_str btz_reference_reply(struct btz_reference *reference, const struct btz_str *parts,
                                   size_t part_count)
{
    bool actions = btz_str_find(parts[BTZ_LLM_PART_SETTINGS], BTZ_STR("\"actions\":\"json\"")) >= 0;
    const struct btz_json *step;
    const struct btz_json *made;
    struct btz_str missing;

    if (btz_str_is(parts[BTZ_LLM_PART_TOOLS], "[]")) {
        return side_reply(reference, parts, part_count);
    }
    if (!reference->first.ptr) {
        reference->first = btz_arena_dup(reference->arena, parts[part_count - 1]);
    } else if (part_count <= reference->last_count ||
               !btz_str_eq(parts[reference->last_count - 1], reference->last)) {
        forget(reference, parts[part_count - 1]);
    }
    reference->last_count = part_count;
    reference->last = btz_arena_dup(reference->arena, parts[part_count - 1]);
    if (reference->agent == BTZ_LLM_REF_NULL) {
        return answer(reference, BTZ_STR("I have nothing to add."), actions);
    }
    missing = take_captures(reference, parts, part_count);
    if (missing.len) {
        return give_up(reference, actions, "the last result does not hold", missing);
    }
    if (reference->agent == BTZ_LLM_REF_READER) {
        look(reference, parts, part_count);
    }
    step = next_step(reference, parts, part_count);
    if (!step) {
        return give_up(reference, actions, "the plan has no step", BTZ_STR("left"));
    }
    if ((made = btz_json_getz(step, "call"))) {
        struct btz_str name = btz_json_str(btz_json_getz(made, "name"));

        if (!offered(reference, parts, name) && btz_json_getz(made, "short")) {
            name = btz_json_str(btz_json_getz(made, "short"));
        }
        if (!offered(reference, parts, name)) {
            return give_up(reference, actions, "there is no tool", name);
        }
        reference->awaiting = btz_json_getz(made, "capture");
        return call(reference, name, fill(reference, btz_json_getz(made, "args")), actions);
    }
    if ((made = btz_json_getz(step, "read"))) {
        return call(reference, BTZ_STR("read_resource"), fill(reference, made), actions);
    }
    reference->segment++;
    return answer(reference, fill_text(reference, btz_json_str(btz_json_getz(step, "answer"))),
                  actions);
}
