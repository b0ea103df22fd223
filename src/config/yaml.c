/* Events of libyaml to a JSON tree. Depth is bounded by an explicit stack; aliases are refused, so
 * that the tree is never larger than the text. */
#include <stdlib.h>

#include <yaml.h>

#include "config/config_int.h"

struct level {
    struct btz_json *value;
    bool has_key;
    struct btz_str key;
    unsigned key_line;
};

struct builder {
    struct btz_arena *arena;
    const struct btz_config_limits *limits;
    struct btz_config *config;
    struct btz_err *err;
    struct level *levels; /* max_depth of them */
    size_t depth;
    size_t cap; /* of config->lines */
    unsigned documents;
};

static int refuse(struct builder *b, int code, yaml_mark_t mark, const char *what)
{
    btz_err_set(b->err, code, "%s", what);
    btz_err_at(b->err, NULL, (unsigned)mark.line + 1, (unsigned)mark.column + 1);
    return code;
}

static struct btz_json *container(const struct builder *b)
{
    return b->depth ? b->levels[b->depth - 1].value : NULL;
}

static bool in_object(const struct builder *b)
{
    return btz_json_is(container(b), BTZ_JSON_OBJECT);
}

static int note_line(struct builder *b, const struct btz_json *value, yaml_mark_t mark)
{
    struct btz_config *config = b->config;
    unsigned line = (unsigned)mark.line + 1;

    if (config->count >= b->limits->max_values) {
        return refuse(b, BTZ_ELIMIT, mark, "too many values");
    }
    if (config->count == b->cap) {
        struct line_of *before = config->lines;

        b->cap = b->cap ? b->cap * 2 : 64;
        config->lines = btz_arena_array(b->arena, b->cap, sizeof(*config->lines));
        if (config->count) {
            memcpy(config->lines, before, config->count * sizeof(*before));
        }
    }
    config->lines[config->count++] =
        (struct line_of){value, line, in_object(b) ? b->levels[b->depth - 1].key_line : line};
    return BTZ_OK;
}

/* Puts a value where the innermost container expects one. */
static int place(struct builder *b, struct btz_json *value, yaml_mark_t mark)
{
    struct level *level = b->depth ? &b->levels[b->depth - 1] : NULL;
    int rc;

    if (b->depth >= b->limits->max_depth) {
        return refuse(b, BTZ_ELIMIT, mark, "nested too deep");
    }
    rc = note_line(b, value, mark);
    if (rc) {
        return rc;
    }
    if (!level) {
        b->config->root = value;
    } else if (btz_json_is(level->value, BTZ_JSON_ARRAY)) {
        btz_json_push(b->arena, level->value, value);
    } else {
        btz_json_set(b->arena, level->value, level->key, value);
        level->has_key = false;
    }
    return BTZ_OK;
}

static int take_key(struct builder *b, struct btz_str text, yaml_mark_t mark)
{
    struct level *level = &b->levels[b->depth - 1];

    if (btz_str_is(text, "<<")) {
        return refuse(b, BTZ_EINVAL, mark, "merge keys (<<) are not allowed; write the fields out");
    }
    if (btz_json_get(level->value, text)) {
        btz_err_set(b->err, BTZ_EINVAL, "key \"%.*s\" stands here a second time; remove one",
                    BTZ_FMT(btz_str_sub(text, 0, 100)));
        btz_err_at(b->err, NULL, (unsigned)mark.line + 1, (unsigned)mark.column + 1);
        return BTZ_EINVAL;
    }
    level->key = btz_arena_dup(b->arena, text);
    level->key_line = (unsigned)mark.line + 1;
    level->has_key = true;
    return BTZ_OK;
}

static bool wants_key(const struct builder *b)
{
    return in_object(b) && !b->levels[b->depth - 1].has_key;
}

static int scalar(struct builder *b, const yaml_event_t *event)
{
    struct btz_str text = {(const char *)event->data.scalar.value, event->data.scalar.length};
    bool plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    struct btz_json *value;
    int rc;

    if (text.len && memchr(text.ptr, '\0', text.len)) {
        return refuse(b, BTZ_EINVAL, event->start_mark, "a NUL character is not allowed in text");
    }
    if (wants_key(b)) {
        return plain && text.len == 0
                   ? refuse(b, BTZ_EINVAL, event->start_mark, "a key is missing before the ':'")
                   : take_key(b, text, event->start_mark);
    }
    if (plain) {
        rc = btz_config_plain(b->arena, text, &value, b->err);
        if (rc) {
            btz_err_at(b->err, NULL, (unsigned)event->start_mark.line + 1,
                       (unsigned)event->start_mark.column + 1);
            return rc;
        }
    } else {
        value = btz_json_new_str(b->arena, text);
    }
    return place(b, value, event->start_mark);
}

