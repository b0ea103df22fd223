#include "sieve/import.h"

#include "base/file.h"
#include "sieve/import_int.h"

void import_tool(struct import *im, struct btz_str source, const struct btz_json *tool)
{
    struct btz_sieve_definition d = {
        .source = source, .collected = im->options->collected, .tool = tool};

    if (btz_sieve_definition_seal(im->arena, &d, NULL) != BTZ_OK) {
        im->counts->nameless++;
        return;
    }
    import_definition(im, &d);
}

void import_definition(struct import *im, const struct btz_sieve_definition *d)
{
    size_t before = im->out->len;

    if (btz_json_get(im->seen, d->id)) {
        im->counts->twice++;
        return;
    }
    btz_sieve_definition_write(im->out, d);
    if (im->out->len - before > BTZ_SIEVE_LINE_MAX) {
        im->out->len = before; /* it could not be read back */
        im->counts->nameless++;
        return;
    }
    btz_json_set(im->arena, im->seen, d->id, btz_json_new_bool(im->arena, true));
    im->counts->definitions++;
}

static struct btz_str own_source(const struct import *im)
{
    const char *slash = strrchr(im->path, '/');
    const char *name = slash ? slash + 1 : im->path;

    return im->options->source.len ? im->options->source
                                   : btz_arena_printf(im->arena, "file:%s", name);
}

/* Lines of tools, or of another harvest. */
static int import_lines(struct import *im, struct btz_str text)
{
    struct btz_sieve_reader *reader = btz_sieve_reader_of(text, im->path);
    struct btz_str source = own_source(im);
    struct btz_sieve_line line;
    int rc;

    im->counts->kind = "JSONL of tools";
    while ((rc = btz_sieve_reader_next(reader, im->arena, &line, im->err)) == BTZ_OK) {
        if (btz_json_getz(line.value, "tool") && btz_json_getz(line.value, "source")) {
            struct btz_sieve_definition d;

            im->counts->kind = "harvest";
            rc = btz_sieve_definition_read(im->arena, line.value, &d, im->err);
            if (rc != BTZ_OK) {
                btz_err_at(im->err, im->path, line.number, 0);
                break;
            }
            import_definition(im, &d);
        } else {
            import_tool(im, source, line.value);
        }
    }
    btz_sieve_reader_free(reader);
    return rc == BTZ_EAGAIN ? BTZ_OK : rc;
}

static int import_tools(struct import *im, const struct btz_json *tools, const char *kind)
{
    struct btz_str source = own_source(im);

    im->counts->kind = kind;
    for (size_t i = 0; i < btz_json_count(tools); i++) {
        import_tool(im, source, btz_json_at(tools, i));
    }
    return BTZ_OK;
}

static int import_value(struct import *im, const struct btz_json *value, struct btz_str text)
{
    const struct btz_json *result = btz_json_getz(value, "result");
    int rc;

    if (import_is_mcptox(value)) {
        im->counts->kind = "MCPTox";
        return import_mcptox(im, value, text);
    }
    if (btz_json_is(btz_json_getz(value, "tools"), BTZ_JSON_ARRAY)) {
        return import_tools(im, btz_json_getz(value, "tools"), "tools/list result");
    }
    if (btz_json_is(btz_json_getz(result, "tools"), BTZ_JSON_ARRAY)) {
        return import_tools(im, btz_json_getz(result, "tools"), "JSON-RPC response");
    }
    if (btz_json_is(value, BTZ_JSON_ARRAY)) {
        return import_tools(im, value, "array of tools");
    }
    if (btz_json_getz(value, "name") || btz_json_getz(value, "tool")) {
        return import_lines(im, text);
    }
    rc = btz_err_set(im->err, BTZ_EINVAL,
                     "this is none of: a tools/list result {\"tools\": [...]}, the JSON-RPC "
                     "response around it, an array of tools, JSONL of tools or of a harvest, "
                     "MCPTox's response_all.json");
    btz_err_at(im->err, im->path, 0, 0);
    return rc;
}

/* A whole JSON value, or lines: then the first line is one by itself, and more follow. */
static bool is_lines(const struct import *im, struct btz_str text)
{
    struct btz_arena *arena = btz_arena_new();
    const struct btz_json *value = NULL;
    struct btz_str rest = btz_str_trim(text);
    struct btz_str first;
    bool lines = btz_str_ends(btz_str_of(im->path), BTZ_STR(".jsonl"));

    if (!lines && btz_str_cut(&rest, '\n', &first) && rest.len && first.len <= BTZ_SIEVE_LINE_MAX) {
        lines = btz_json_parse(arena, first, NULL, &value, NULL) == BTZ_OK &&
                btz_json_is(value, BTZ_JSON_OBJECT);
    }
    btz_arena_free(arena);
    return lines;
}

int btz_sieve_import(struct btz_arena *arena, const char *path,
                     const struct btz_sieve_import_options *options, struct btz_json *seen,
                     struct btz_buf *out, struct btz_sieve_import_counts *counts,
                     struct btz_err *err)
{
    static const struct btz_json_limits limits = {.max_bytes = BTZ_SIEVE_IMPORT_MAX,
                                                  .max_values = 10000000};
    struct btz_sieve_import_counts found = {0};
    struct import im = {arena, path, options, seen, out, &found, err};
    const struct btz_json *value = NULL;
    struct btz_arena *scratch = btz_arena_new();
    struct btz_str text;
    int rc = btz_sieve_frozen_check(path, err);

    rc = rc ? rc : btz_file_read(scratch, path, BTZ_SIEVE_IMPORT_MAX, &text, err);
    if (rc != BTZ_OK) {
        btz_arena_free(scratch);
        return rc;
    }
    if (is_lines(&im, text)) {
        rc = import_lines(&im, text);
    } else {
        rc = btz_json_parse(arena, text, &limits, &value, err);
        if (rc == BTZ_OK) {
            rc = import_value(&im, value, text);
        } else if (err) {
            btz_err_at(err, path, err->line, err->column);
        }
    }
    btz_arena_free(scratch);
    if (rc == BTZ_OK && btz_buf_status(out) != BTZ_OK) {
        rc = btz_err_set(err, BTZ_ELIMIT, "there are too many definitions at once");
    }
    if (rc == BTZ_OK) {
        *counts = found;
    }
    return rc;
}
