/* canon: a filter for tool definitions. Reads a definition, an array of them, a tools/list result,
 * a whole JSON-RPC response, or JSONL of any of these or of rows with a member "tool", and writes
 * the same kind. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "cmd/canon.h"
#include "sieve/item.h"

enum { DOCUMENT_MAX = 16 * 1024 * 1024, LINE_BYTES_MAX = 1024 * 1024 };

enum view { VIEW_DEFINITIONS, VIEW_EXPLAIN, VIEW_SPANS, VIEW_DIFF };

struct filter {
    struct btz_context *context;
    enum btz_canon_arm arm;
    struct btz_canon_options options;
    enum view view;
    bool lines; /* one value a line */
    FILE *in;
    char file[200];
    unsigned line;
    struct btz_arena *arena;         /* of the value under way */
    struct canon_rewriter *rewriter; /* of an arm that asks a model */
    size_t definitions, changed, withheld, removed_bytes;
    /* What was made of the definitions of the value under way. */
    const struct btz_json *tools;
    struct btz_canon_result *results;
    struct btz_str *why; /* of those that have no definition: they are withheld */
    size_t count;
};

static int fail_at(struct filter *f, struct btz_err *err)
{
    btz_err_at(err, f->file, f->lines ? f->line : err->line, f->lines ? 0 : err->column);
    return err->code;
}

/* ---- values ---- */

/* What a model makes of the definitions whose results are there. */
static int rewrite(struct filter *f, const struct btz_json *tools, struct btz_err *err)
{
    size_t count = btz_json_count(tools);
    int rc;

    if (!f->rewriter) {
        return BTZ_OK;
    }
    f->why = btz_arena_array(f->arena, count + 1, sizeof(*f->why));
    rc = canon_rewrite(f->rewriter, tools, &f->options, f->arena, f->results, f->why, err);
    for (size_t i = 0; rc == BTZ_OK && i < count; i++) {
        if (!f->results[i].definition) {
            f->withheld++;
            btz_cmd_note(f->context, "%.*s is withheld: %.*s", BTZ_FMT(f->results[i].given_name),
                         BTZ_FMT(f->why[i]));
        }
    }
    return rc;
}

static int run_list(struct filter *f, const struct btz_json *tools, const struct btz_json **out,
                    struct btz_err *err)
{
    size_t count = btz_json_count(tools);
    struct btz_json *now = btz_json_new_array(f->arena);
    int rc;

    f->results = btz_arena_array(f->arena, count + 1, sizeof(*f->results));
    rc =
        btz_canon_list(btz_canon_arm_before(f->arm), tools, &f->options, f->arena, f->results, err);
    rc = rc ? rc : rewrite(f, tools, err);
    if (rc) {
        return rc;
    }
    for (size_t i = 0; i < count; i++) {
        canon_note_members(f->context, btz_json_at(tools, i));
        if (f->results[i].definition) {
            btz_json_push(f->arena, now, f->results[i].definition);
        }
    }
    f->tools = tools;
    f->count = count;
    *out = now;
    return BTZ_OK;
}

static int run_one(struct filter *f, const struct btz_json *tool, const struct btz_json **out,
                   struct btz_err *err)
{
    struct btz_json *list = btz_json_new_array(f->arena);
    int rc;

    f->results = btz_arena_array(f->arena, 1, sizeof(*f->results));
    rc = btz_canon_tool(btz_canon_arm_before(f->arm), tool, &f->options, f->arena, f->results, err);
    btz_json_push(f->arena, list, tool);
    rc = rc ? rc : rewrite(f, list, err);
    if (rc) {
        return rc;
    }
    canon_note_members(f->context, tool);
    f->tools = list;
    f->count = 1;
    *out = f->results[0].definition;
    return BTZ_OK;
}

/* `whole` with `now` in the place of member `key`. */
static const struct btz_json *with(struct filter *f, const struct btz_json *whole, const char *key,
                                   const struct btz_json *now)
{
    struct btz_json *out = btz_json_new_object(f->arena);

    for (size_t i = 0; i < btz_json_count(whole); i++) {
        bool here = btz_str_is(btz_json_key_at(whole, i), key);

        btz_json_set(f->arena, out, btz_json_key_at(whole, i),
                     here ? now : btz_json_value_at(whole, i));
    }
    return out;
}

