/* Resource templates of a server: RFC 6570 level 1 ({name}), read backwards. Between two slashes
 * stands a text or one variable with text around it, so a uri fits a template in one way only. */
#include "lab/lab_int.h"

enum { SEGMENTS_MAX = 32, URI_MAX = 4096 };

static bool variable_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* NULL, or why the text between two slashes is no segment. */
static const char *read_segment(struct btz_str text, struct template_segment *out)
{
    const char *open = text.len ? memchr(text.ptr, '{', text.len) : NULL;
    size_t at = open ? (size_t)(open - text.ptr) : text.len;
    size_t end = at + 1;

    out->before = btz_str_sub(text, 0, at);
    out->complete = BTZ_LUA_NONE;
    if (out->before.len && memchr(out->before.ptr, '}', at)) {
        return "a closing brace without an opening one";
    }
    if (!open) {
        return NULL;
    }
    while (end < text.len && variable_byte(text.ptr[end])) {
        end++;
    }
    if (end >= text.len || text.ptr[end] != '}' || end == at + 1) {
        return "a variable is {name}, of letters, digits and _; operators are not supported";
    }
    out->variable = btz_str_sub(text, at + 1, end - at - 1);
    out->after = btz_str_sub(text, end + 1, SIZE_MAX);
    if (out->after.len && (memchr(out->after.ptr, '{', out->after.len) ||
                           memchr(out->after.ptr, '}', out->after.len))) {
        return "only one variable can stand between two slashes";
    }
    return NULL;
}

static struct template_segment *segment_of(const struct template *template, struct btz_str variable)
{
    for (size_t i = 0; i < template->segment_count; i++) {
        if (variable.len > 0 && btz_str_eq(template->segments[i].variable, variable)) {
            return &template->segments[i];
        }
    }
    return NULL;
}

static const char *read_segments(struct btz_lab *lab, struct template *template)
{
    struct btz_str rest = template->uri;
    struct btz_str part;
    bool any = false;

    template->segments = btz_arena_array(lab->arena, SEGMENTS_MAX, sizeof(*template->segments));
    while (btz_str_cut(&rest, '/', &part)) {
        struct template_segment segment = {0};
        const char *why = read_segment(part, &segment);

        if (why) {
            return why;
        }
        if (template->segment_count == SEGMENTS_MAX) {
            return "the template has too many slashes";
        }
        if (segment_of(template, segment.variable)) {
            return "a variable can stand in a template once";
        }
        any = any || segment.variable.len > 0;
        template->segments[template->segment_count++] = segment;
    }
    return any ? NULL : "a template has at least one {variable}; a fixed uri is a resource";
}

/* The functions that complete variables. */
static int take_completions(struct server *server, struct template *template, struct btz_str path,
                            struct btz_err *err)
{
    const struct script *script = server->script;

    for (size_t i = 0; i < script->function_count; i++) {
        struct btz_str name = script->functions[i].path;
        struct template_segment *segment;

        if (!btz_str_starts(name, path)) {
            continue;
        }
        segment = segment_of(template, btz_str_sub(name, path.len, SIZE_MAX));
        if (!segment) {
            return btz_lab_refuse(script, name, err, "the template has no such variable");
        }
        segment->complete = script->functions[i].ref;
    }
    return BTZ_OK;
}

