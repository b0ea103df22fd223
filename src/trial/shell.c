#include "trial/web.h"

/* Length of the command that begins `rest`, which stands behind "$(" or "`"; -1 if it has no end.
 */
static ptrdiff_t command_len(struct btz_str rest, bool parenthesis)
{
    size_t depth = 1;

    for (size_t i = 0; i < rest.len; i++) {
        if (!parenthesis && rest.ptr[i] == '`') {
            return (ptrdiff_t)i;
        }
        depth += parenthesis && rest.ptr[i] == '(';
        depth -= parenthesis && rest.ptr[i] == ')';
        if (depth == 0) {
            return (ptrdiff_t)i;
        }
    }
    return -1;
}

static void add(struct btz_arena *arena, struct btz_json *commands, struct btz_str command)
{
    command = btz_str_trim(command);
    if (command.len) {
        btz_json_push(arena, commands, btz_json_new_str(arena, command));
    }
}

/* What stands behind the word on its line. */
static void add_rest(struct btz_arena *arena, struct btz_json *commands, struct btz_str rest)
{
    for (;;) {
        rest = btz_str_trim(rest);
        if (!rest.len || !strchr(";&|", rest.ptr[0])) {
            break;
        }
        rest = btz_str_sub(rest, 1, rest.len);
    }
    add(arena, commands, rest);
}

struct btz_str shell_word(struct btz_arena *arena, struct btz_str word, struct btz_json *commands)
{
    char *left = btz_arena_alloc(arena, word.len + 1);
    size_t len = 0;

    for (size_t i = 0; i < word.len; i++) {
        bool dollar = btz_str_starts(btz_str_sub(word, i, 2), BTZ_STR("$("));
        struct btz_str rest = btz_str_sub(word, i + (dollar ? 2 : 1), word.len);
        ptrdiff_t command = dollar || word.ptr[i] == '`' ? command_len(rest, dollar) : -1;

        if (word.ptr[i] == '\\' && rest.len && strchr("$`\"\\", rest.ptr[0])) {
            left[len++] = word.ptr[++i];
        } else if (command >= 0) {
            add(arena, commands, btz_str_sub(rest, 0, (size_t)command));
            i += (size_t)command + (dollar ? 2 : 1);
        } else if (word.ptr[i] == '"') {
            add_rest(arena, commands, rest);
            break;
        } else {
            left[len++] = word.ptr[i];
        }
    }
    return (struct btz_str){left, len};
}
