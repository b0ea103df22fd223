#include "base/args.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"

#define SHOWN "%.80s" /* how much of a person's own text an error repeats */
#define DISTANCE_MAX 2
#define NAME_MAX_LEN 64 /* longer words are never compared */

/* What was given for one option. */
struct given {
    const struct btz_option *option;
    bool present;
    const char *text;   /* TEXT, INT */
    int64_t number;     /* INT */
    const char **items; /* LIST */
    size_t count;
};

struct btz_args {
    int argc;
    char *const *argv;
    int next;              /* first argument not read yet */
    bool only_positionals; /* "--" was seen */
    const char *word;
    const struct btz_option *globals;
    struct given *given; /* one per row of the tables so far */
    size_t given_count;
    const char **positionals;
    size_t positional_count;
};

static void *grow(void *ptr, size_t count, size_t size)
{
    void *grown = reallocarray(ptr, count, size);

    if (!grown) {
        btz_panic("out of memory (command line)");
    }
    return grown;
}

struct btz_args *btz_args_new(void)
{
    struct btz_args *args = grow(NULL, 1, sizeof(*args));

    *args = (struct btz_args){0};
    return args;
}

void btz_args_free(struct btz_args *args)
{
    if (!args) {
        return;
    }
    for (size_t i = 0; i < args->given_count; i++) {
        free(args->given[i].items);
    }
    free(args->given);
    free(args->positionals);
    free(args);
}

static struct given *find(const struct btz_args *args, struct btz_str name)
{
    for (size_t i = 0; i < args->given_count; i++) {
        if (btz_str_is(name, args->given[i].option->name)) {
            return &args->given[i];
        }
    }
    return NULL;
}

static struct given *find_short(const struct btz_args *args, char name)
{
    for (size_t i = 0; i < args->given_count; i++) {
        if (args->given[i].option->short_name == name) {
            return &args->given[i];
        }
    }
    return NULL;
}

static void add_table(struct btz_args *args, const struct btz_option *table)
{
    for (; table && table->name; table++) {
        if (find(args, btz_str_of(table->name)) ||
            (table->short_name && find_short(args, table->short_name))) {
            btz_panic("option --%s is declared twice", table->name);
        }
        args->given = grow(args->given, args->given_count + 1, sizeof(*args->given));
        args->given[args->given_count++] = (struct given){.option = table};
    }
}

static size_t distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
    size_t row[NAME_MAX_LEN + 1];

    for (size_t j = 0; j <= b_len; j++) {
        row[j] = j;
    }
    for (size_t i = 1; i <= a_len; i++) {
        size_t corner = row[0]; /* the value up and left */

        row[0] = i;
        for (size_t j = 1; j <= b_len; j++) {
            size_t best = corner + (a[i - 1] != b[j - 1]);

            corner = row[j];
            if (row[j] + 1 < best) {
                best = row[j] + 1;
            }
            if (row[j - 1] + 1 < best) {
                best = row[j - 1] + 1;
            }
            row[j] = best;
        }
    }
    return row[b_len];
}

const char *btz_args_nearest(const char *word, const char *const *names, size_t count)
{
    size_t len = strlen(word);
    size_t best = DISTANCE_MAX + 1;
    const char *nearest = NULL;

    if (len > NAME_MAX_LEN) {
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        size_t name_len = strlen(names[i]);
        size_t d;

        if (name_len > NAME_MAX_LEN) {
            continue;
        }
        d = distance(word, len, names[i], name_len);
        if (d < best && d < len) {
            best = d;
            nearest = names[i];
        }
    }
    return nearest;
}

static int unknown_option(const struct btz_args *args, struct btz_str name, struct btz_err *err)
{
    const char **names = grow(NULL, args->given_count + 1, sizeof(*names));
    char word[NAME_MAX_LEN + 2];
    const char *nearest;
    int len = name.len < sizeof(word) ? (int)name.len : (int)sizeof(word) - 1;

    memcpy(word, name.ptr, (size_t)len);
    word[len] = 0;
    for (size_t i = 0; i < args->given_count; i++) {
        names[i] = args->given[i].option->name;
    }
    nearest = btz_args_nearest(word, names, args->given_count);
    free(names);
    if (nearest) {
        return btz_err_set(err, BTZ_EUSAGE, "unknown option --%s; did you mean --%s?", word,
                           nearest);
    }
    if (!args->word) {
        return btz_err_set(err, BTZ_EUSAGE,
                           "unknown option --%s before the command; options of a command stand "
                           "behind it, --help lists the global ones",
                           word);
    }
    return btz_err_set(err, BTZ_EUSAGE, "unknown option --%s; --help lists the options", word);
}