/* The hash of a row is one of its definition; its id goes on naming what was collected. */
static const struct btz_json *row_with(struct filter *f, const struct btz_json *row,
                                       const struct btz_json *tool)
{
    const struct btz_json *out = with(f, row, "tool", tool);
    struct btz_buf text;
    struct btz_hash hash;
    char hex[65];

    if (!btz_json_getz(row, "hash")) {
        return out;
    }
    btz_buf_init(&text, DOCUMENT_MAX);
    (void)btz_json_write_canonical(&text, tool);
    hash = btz_hash_of(btz_buf_view(&text));
    btz_buf_fini(&text);
    return with(f, out, "hash", btz_json_new_strz(f->arena, btz_hash_hex(&hash, hex)));
}

static int run_value(struct filter *f, const struct btz_json *value, const struct btz_json **out,
                     struct btz_err *err)
{
    const struct btz_json *result = btz_json_getz(value, "result");
    const struct btz_json *now = NULL;
    int rc;

    if (btz_json_is(value, BTZ_JSON_ARRAY)) {
        return run_list(f, value, out, err);
    }
    if (btz_json_is(btz_json_getz(value, "tools"), BTZ_JSON_ARRAY)) {
        rc = run_list(f, btz_json_getz(value, "tools"), &now, err);
        if (rc == BTZ_OK) {
            *out = with(f, value, "tools", now);
        }
        return rc;
    }
    if (btz_json_is(btz_json_getz(result, "tools"), BTZ_JSON_ARRAY)) {
        rc = run_list(f, btz_json_getz(result, "tools"), &now, err);
        if (rc == BTZ_OK) {
            *out = with(f, value, "result", with(f, result, "tools", now));
        }
        return rc;
    }
    if (btz_json_is(btz_json_getz(value, "tool"), BTZ_JSON_OBJECT)) {
        rc = run_one(f, btz_json_getz(value, "tool"), &now, err);
        if (rc == BTZ_OK) {
            *out = now ? row_with(f, value, now) : NULL;
        }
        return rc;
    }
    if (btz_json_is(btz_json_getz(value, "name"), BTZ_JSON_STRING)) {
        return run_one(f, value, out, err);
    }
    return canon_no_definition(value, err);
}

/* ---- what is shown ---- */

static const char *action_name(enum btz_canon_action action)
{
    return action == BTZ_CANON_KEPT ? "kept" : action == BTZ_CANON_CHANGED ? "changed" : "removed";
}

/* What stood there. A field that ends in # is the name of a member. */
static struct btz_str source_of(const struct btz_json *tool, const struct btz_canon_span *s)
{
    struct btz_str text = btz_json_str(btz_json_pointer(tool, s->field));
    size_t at = s->field.len;

    if (text.len >= s->end) {
        return btz_str_sub(text, s->begin, s->end - s->begin);
    }
    while (at && s->field.ptr[at - 1] != '/') {
        at--;
    }
    return btz_str_sub(s->field, at, s->field.len - at - 1);
}

static const struct btz_json *report_of(struct filter *f, size_t index)
{
    const struct btz_canon_result *r = &f->results[index];
    struct btz_json *out = btz_json_new_object(f->arena);
    struct btz_json *spans = btz_json_new_array(f->arena);

    btz_json_set_str(f->arena, out, "given_name", r->given_name);
    btz_json_set_str(f->arena, out, "name", r->name);
    btz_json_set_strz(f->arena, out, "arm", btz_canon_arm_name(f->arm));
    btz_json_set_int(f->arena, out, "removed_bytes", (int64_t)r->removed_bytes);
    btz_json_setz(f->arena, out, "names", r->names ? r->names : btz_json_null(f->arena));
    btz_json_setz(f->arena, out, "values", r->values ? r->values : btz_json_null(f->arena));
    for (size_t i = 0; i < r->span_count; i++) {
        const struct btz_canon_span *s = &r->spans[i];
        struct btz_json *item;

        if (s->action == BTZ_CANON_KEPT && f->view == VIEW_EXPLAIN) {
            continue;
        }
        item = btz_json_new_object(f->arena);
        btz_json_set_str(f->arena, item, "field", s->field);
        btz_json_set_int(f->arena, item, "begin", (int64_t)s->begin);
        btz_json_set_int(f->arena, item, "end", (int64_t)s->end);
        btz_json_set_strz(f->arena, item, "action", action_name(s->action));
        btz_json_set_strz(f->arena, item, "rule", s->rule);
        btz_json_set_str(f->arena, item, "text", s->text);
        btz_json_push(f->arena, spans, item);
    }
    btz_json_setz(f->arena, out, "spans", spans);
    btz_json_setz(f->arena, out, "definition",
                  r->definition ? r->definition : btz_json_null(f->arena));
    if (!r->definition) {
        btz_json_set_str(f->arena, out, "withheld", f->why[index]);
    }
    return out;
}

