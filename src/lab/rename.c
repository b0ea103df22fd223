/* New names for servers, tools, prompts and labels, for the test that names decide nothing. Scripts
 * and oracles keep the names as written; everything that a model may see has the new ones. */
#include <ctype.h>

#include "lab/lab_int.h"
#include "lab/words.h"

static struct btz_str new_name(struct btz_lab *lab, struct btz_rng *rng, char joint, size_t number)
{
    return btz_arena_printf(
        lab->arena, "%s%c%s%zu", btz_words_deed.items[btz_rng_below(rng, btz_words_deed.count)],
        joint, btz_words_thing.items[btz_rng_below(rng, btz_words_thing.count)], number);
}

/* The new name of a word of text: server ids and labels with a hyphen, names of tools and
 * prompts with an underscore. Others are plain words ("add", "recall"), which stay. */
static bool lookup(const struct btz_lab *lab, struct btz_str word, struct btz_str *out)
{
    for (size_t i = 0; i < btz_words_label.count; i++) {
        if (btz_str_is(word, btz_words_label.items[i])) {
            *out = lab->renamed_labels[i];
            return true;
        }
    }
    for (size_t s = 0; s < lab->server_count; s++) {
        const struct server *server = lab->servers[s];

        if (btz_str_eq(server->id, word) && memchr(word.ptr, '-', word.len)) {
            *out = server->label;
            return true;
        }
        for (size_t t = 0; t < server->tool_count; t++) {
            if (btz_str_eq(server->tools[t].name, word) && memchr(word.ptr, '_', word.len)) {
                *out = server->tools[t].shown;
                return true;
            }
        }
        for (size_t p = 0; p < server->prompt_count; p++) {
            if (btz_str_eq(server->prompts[p].name, word) && memchr(word.ptr, '_', word.len)) {
                *out = server->prompts[p].shown;
                return true;
            }
        }
    }
    return false;
}

static bool word_byte(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '-';
}

/* "label__tool" is two words. */
static bool joint_at(struct btz_str text, size_t at)
{
    return btz_str_starts(btz_str_sub(text, at, text.len), BTZ_STR("__"));
}

struct btz_str btz_lab_renamed(const struct btz_lab *lab, struct btz_arena *arena,
                               struct btz_str text)
{
    struct btz_buf buf;
    size_t i = 0;
    bool any = false;

    if (lab->rename_seed == 0) {
        return text;
    }
    btz_buf_init(&buf, 1024 * 1024);
    while (i < text.len) {
        struct btz_str name;
        size_t len = 0;
        size_t step = joint_at(text, i) ? 2 : 1;

        while (i + len < text.len && word_byte(text.ptr[i + len]) && !joint_at(text, i + len)) {
            len++;
        }
        if (len > 0 && lookup(lab, btz_str_sub(text, i, len), &name)) {
            any = true;
            (void)btz_buf_add_str(&buf, name);
        } else {
            len = len ? len : step;
            (void)btz_buf_add(&buf, text.ptr + i, len);
        }
        i += len;
    }
    if (any && btz_buf_status(&buf) == BTZ_OK) {
        text = btz_arena_dup(arena, btz_buf_view(&buf));
    }
    btz_buf_fini(&buf);
    return text;
}

/* All texts of a definition; names of fields and parameters stay. */
static const struct btz_json *renamed_value(struct btz_lab *lab, const struct btz_json *value)
{
    struct btz_json *out;

    if (btz_json_is(value, BTZ_JSON_STRING)) {
        return btz_json_new_str(lab->arena, btz_lab_renamed(lab, lab->arena, btz_json_str(value)));
    }
    if (!btz_json_is(value, BTZ_JSON_OBJECT) && !btz_json_is(value, BTZ_JSON_ARRAY)) {
        return value;
    }
    out = btz_json_shallow(lab->arena, value);
    for (size_t i = 0; i < btz_json_count(value); i++) {
        if (btz_json_is(value, BTZ_JSON_ARRAY)) {
            btz_json_replace_at(out, i, renamed_value(lab, btz_json_at(value, i)));
        } else {
            btz_json_set(lab->arena, out, btz_json_key_at(value, i),
                         renamed_value(lab, btz_json_value_at(value, i)));
        }
    }
    return out;
}

static void rename_prompts(struct btz_lab *lab, struct server *server)
{
    struct btz_json *prompts = btz_json_new_array(lab->arena);

    for (size_t i = 0; i < server->prompt_count; i++) {
        struct prompt *prompt = &server->prompts[i];
        const struct btz_json *old = btz_json_getz(prompt->definition, "arguments");
        struct btz_json *definition =
            (struct btz_json *)(uintptr_t)renamed_value(lab, prompt->definition);
        struct btz_json *arguments =
            (struct btz_json *)(uintptr_t)btz_json_getz(definition, "arguments");

        btz_json_set_str(lab->arena, definition, "name", prompt->shown);
        for (size_t a = 0; a < btz_json_count(old); a++) { /* names of parameters stay */
            struct btz_json *argument = btz_json_shallow(lab->arena, btz_json_at(arguments, a));

            btz_json_setz(lab->arena, argument, "name", btz_json_getz(btz_json_at(old, a), "name"));
            btz_json_replace_at(arguments, a, argument);
        }
        prompt->definition = definition;
        btz_json_push(lab->arena, prompts, definition);
    }
    server->prompts_json = prompts;
}

void btz_lab_rename(struct btz_lab *lab)
{
    struct btz_rng rng = btz_rng_of(lab->rename_seed);
    size_t number = 1;

    lab->renamed_labels =
        btz_arena_array(lab->arena, btz_words_label.count, sizeof(*lab->renamed_labels));
    for (size_t i = 0; i < btz_words_label.count; i++) {
        lab->renamed_labels[i] = lab->rename_seed ? new_name(lab, &rng, '-', number++)
                                                  : btz_str_of(btz_words_label.items[i]);
    }
    if (lab->rename_seed == 0) {
        return;
    }
    for (size_t s = 0; s < lab->server_count; s++) {
        struct server *server = lab->servers[s];

        server->label = new_name(lab, &rng, '-', number++);
        for (size_t t = 0; t < server->tool_count; t++) {
            server->tools[t].shown = new_name(lab, &rng, '_', number++);
        }
        for (size_t p = 0; p < server->prompt_count; p++) {
            server->prompts[p].shown = new_name(lab, &rng, '_', number++);
        }
    }
    for (size_t s = 0; s < lab->server_count; s++) {
        struct server *server = lab->servers[s];
        struct btz_json *tools = btz_json_new_array(lab->arena);

        server->instructions = btz_lab_renamed(lab, lab->arena, server->instructions);
        for (size_t t = 0; t < server->tool_count; t++) {
            struct tool *tool = &server->tools[t];
            struct btz_json *definition =
                (struct btz_json *)(uintptr_t)renamed_value(lab, tool->definition);

            btz_json_set_str(lab->arena, definition, "name", tool->shown);
            tool->definition = definition;
            btz_json_push(lab->arena, tools, definition);
        }
        server->tools_json = tools;
        rename_prompts(lab, server);
    }
    btz_lab_clones_refresh(lab);
}