static int unknown_short(const struct btz_args *args, const char *arg, struct btz_err *err)
{
    if (arg[2] && find_short(args, arg[1])) {
        return btz_err_set(err, BTZ_EUSAGE,
                           "cannot read " SHOWN ": give short options one by one, and a value as "
                           "\"-%c VALUE\"",
                           arg, arg[1]);
    }
    if (arg[1] >= '0' && arg[1] <= '9') {
        return btz_err_set(err, BTZ_EUSAGE,
                           "unknown option " SHOWN "; to pass it as an argument put \"--\" before",
                           arg);
    }
    if (arg[2] && find(args, btz_str_of(arg + 1))) {
        return btz_err_set(err, BTZ_EUSAGE, "unknown option " SHOWN "; did you mean -" SHOWN "?",
                           arg, arg);
    }
    return btz_err_set(err, BTZ_EUSAGE, "unknown option " SHOWN "; --help lists the options", arg);
}

static int set_int(struct given *given, const char *value, struct btz_err *err)
{
    const struct btz_option *option = given->option;
    bool any = option->min == 0 && option->max == 0;
    int rc = btz_str_int64(btz_str_of(value), &given->number);

    if (rc == BTZ_EINVAL) {
        return btz_err_set(err, BTZ_EUSAGE, "--%s needs a whole number, not \"" SHOWN "\"",
                           option->name, value);
    }
    if (rc != BTZ_OK || (!any && (given->number < option->min || given->number > option->max))) {
        return btz_err_set(err, BTZ_EUSAGE, "--%s must be between %lld and %lld, not " SHOWN,
                           option->name, any ? (long long)INT64_MIN : (long long)option->min,
                           any ? (long long)INT64_MAX : (long long)option->max, value);
    }
    return BTZ_OK;
}

static int set_value(struct given *given, const char *value, struct btz_err *err)
{
    const struct btz_option *option = given->option;

    if (!*value) {
        return btz_err_set(err, BTZ_EUSAGE, "--%s needs %s, but it is empty", option->name,
                           option->value_name);
    }
    if (option->kind == BTZ_OPTION_LIST) {
        if (given->count >= BTZ_ARGS_LIST_MAX) {
            return btz_err_set(err, BTZ_EUSAGE, "--%s is given more than %d times", option->name,
                               BTZ_ARGS_LIST_MAX);
        }
        given->items = grow(given->items, given->count + 1, sizeof(*given->items));
        given->items[given->count++] = value;
        given->present = true;
        return BTZ_OK;
    }
    if (given->present) {
        return btz_err_set(err, BTZ_EUSAGE,
                           "--%s is given twice (" SHOWN " and " SHOWN "); give it once",
                           option->name, given->text, value);
    }
    if (option->kind == BTZ_OPTION_INT) {
        int rc = set_int(given, value, err);

        if (rc != BTZ_OK) {
            return rc;
        }
    }
    given->text = value;
    given->present = true;
    return BTZ_OK;
}

/* A following argument that looks like an option is not taken for a value: "--store --json" is far
 * more often a forgotten value than a file of that name. */
static bool is_value(const struct btz_option *option, const char *arg)
{
    return arg[0] != '-' || arg[1] == 0 ||
           (option->kind == BTZ_OPTION_INT && arg[1] >= '0' && arg[1] <= '9');
}

/* Reads the option at `next` and its value. */
static int read_option(struct btz_args *args, struct btz_err *err)
{
    const char *arg = args->argv[args->next++];
    const char *joined = NULL;
    const char *value;
    struct given *given;

    if (arg[1] == '-') {
        struct btz_str rest = btz_str_of(arg + 2);
        struct btz_str name;

        joined = strchr(arg, '=');
        if (!btz_str_cut(&rest, '=', &name) || name.len == 0) {
            return btz_err_set(err, BTZ_EUSAGE, "cannot read \"" SHOWN "\": an option needs a name",
                               arg);
        }
        given = find(args, name);
        if (!given) {
            return unknown_option(args, name, err);
        }
    } else {
        given = arg[2] ? NULL : find_short(args, arg[1]);
        if (!given) {
            return unknown_short(args, arg, err);
        }
    }
    if (given->option->kind == BTZ_OPTION_FLAG) {
        if (joined) {
            return btz_err_set(err, BTZ_EUSAGE, "--%s takes no value; write it alone",
                               given->option->name);
        }
        given->present = true;
        return BTZ_OK;
    }
    if (joined) {
        return set_value(given, joined + 1, err);
    }
    if (args->next >= args->argc) {
        return btz_err_set(err, BTZ_EUSAGE, "--%s needs %s behind it", given->option->name,
                           given->option->value_name);
    }
    value = args->argv[args->next];
    if (!is_value(given->option, value)) {
        return btz_err_set(err, BTZ_EUSAGE,
                           "--%s needs %s, but " SHOWN " follows; if that is the value, write "
                           "--%s=" SHOWN,
                           given->option->name, given->option->value_name, value,
                           given->option->name, value);
    }
    args->next++;
    return set_value(given, value, err);
}