static void add_quoted(struct btz_buf *out, const char *lead, struct btz_str text, size_t width,
                       bool colour, enum btz_colour which)
{
    if (colour) {
        btz_term_colour_on(out, which);
    }
    (void)btz_buf_add_text(out, lead);
    (void)btz_term_add_text(out, text, width);
    if (colour) {
        btz_term_colour_off(out, which);
    }
    (void)btz_buf_add_byte(out, '\n');
}

/* Line breaks of a text as blanks, for one line of the report. */
static struct btz_str on_one_line(struct filter *f, struct btz_str text)
{
    struct btz_str line = btz_arena_dup(f->arena, text);
    char *p = (char *)(uintptr_t)line.ptr;

    for (size_t i = 0; i < line.len; i++) {
        p[i] = (char)(p[i] == '\n' || p[i] == '\r' ? ' ' : p[i]);
    }
    return line;
}

static void explain(struct filter *f, size_t index, struct btz_buf *out)
{
    const struct btz_canon_result *r = &f->results[index];
    const struct btz_json *tool = btz_json_at(f->tools, index);
    bool colour = f->context->out.colour;
    size_t width = f->context->out.is_terminal ? f->context->out.width - 8 : SIZE_MAX;
    struct btz_str field = BTZ_STR_NONE;

    (void)btz_term_add_text(out, r->given_name, 100);
    if (!r->definition) {
        (void)btz_buf_add_text(out, ": withheld, ");
        (void)btz_term_add_text(out, f->why[index], 200);
        (void)btz_buf_add_byte(out, '\n');
        return;
    }
    (void)btz_buf_printf(out, ": %zu bytes of text removed\n", r->removed_bytes);
    for (size_t i = 0; i < r->span_count; i++) {
        const struct btz_canon_span *s = &r->spans[i];
        char lead[160];

        if (s->action == BTZ_CANON_KEPT && f->view != VIEW_SPANS) {
            continue;
        }
        if (!btz_str_eq(field, s->field)) {
            (void)btz_buf_add_text(out, "  ");
            (void)btz_term_add_text(out, s->field, 200);
            (void)btz_buf_add_byte(out, '\n');
            field = s->field;
        }
        (void)snprintf(lead, sizeof(lead), "    %s %zu-%zu, %s\n", action_name(s->action), s->begin,
                       s->end, s->rule);
        (void)btz_buf_add_text(out, lead);
        if (s->action != BTZ_CANON_KEPT) {
            add_quoted(out, "      - ", on_one_line(f, source_of(tool, s)), width, colour,
                       BTZ_COLOUR_RED);
        }
        if (s->action != BTZ_CANON_REMOVED) {
            add_quoted(out, "      + ", on_one_line(f, s->text), width, colour, BTZ_COLOUR_GREEN);
        }
    }
    if (f->rewriter) {
        (void)btz_buf_add_text(out, "  written by the model\n");
        add_quoted(out, "      + ",
                   on_one_line(f, btz_json_str(btz_json_getz(r->definition, "description"))), width,
                   colour, BTZ_COLOUR_GREEN);
    }
}

/* Both forms line by line, what they share left plain. Definitions are short: the common part at
 * both ends and a plain exchange between them say enough. */
