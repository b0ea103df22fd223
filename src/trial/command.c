/* Slash commands: a host lets its user call a server's prompt by typing "/name words". Whose prompt
 * a name means is decided here, and where the profile is lenient an attacker's server can be meant
 * instead of the one the user has in mind.
 *
 * Each prompt can be called by its plain name and by label and name together. Prompts are entered
 * in the order in which servers are configured; without a rule the last one that claims a name has
 * it, as in any table that is filled by assignment. */
#include "text/fold.h"
#include "trial/trial_int.h"

static const char *const builtins[] = {"help", "clear"};

static bool safe(const struct btz_trial *trial, enum btz_switch which)
{
    return trial->options.profile.safe[which];
}

/* commands.exact_names: without it names are compared as people read them, without case and width.
 */
static struct btz_str key_of(struct btz_trial *trial, struct btz_str name)
{
    struct btz_buf folded;
    struct btz_str key;

    if (safe(trial, BTZ_SWITCH_EXACT_COMMANDS)) {
        return name;
    }
    btz_buf_init(&folded, 64 * 1024);
    key = btz_text_fold(&folded, name) == BTZ_OK
              ? btz_arena_dup(trial->arena, btz_buf_view(&folded))
              : name;
    btz_buf_fini(&folded);
    return key;
}

static struct command *find(const struct btz_trial *trial, struct btz_str key)
{
    for (struct command *c = trial->commands; c; c = c->next) {
        if (btz_str_eq(c->key, key)) {
            return c;
        }
    }
    return NULL;
}

/* commands.pin_owner: who had the name when it was first seen keeps it. */
static bool pinned_to_another(const struct btz_trial *trial, struct btz_str key,
                              const struct conn *conn)
{
    for (const struct command *c = trial->first_commands; c; c = c->next) {
        if (btz_str_eq(c->key, key)) {
            return safe(trial, BTZ_SWITCH_PIN_COMMANDS) && !btz_str_eq(c->server, conn->server->id);
        }
    }
    return false;
}

static void enter(struct btz_trial *trial, struct btz_str name, struct conn *conn,
                  const struct btz_json *prompt)
{
    struct btz_str key = key_of(trial, name);
    struct command *command = find(trial, key);

    if (pinned_to_another(trial, key, conn)) {
        return;
    }
    if (command && safe(trial, BTZ_SWITCH_REJECT_SHADOWS) &&
        !btz_str_eq(command->server, conn->server->id)) {
        return; /* commands.reject_shadows: it can still be called with its label */
    }
    if (!command) {
        command = BTZ_NEW(trial->arena, struct command);
        command->next = trial->commands;
        command->key = key;
        trial->commands = command;
    }
    command->server = conn->server->id;
    command->conn = conn;
    command->prompt = prompt;
}

void commands_build(struct btz_trial *trial)
{
    trial->commands = NULL;
    for (size_t i = 0; i < trial->conn_count; i++) {
        struct conn *conn = &trial->conns[i];

        for (size_t p = 0; !conn->left_out && p < btz_json_count(conn->prompts); p++) {
            const struct btz_json *prompt = btz_json_at(conn->prompts, p);
            struct btz_str name = btz_json_str(btz_json_getz(prompt, "name"));

            enter(trial, name, conn, prompt);
            /* commands.escape_labels: a colon stands in no label, so the two parts cannot run into
             * each other. */
            enter(trial,
                  btz_arena_printf(trial->arena, "%.*s%s%.*s", BTZ_FMT(conn->server->label),
                                   safe(trial, BTZ_SWITCH_ESCAPE_LABELS) ? ":" : "__",
                                   BTZ_FMT(name)),
                  conn, prompt);
        }
    }
    if (!trial->first_commands) {
        trial->first_commands = trial->commands;
    }
}

/* "name=value" words give that argument; all other words together are the first argument that no
 * word gave. */
static const struct btz_json *arguments_of(struct btz_trial *trial, const struct btz_json *prompt,
                                           struct btz_str rest)
{
    const struct btz_json *declared = btz_json_getz(prompt, "arguments");
    struct btz_json *arguments = btz_json_new_object(trial->arena);
    struct btz_str free_words = BTZ_STR_NONE;
    struct btz_str word;

    while (btz_str_cut(&rest, ' ', &word)) {
        struct btz_str value = word;
        struct btz_str name = BTZ_STR_NONE;

        for (size_t i = 0; i < btz_json_count(declared); i++) {
            struct btz_str known = btz_json_str(btz_json_getz(btz_json_at(declared, i), "name"));

            if (btz_str_starts(word, known) && word.len > known.len && word.ptr[known.len] == '=') {
                name = known;
                value = btz_str_sub(word, known.len + 1, word.len);
            }
        }
        if (name.len) {
            btz_json_set(trial->arena, arguments, name, btz_json_new_str(trial->arena, value));
        } else if (word.len) {
            free_words = btz_arena_printf(trial->arena, "%.*s%s%.*s", BTZ_FMT(free_words),
                                          free_words.len ? " " : "", BTZ_FMT(word));
        }
    }
    for (size_t i = 0; free_words.len && i < btz_json_count(declared); i++) {
        struct btz_str known = btz_json_str(btz_json_getz(btz_json_at(declared, i), "name"));

        if (!btz_json_get(arguments, known)) {
            btz_json_set(trial->arena, arguments, known,
                         btz_json_new_str(trial->arena, free_words));
            break;
        }
    }
    return arguments;
}