/* True if the argument at `next` is an option; passes over "--". */
static bool at_option(struct btz_args *args)
{
    const char *arg = args->argv[args->next];

    if (args->only_positionals || arg[0] != '-' || arg[1] == 0) {
        return false;
    }
    if (strcmp(arg, "--") == 0) {
        args->only_positionals = true;
        args->next++;
        return false;
    }
    return true;
}

int btz_args_start(struct btz_args *args, const struct btz_option *globals, int argc,
                   char *const *argv, struct btz_err *err)
{
    if (args->argv) {
        btz_panic("btz_args_start was called twice");
    }
    args->argc = argc;
    args->argv = argv;
    args->globals = globals;
    args->next = 1;
    add_table(args, globals);
    while (args->next < argc) {
        if (at_option(args)) {
            int rc = read_option(args, err);

            if (rc != BTZ_OK) {
                return rc;
            }
        } else if (args->next < argc) {
            args->word = argv[args->next++];
            args->only_positionals = false;
            break;
        }
    }
    return BTZ_OK;
}

const char *btz_args_word(const struct btz_args *args)
{
    return args->word;
}

const char *btz_args_part(struct btz_args *args)
{
    if (args->next >= args->argc || args->argv[args->next][0] == '-') {
        return NULL;
    }
    return args->argv[args->next++];
}

static int check_positionals(const struct btz_args *args, const struct btz_args_command *command,
                             struct btz_err *err)
{
    const struct given *help = find(args, BTZ_STR("help"));
    const char *who = command->name ? command->name : "the program";
    bool range = command->min_positionals < command->max_positionals;
    size_t count = args->positional_count;

    if (help && help->present) {
        return BTZ_OK;
    }
    if (count > command->max_positionals) {
        return btz_err_set(err, BTZ_EUSAGE, "unexpected argument \"" SHOWN "\"; %s takes %s%zu",
                           args->positionals[command->max_positionals], who,
                           range ? "at most " : "", command->max_positionals);
    }
    if (count < command->min_positionals) {
        return btz_err_set(err, BTZ_EUSAGE, "%s needs %s%zu argument%s; usage: %s %s", who,
                           range ? "at least " : "", command->min_positionals,
                           command->min_positionals == 1 ? "" : "s", who,
                           command->usage && *command->usage ? *command->usage : "--help");
    }
    return BTZ_OK;
}

int btz_args_finish(struct btz_args *args, const struct btz_args_command *command,
                    struct btz_err *err)
{
    add_table(args, command->options);
    while (args->next < args->argc) {
        if (at_option(args)) {
            int rc = read_option(args, err);

            if (rc != BTZ_OK) {
                return rc;
            }
        } else if (args->next < args->argc) {
            args->positionals =
                grow(args->positionals, args->positional_count + 1, sizeof(*args->positionals));
            args->positionals[args->positional_count++] = args->argv[args->next++];
        }
    }
    return check_positionals(args, command, err);
}

static const struct given *asked(const struct btz_args *args, const char *name)
{
    const struct given *given = find(args, btz_str_of(name));

    if (!given) {
        btz_panic("option --%s was asked for but is in no table", name);
    }
    return given;
}

static const struct given *asked_as(const struct btz_args *args, const char *name,
                                    enum btz_option_kind kind)
{
    const struct given *given = asked(args, name);

    if (given->option->kind != kind) {
        btz_panic("option --%s was asked for as another kind than its table says", name);
    }
    return given;
}

bool btz_args_has(const struct btz_args *args, const char *name)
{
    return asked(args, name)->present;
}

bool btz_args_flag(const struct btz_args *args, const char *name)
{
    return asked_as(args, name, BTZ_OPTION_FLAG)->present;
}

const char *btz_args_text(const struct btz_args *args, const char *name, const char *absent)
{
    const struct given *given = asked_as(args, name, BTZ_OPTION_TEXT);

    return given->present ? given->text : absent;
}

int64_t btz_args_int(const struct btz_args *args, const char *name, int64_t absent)
{
    const struct given *given = asked_as(args, name, BTZ_OPTION_INT);

    return given->present ? given->number : absent;
}

size_t btz_args_list(const struct btz_args *args, const char *name, const char *const **values)
{
    const struct given *given = asked_as(args, name, BTZ_OPTION_LIST);

    if (values) {
        *values = given->items;
    }
    return given->count;
}

size_t btz_args_count(const struct btz_args *args)
{
    return args->positional_count;
}

const char *btz_args_positional(const struct btz_args *args, size_t i)
{
    return i < args->positional_count ? args->positionals[i] : NULL;
}