static void diff(struct filter *f, size_t index, struct btz_buf *out)
{
    struct btz_buf text[2];
    struct btz_str rest[2];
    bool colour = f->context->out.colour;

    for (int i = 0; i < 2; i++) {
        btz_buf_init(&text[i], DOCUMENT_MAX);
        (void)btz_json_write_pretty(&text[i], i ? f->results[index].definition
                                                : btz_json_at(f->tools, index));
        rest[i] = btz_buf_view(&text[i]);
    }
    (void)btz_buf_add_text(out, "tool ");
    (void)btz_term_add_text(out, f->results[index].given_name, 100);
    (void)btz_buf_add_byte(out, '\n');
    while (rest[0].ptr || rest[1].ptr) {
        struct btz_str line[2];
        struct btz_str look = rest[1];
        struct btz_str seen = BTZ_STR_NONE;
        bool found = false;

        if (!rest[0].ptr || !btz_str_cut(&rest[0], '\n', &line[0])) {
            while (rest[1].ptr && btz_str_cut(&rest[1], '\n', &line[1])) {
                add_quoted(out, "+ ", line[1], SIZE_MAX, colour, BTZ_COLOUR_GREEN);
            }
            break;
        }
        for (unsigned ahead = 0; ahead < 60 && look.ptr && btz_str_cut(&look, '\n', &seen);
             ahead++) {
            if (btz_str_eq(seen, line[0]) && (ahead == 0 || seen.len > 8)) {
                found = true;
                break;
            }
        }
        if (!found) {
            add_quoted(out, "- ", line[0], SIZE_MAX, colour, BTZ_COLOUR_RED);
            continue;
        }
        while (btz_str_cut(&rest[1], '\n', &line[1]) && line[1].ptr != seen.ptr) {
            add_quoted(out, "+ ", line[1], SIZE_MAX, colour, BTZ_COLOUR_GREEN);
        }
        add_quoted(out, "  ", line[0], SIZE_MAX, false, BTZ_COLOUR_NONE);
    }
    btz_buf_fini(&text[0]);
    btz_buf_fini(&text[1]);
}

/* No `value`: it was one definition, which is withheld. */
static void write_value(struct filter *f, const struct btz_json *value, struct btz_buf *out)
{
    if (f->view == VIEW_DEFINITIONS && !value) {
        return;
    }
    if (f->view == VIEW_DEFINITIONS) {
        if (f->context->out.is_terminal && !f->lines && !f->context->json) {
            (void)btz_json_write_pretty(out, value);
        } else {
            (void)btz_json_write(out, value);
        }
        (void)btz_buf_add_byte(out, '\n');
        return;
    }
    for (size_t i = 0; i < f->count; i++) {
        if (f->context->json) {
            (void)btz_json_write(out, report_of(f, i));
            (void)btz_buf_add_byte(out, '\n');
        } else if (f->view == VIEW_DIFF && f->results[i].definition) {
            diff(f, i, out);
        } else {
            explain(f, i, out);
        }
    }
}

static int take(struct filter *f, struct btz_str text, struct btz_err *err)
{
    const struct btz_json_limits limits = {.max_bytes = f->lines ? LINE_BYTES_MAX : DOCUMENT_MAX};
    const struct btz_json *value = NULL;
    const struct btz_json *now = NULL;
    struct btz_buf out;
    int rc;

    btz_arena_reset(f->arena);
    f->count = 0;
    rc = btz_json_parse(f->arena, text, &limits, &value, err);
    if (rc == BTZ_ELIMIT) {
        canon_name_deep(text, f->arena, err);
    }
    if (rc == BTZ_OK) {
        rc = run_value(f, value, &now, err);
    }
    if (rc) {
        return fail_at(f, err);
    }
    for (size_t i = 0; i < f->count; i++) {
        f->definitions++;
        f->changed += f->results[i].definition != btz_json_at(f->tools, i) ? 1 : 0;
        f->removed_bytes += f->results[i].removed_bytes;
    }
    btz_buf_init(&out, (size_t)256 * 1024 * 1024);
    write_value(f, now, &out);
    rc = btz_cmd_print(&out, err);
    btz_buf_fini(&out);
    return rc;
}

/* ---- reading ---- */

/* Adds a line without its end to `line`. BTZ_ENOTFOUND: there is none. */
static int read_line(struct filter *f, struct btz_buf *line, struct btz_err *err)
{
    int c = 0;
    bool any = false;

    while ((c = getc_unlocked(f->in)) != EOF) {
        any = true;
        if (c == '\n') {
            break;
        }
        if (btz_buf_add_byte(line, (char)c)) {
            err->line = f->line;
            return btz_err_set(err, BTZ_ELIMIT, "over %zu MiB of input are not taken",
                               line->max / (1024 * 1024));
        }
    }
    if (ferror(f->in)) {
        return btz_err_set(err, BTZ_EIO, "%s cannot be read: %s", f->file, strerror(errno));
    }
    f->line++;
    return any ? BTZ_OK : BTZ_ENOTFOUND;
}