/* Records what was called, and whose it is. */
static int64_t note_command(struct btz_trial *trial, struct btz_str name, struct btz_str server,
                            const struct btz_json *arguments)
{
    struct btz_json *payload = btz_json_new_object(trial->arena);
    struct btz_json *note;
    int64_t id;

    btz_json_set_str(trial->arena, payload, "name", name);
    btz_json_set_str(trial->arena, payload, "server", server);
    if (arguments) {
        btz_json_setz(trial->arena, payload, "arguments", arguments);
    }
    id = trial_event_json(trial, BTZ_LAYER_CLIENT, "command", false, payload);
    note = trial_note(trial, id, "command");
    btz_json_set_str(trial->arena, note, "name", name);
    btz_json_set_str(trial->arena, note, "server", server); /* empty: the host's own */
    if (arguments) {
        btz_json_setz(trial->arena, note, "args", arguments);
    }
    return id;
}

/* The messages of a prompt join the conversation; those in the user's name as the user's. */
static void show_prompt(struct btz_trial *trial, struct command *command,
                        const struct btz_json *result)
{
    const struct btz_json *messages = btz_json_getz(result, "messages");

    for (size_t i = 0; i < btz_json_count(messages); i++) {
        const struct btz_json *message = btz_json_at(messages, i);
        struct btz_str text = btz_json_str(btz_json_pointer(message, BTZ_STR("/content/text")));
        bool assistant = btz_str_is(btz_json_str(btz_json_getz(message, "role")), "assistant");

        loop_show(trial, "prompt", assistant ? "assistant" : "user", text);
        observe_text(trial, SOURCE_PROMPT, command->server,
                     btz_json_str(btz_json_getz(command->prompt, "name")),
                     btz_json_text(trial->arena, message), text);
    }
}

static int call_prompt(struct btz_trial *trial, struct command *command, struct btz_str name,
                       struct btz_str rest, struct btz_err *err)
{
    struct conn *conn = command->conn;
    const struct btz_json *arguments = arguments_of(trial, command->prompt, rest);
    int rc;

    conn->call_event = (uint64_t)note_command(trial, name, command->server, arguments);
    trial_trigger(trial, "command", command->server, BTZ_STR_NONE);
    rc = conn_await(trial, conn, "prompts/get",
                    btz_mcp_client_get_prompt(conn->client,
                                              btz_json_str(btz_json_getz(command->prompt, "name")),
                                              arguments, &conn->request),
                    err);
    if (rc != BTZ_OK) {
        return rc;
    }
    gate_answered(trial, conn, BTZ_GUARD_PROMPT,
                  btz_json_str(btz_json_getz(command->prompt, "name")), NULL);
    if (conn->answer) {
        show_prompt(trial, command, conn->answer);
    } else {
        loop_show(trial, "notice", "user",
                  btz_arena_printf(trial->arena, "The command /%.*s failed: %.*s", BTZ_FMT(name),
                                   BTZ_FMT(conn->failure)));
    }
    return BTZ_OK;
}

static void list_commands(struct btz_trial *trial)
{
    struct btz_str text = BTZ_STR("Commands: /help, /clear");

    for (const struct command *c = trial->commands; c; c = c->next) {
        text = btz_arena_printf(trial->arena, "%.*s, /%.*s", BTZ_FMT(text), BTZ_FMT(c->key));
    }
    loop_show(trial, "notice", "user", text);
}

/* The host's own commands. */
static bool call_builtin(struct btz_trial *trial, struct btz_str name)
{
    for (size_t i = 0; i < sizeof(builtins) / sizeof(*builtins); i++) {
        if (!btz_str_is(name, builtins[i])) {
            continue;
        }
        (void)note_command(trial, name, BTZ_STR(""), NULL);
        if (i == 0) {
            list_commands(trial);
        } else {
            session_clear(trial);
        }
        trial->turn_is_over = true;
        return true;
    }
    return false;
}

int command_run(struct btz_trial *trial, struct btz_str text, bool *taken, struct btz_err *err)
{
    struct btz_str rest = btz_str_sub(text, 1, text.len);
    struct btz_str name = BTZ_STR_NONE;
    struct command *command;

    *taken = false;
    if (!btz_str_starts(text, BTZ_STR("/")) || !btz_str_cut(&rest, ' ', &name) || !name.len) {
        return BTZ_OK;
    }
    rest = rest.ptr ? rest : BTZ_STR("");
    command = find(trial, key_of(trial, name));
    *taken = true;
    /* commands.reserve_builtins: nobody's prompt goes before the host's own commands. */
    if ((safe(trial, BTZ_SWITCH_RESERVE_BUILTINS) || !command) && call_builtin(trial, name)) {
        return BTZ_OK;
    }
    if (command) {
        return call_prompt(trial, command, name, rest, err);
    }
    *taken = false; /* no command: the user just began with a slash */
    return BTZ_OK;
}