static int open_container(struct builder *b, struct btz_json *value, yaml_mark_t mark)
{
    int rc;

    if (wants_key(b)) {
        return refuse(b, BTZ_EINVAL, mark, "a key must be text, not a list or a mapping");
    }
    rc = place(b, value, mark);
    if (!rc) {
        b->levels[b->depth++] = (struct level){.value = value};
    }
    return rc;
}

static int decorated(struct builder *b, const yaml_char_t *anchor, const yaml_char_t *tag,
                     yaml_mark_t mark)
{
    if (anchor) {
        return refuse(b, BTZ_EINVAL, mark,
                      "anchors (&name) are not allowed; quote the text if '&' is part of it");
    }
    if (tag) {
        return refuse(b, BTZ_EINVAL, mark,
                      "tags (!name) are not allowed; quote the text if '!' is part of it");
    }
    return BTZ_OK;
}

static int document(struct builder *b, const yaml_event_t *event)
{
    if (event->data.document_start.version_directive ||
        event->data.document_start.tag_directives.start !=
            event->data.document_start.tag_directives.end) {
        return refuse(b, BTZ_EINVAL, event->start_mark, "directives (%) are not allowed");
    }
    if (++b->documents > 1) {
        return refuse(b, BTZ_EINVAL, event->start_mark,
                      "a second document begins here; use one file for each");
    }
    return BTZ_OK;
}

static int handle(struct builder *b, const yaml_event_t *event)
{
    int rc = BTZ_OK;

    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        return document(b, event);
    case YAML_ALIAS_EVENT:
        return refuse(b, BTZ_EINVAL, event->start_mark,
                      "aliases (*name) are not allowed; quote the text if '*' is part of it");
    case YAML_SCALAR_EVENT:
        rc = decorated(b, event->data.scalar.anchor, event->data.scalar.tag, event->start_mark);
        return rc ? rc : scalar(b, event);
    case YAML_SEQUENCE_START_EVENT:
        rc = decorated(b, event->data.sequence_start.anchor, event->data.sequence_start.tag,
                       event->start_mark);
        return rc ? rc : open_container(b, btz_json_new_array(b->arena), event->start_mark);
    case YAML_MAPPING_START_EVENT:
        rc = decorated(b, event->data.mapping_start.anchor, event->data.mapping_start.tag,
                       event->start_mark);
        return rc ? rc : open_container(b, btz_json_new_object(b->arena), event->start_mark);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        b->depth--;
        return BTZ_OK;
    default:
        return BTZ_OK;
    }
}

static int parser_error(struct builder *b, const yaml_parser_t *parser)
{
    yaml_mark_t mark = parser->problem_mark;

    if (parser->error == YAML_MEMORY_ERROR) {
        btz_panic("out of memory (YAML)");
    }
    if (parser->error == YAML_READER_ERROR) {
        btz_err_set(b->err, BTZ_EINVAL, "not valid UTF-8 text at byte %zu: %s",
                    parser->problem_offset + 1, parser->problem ? parser->problem : "");
        mark = parser->mark;
    } else {
        btz_err_set(b->err, BTZ_EINVAL, "YAML: %s%s%s",
                    parser->problem ? parser->problem : "cannot be read",
                    parser->context ? ", " : "", parser->context ? parser->context : "");
    }
    btz_err_at(b->err, NULL, (unsigned)mark.line + 1, (unsigned)mark.column + 1);
    return BTZ_EINVAL;
}

int btz_config_yaml(struct btz_arena *arena, struct btz_str text,
                    const struct btz_config_limits *limits, struct btz_config *config,
                    struct btz_err *err)
{
    struct builder b = {.arena = arena, .limits = limits, .config = config, .err = err};
    yaml_parser_t parser;
    bool done = false;
    int rc = BTZ_OK;

    if (!yaml_parser_initialize(&parser)) {
        btz_panic("out of memory (YAML)");
    }
    b.levels = btz_arena_array(arena, limits->max_depth, sizeof(*b.levels));
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, (const unsigned char *)(text.len ? text.ptr : ""),
                                 text.len);
    while (!rc && !done) {
        yaml_event_t event;

        if (!yaml_parser_parse(&parser, &event)) {
            rc = parser_error(&b, &parser);
            break;
        }
        done = event.type == YAML_STREAM_END_EVENT;
        rc = handle(&b, &event);
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    if (!rc && !config->root) {
        rc = btz_err_set(err, BTZ_EINVAL, "the file is empty");
    }
    return rc;
}