static bool is_blank(const struct btz_buf *line)
{
    return btz_str_trim(btz_buf_view(line)).len == 0;
}

/* JSONL if the first line that is not blank is a whole value and another follows. */
static int read_all(struct filter *f, struct btz_err *err)
{
    struct btz_buf first;
    struct btz_buf next;
    const struct btz_json *value = NULL;
    int rc;

    btz_buf_init(&first, DOCUMENT_MAX);
    btz_buf_init(&next, DOCUMENT_MAX);
    do {
        btz_buf_reset(&first);
        rc = read_line(f, &first, err);
    } while (rc == BTZ_OK && is_blank(&first));
    if (rc == BTZ_ENOTFOUND) {
        rc = btz_err_set(err, BTZ_EINVAL, "the input is empty");
        rc = fail_at(f, err);
    }
    if (rc == BTZ_OK &&
        btz_json_parse(f->arena, btz_buf_view(&first), NULL, &value, NULL) == BTZ_OK) {
        unsigned at = f->line;

        while ((rc = read_line(f, &next, err)) == BTZ_OK && is_blank(&next)) {
            btz_buf_reset(&next);
        }
        f->lines = rc == BTZ_OK;
        if (rc == BTZ_OK || rc == BTZ_ENOTFOUND) {
            unsigned now = f->line;

            f->line = at;
            rc = take(f, btz_buf_view(&first), err);
            f->line = now;
        }
        while (rc == BTZ_OK && f->lines) {
            rc = is_blank(&next) ? BTZ_OK : take(f, btz_buf_view(&next), err);
            btz_buf_reset(&next);
            rc = rc ? rc : read_line(f, &next, err);
        }
        rc = rc == BTZ_ENOTFOUND && f->lines ? BTZ_OK : rc;
    } else if (rc == BTZ_OK) {
        while (rc == BTZ_OK) {
            (void)btz_buf_add_byte(&first, '\n');
            rc = read_line(f, &first, err);
        }
        rc = rc == BTZ_ENOTFOUND ? take(f, btz_buf_view(&first), err) : rc;
    }
    btz_buf_fini(&first);
    btz_buf_fini(&next);
    return rc;
}

/* ---- the command ---- */

static int choose_arm(struct btz_context *context, enum btz_canon_arm *out, struct btz_err *err)
{
    const char *names[BTZ_CANON_ARMS];
    const char *word = btz_args_text(context->args, "arm", "canon");
    const char *near;

    for (unsigned i = 0; i < BTZ_CANON_ARMS; i++) {
        names[i] = btz_canon_arm_name((enum btz_canon_arm)i);
    }
    if (btz_canon_arm_named(btz_str_of(word), out) != BTZ_OK) {
        near = btz_args_nearest(word, names, BTZ_CANON_ARMS);
        return btz_err_set(
            err, BTZ_EUSAGE, "there is no arm \"%s\"%s%s%s %.*s", word,
            near ? "; did you mean \"" : "", near ? near : "",
            near ? "\"? Arms:" : "; arms:", BTZ_FMT(btz_canon_arm_list(context->arena)));
    }
    if (btz_canon_arm_asks(*out) && !btz_args_has(context->args, "rewrite-model")) {
        return btz_err_set(err, BTZ_EUSAGE, "the arm %s asks a model: name it with --rewrite-model",
                           word);
    }
    if (!btz_canon_arm_asks(*out) && btz_args_has(context->args, "rewrite-model")) {
        return btz_err_set(err, BTZ_EUSAGE, "the arm %s asks no model: --rewrite-model is for %.*s",
                           word, BTZ_FMT(btz_canon_asking_list(context->arena, "")));
    }
    return BTZ_OK;
}

static int open_input(const char *path, FILE **in, struct btz_err *err)
{
    int rc;

    if (strcmp(path, "-") == 0) {
        *in = stdin;
        return BTZ_OK;
    }
    rc = btz_sieve_frozen_check(path, err);
    if (rc == BTZ_OK && !(*in = fopen(path, "rbe"))) {
        rc = btz_err_set(err, BTZ_EUSAGE, "%s cannot be opened: %s", path, strerror(errno));
    }
    return rc;
}