static int add_template(struct btz_lab *lab, struct server *server, size_t index,
                        const struct btz_json *data, struct btz_err *err)
{
    static const char *const kept[] = {"name", "title", "description", "mimeType"};
    struct template *template = &server->templates[index];
    struct btz_json *definition = btz_json_new_object(lab->arena);
    struct btz_str path = btz_arena_printf(lab->arena, "/templates/%zu", index);
    struct btz_str read = btz_arena_printf(lab->arena, "%s/read", path.ptr);
    const char *why;

    template->uri = btz_json_str(btz_json_getz(data, "uri"));
    for (size_t i = 0; i < index; i++) {
        if (btz_str_eq(server->templates[i].uri, template->uri)) {
            return btz_lab_refuse(server->script, path, err, "the server has two templates %.*s",
                                  BTZ_FMT(template->uri));
        }
    }
    why = read_segments(lab, template);
    if (why) {
        return btz_lab_refuse(server->script, btz_arena_printf(lab->arena, "%s/uri", path.ptr), err,
                              "%s", why);
    }
    template->read = btz_lab_function(server->script, read);
    if (template->read == BTZ_LUA_NONE) {
        return btz_lab_refuse(server->script, read, err, "expected function(w, vars, ctx)");
    }
    btz_json_set_str(lab->arena, definition, "uriTemplate", template->uri);
    for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++) {
        if (btz_json_getz(data, kept[i])) {
            btz_json_setz(lab->arena, definition, kept[i], btz_json_getz(data, kept[i]));
        }
    }
    template->definition = definition;
    return take_completions(server, template,
                            btz_arena_printf(lab->arena, "%s/complete/", path.ptr), err);
}

int btz_lab_templates_add(struct btz_lab *lab, struct server *server, struct btz_err *err)
{
    const struct btz_json *list = btz_json_getz(server->script->data, "templates");
    struct btz_json *definitions = btz_json_new_array(lab->arena);

    server->templates_json = definitions;
    server->templates =
        btz_arena_array(lab->arena, btz_json_count(list) + 1, sizeof(*server->templates));
    for (size_t i = 0; i < btz_json_count(list); i++) {
        int code = add_template(lab, server, i, btz_json_at(list, i), err);

        if (code != BTZ_OK) {
            return code;
        }
        server->template_count++;
        btz_json_push(lab->arena, definitions, server->templates[i].definition);
    }
    return BTZ_OK;
}

/* Undoes RFC 3986 percent-encoding. False for a wrong escape, a slash or a control character: what
 * a variable holds is one segment, before decoding and after. */
static bool decode(struct btz_arena *arena, struct btz_str text, struct btz_str *out)
{
    char *to = btz_arena_array(arena, text.len + 1, 1);
    size_t len = 0;

    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];

        if (c == '%') {
            int high = i + 2 < text.len ? btz_hex_value(text.ptr[i + 1]) : -1;
            int low = i + 2 < text.len ? btz_hex_value(text.ptr[i + 2]) : -1;

            if (high < 0 || low < 0) {
                return false;
            }
            c = (unsigned char)(high * 16 + low);
            i += 2;
        }
        if (c == '/' || c < 0x20 || c == 0x7f) {
            return false;
        }
        to[len++] = (char)c;
    }
    *out = (struct btz_str){to, len};
    return true;
}

static bool fits(const struct template *template, struct btz_arena *arena, struct btz_str uri,
                 const struct btz_json **values)
{
    struct btz_json *out = btz_json_new_object(arena);
    struct btz_str part;
    size_t i = 0;

    for (; btz_str_cut(&uri, '/', &part); i++) {
        const struct template_segment *segment = &template->segments[i];
        struct btz_str value;

        if (i == template->segment_count) {
            return false;
        }
        if (segment->variable.len == 0) {
            if (!btz_str_eq(segment->before, part)) {
                return false;
            }
            continue;
        }
        if (part.len <= segment->before.len + segment->after.len ||
            !btz_str_starts(part, segment->before) || !btz_str_ends(part, segment->after)) {
            return false;
        }
        part = btz_str_sub(part, segment->before.len,
                           part.len - segment->before.len - segment->after.len);
        if (!decode(arena, part, &value)) {
            return false;
        }
        btz_json_set(arena, out, segment->variable, btz_json_new_str(arena, value));
    }
    *values = out;
    return i == template->segment_count;
}

const struct template *btz_lab_template_match(const struct server *server, struct btz_arena *arena,
                                              struct btz_str uri, const struct btz_json **values)
{
    for (size_t i = 0; uri.len <= URI_MAX && i < server->template_count; i++) {
        if (fits(&server->templates[i], arena, uri, values)) {
            return &server->templates[i];
        }
    }
    return NULL;
}