static int run(struct btz_context *context, struct btz_err *err)
{
    const char *path = btz_args_count(context->args) ? btz_args_positional(context->args, 0) : "-";
    struct filter f = {.context = context, .in = stdin};
    unsigned views = 0;
    int rc = choose_arm(context, &f.arm, err);

    if (rc) {
        return rc;
    }
    f.view = btz_args_flag(context->args, "diff")      ? VIEW_DIFF
             : btz_args_flag(context->args, "spans")   ? VIEW_SPANS
             : btz_args_flag(context->args, "explain") ? VIEW_EXPLAIN
                                                       : VIEW_DEFINITIONS;
    views = (unsigned)btz_args_flag(context->args, "diff") +
            (unsigned)btz_args_flag(context->args, "spans") +
            (unsigned)btz_args_flag(context->args, "explain");
    if (views > 1 || (f.view == VIEW_DIFF && context->json)) {
        return btz_err_set(err, BTZ_EUSAGE,
                           "only one of --explain, --spans and --diff; --diff has no JSON");
    }
    f.options.seed = (uint64_t)btz_args_int(context->args, "seed", 1);
    f.options.want_spans = f.view == VIEW_EXPLAIN || f.view == VIEW_SPANS;
    (void)snprintf(f.file, sizeof(f.file), "%s", strcmp(path, "-") ? path : "(standard input)");
    rc = open_input(path, &f.in, err);
    if (rc) {
        return rc;
    }
    f.arena = btz_arena_new();
    rc = btz_canon_arm_asks(f.arm) ? canon_rewriter_new(context, f.arm, &f.rewriter, err) : BTZ_OK;
    rc = rc ? rc : read_all(&f, err);
    canon_rewriter_free(f.rewriter);
    btz_arena_free(f.arena);
    if (f.in != stdin) {
        (void)fclose(f.in);
    }
    if (rc == BTZ_OK && f.definitions) {
        btz_cmd_note(context, "%zu definition%s, %zu bytes of text removed", f.definitions,
                     f.definitions == 1 ? "" : "s", f.removed_bytes);
    }
    return rc ? rc : f.withheld ? BTZ_EXIT_FAILED : BTZ_OK;
}

static const struct btz_option options[] = {
    {"arm", 'a', BTZ_OPTION_TEXT, "ARM",
     "how: canon (default), schema-only, rules-strip, none, model-rewrite, canon+rewrite, or a "
     "control: first-sentence, "
     "first-120-chars, nfkc-only, eight-phrase, random-delete, random-delete-bytes (these use "
     "--seed)",
     0, 0},
    {"rewrite-model", 0, BTZ_OPTION_TEXT, "MODEL",
     "who rewrites, for the arms model-rewrite and canon+rewrite: as -m of `bartizan run`", 0, 0},
    {"request-timeout", 0, BTZ_OPTION_INT, "S",
     "seconds for one attempt of a model request (default 120)", 1, 86400},
    {"key-file", 0, BTZ_OPTION_TEXT, "FILE",
     "file with the model's key (mode 0600); default: OPENAI_API_KEY", 0, 0},
    {"key-for", 0, BTZ_OPTION_LIST, "HOST:PORT", "send the key to this host too", 0, 0},
    {"explain", 0, BTZ_OPTION_FLAG, NULL, "what was removed or changed, by field and rule", 0, 0},
    {"spans", 0, BTZ_OPTION_FLAG, NULL, "the same, and what was kept", 0, 0},
    {"diff", 0, BTZ_OPTION_FLAG, NULL, "each definition before and after", 0, 0},
    {NULL, 0, BTZ_OPTION_FLAG, NULL, NULL, 0, 0},
};
static const char *const usage[] = {"[FILE|-] [--arm ARM] [--explain|--spans|--diff]", NULL};
static const char *const examples[] = {"bartizan canon tools.json",
                                       "bartizan canon tools.json --explain",
                                       "bartizan canon --arm schema-only < tools.json",
                                       "bartizan canon tools.json --arm canon+rewrite "
                                       "--rewrite-model openai:NAME@http://127.0.0.1:8080/v1",
                                       "bartizan canon definitions.jsonl --spans --json",
                                       NULL};

const struct btz_command btz_command_canon = {
    .args = {.name = "canon",
             .summary = "filter tool definitions: what a model needs to choose and call a tool "
                        "stays, in one form",
             .usage = usage,
             .options = options,
             .examples = examples,
             .max_positionals = 1},
    .run = run,
};
