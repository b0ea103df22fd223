/* arena: lab servers and scenarios as MCP endpoints for somebody else's agent. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "arena/lines.h"
#include "arena/site.h"
#include "base/clock.h"
#include "cmd/arena.h"

enum { LOOK_US = 200000, SECOND_US = 1000000, MAX_COMMAND = 4096 };

enum ending { ENDING_NONE, ENDING_ASKED, ENDING_LIMIT, ENDING_SIGNAL };

struct hosting {
    struct btz_context *context;
    struct btz_net_loop *loop;
    struct btz_play *play;
    struct btz_site *site;
    bool input_is_over;
    bool line_is_lost; /* the line under way is too long */
    char line[MAX_COMMAND];
    size_t line_len;
};

/* ---- Options ---- */

int btz_cmd_arena_stage(struct btz_context *context, struct btz_lab *lab,
                        struct btz_play_options *out, struct btz_err *err)
{
    static const char *const arms[] = {"attack", "clean", "benign"};
    const char *scenario = btz_args_text(context->args, "scenario", NULL);
    struct btz_str arm = btz_str_of(btz_args_text(context->args, "arm", "attack"));
    struct btz_play_options options = {.lab = lab};
    size_t which = 0;

    options.seed = (uint64_t)btz_args_int(context->args, "seed", 1);
    options.servers = btz_cmd_values(context, "server", &options.server_count);
    while (which < 3 && !btz_str_is(arm, arms[which])) {
        which++;
    }
    if (which == 3) {
        return btz_err_set(err, BTZ_EUSAGE, "--arm is attack, clean or benign");
    }
    options.arm = (enum btz_arm)which;
    if (scenario && options.server_count) {
        return btz_err_set(err, BTZ_EUSAGE, "a scenario names its servers itself: no --server");
    }
    if (scenario && !(options.scenario = btz_lab_scenario_find(lab, btz_str_of(scenario)))) {
        return btz_err_set(err, BTZ_EUSAGE,
                           "there is no scenario \"%s\"; `bartizan list scenarios` names them",
                           scenario);
    }
    if (!scenario && btz_args_has(context->args, "arm")) {
        return btz_err_set(err, BTZ_EUSAGE, "--arm goes with --scenario");
    }
    for (size_t i = 0; i < options.server_count; i++) {
        if (!btz_lab_server_find(lab, options.servers[i])) {
            return btz_err_set(err, BTZ_EUSAGE,
                               "there is no server \"%.*s\"; `bartizan list servers` names them",
                               BTZ_FMT(options.servers[i]));
        }
    }
    if (!scenario && !options.server_count) {
        struct btz_str *all;

        options.server_count = btz_lab_server_count(lab);
        all = btz_arena_array(context->arena, options.server_count, sizeof(*all));
        for (size_t i = 0; i < options.server_count; i++) {
            all[i] = btz_json_str(btz_json_getz(btz_lab_server_at(lab, i), "id"));
        }
        options.servers = all;
    }
    *out = options;
    return BTZ_OK;
}

int btz_cmd_arena_play(const struct btz_play_options *options, struct btz_play **out,
                       struct btz_err *err)
{
    int rc = btz_play_new(options, out, err);

    if (rc == BTZ_EUNSUPPORTED) {
        err->code = rc = BTZ_EUSAGE;
    }
    return rc;
}

int btz_cmd_arena_address(struct btz_str text, struct btz_str *address, uint16_t *port,
                          struct btz_err *err)
{
    static const struct {
        const char *written, *address;
    } known[] = {{"127.0.0.1:", "127.0.0.1"}, {"localhost:", "127.0.0.1"}, {"[::1]:", "::1"}};
    int64_t number = -1;

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        struct btz_str prefix = btz_str_of(known[i].written);

        if (btz_str_starts(text, prefix) &&
            btz_str_int64(btz_str_sub(text, prefix.len, text.len), &number) == BTZ_OK &&
            number >= 0 && number <= UINT16_MAX) {
            *address = btz_str_of(known[i].address);
            *port = (uint16_t)number;
            return BTZ_OK;
        }
    }
    return btz_err_set(err, BTZ_EUSAGE,
                       "--http takes 127.0.0.1:PORT, localhost:PORT or [::1]:PORT (port 0: a free "
                       "one); other addresses are not served, because the lab's servers have no "
                       "authentication");
}

static bool has_any(const struct btz_context *context, const char *const *names)
{
    for (; *names; names++) {
        if (btz_args_has(context->args, *names)) {
            return true;
        }
    }
    return false;
}

/* ---- What is printed ---- */

/* A text of a scenario for a person's terminal. */
static void add_lines(struct btz_buf *out, struct btz_str text)
{
    struct btz_str line;

    while (btz_str_cut(&text, '\n', &line)) {
        (void)btz_buf_add_text(out, "  ");
        (void)btz_term_add_text(out, line, 100000);
        (void)btz_buf_add_byte(out, '\n');
    }
}

static void say(const struct hosting *h, struct btz_buf *text)
{
    if (btz_buf_status(text) == BTZ_OK && text->len) {
        btz_cmd_note(h->context, "%.*s", (int)text->len - 1, text->ptr);
    }
    btz_buf_fini(text);
}

static void say_task(const struct hosting *h)
{
    struct btz_buf out;

    btz_buf_init(&out, (size_t)16 * 1024 * 1024);
    (void)btz_buf_printf(&out, "\nThe user's turn %zu of %zu%s: give this to your agent\n\n",
                         btz_play_turn(h->play), btz_play_turn_count(h->play),
                         btz_play_session(h->play) > 1 ? ", in a new conversation" : "");
    add_lines(&out, btz_play_turn_text(h->play));
    (void)btz_buf_add_byte(&out, '\n');
    say(h, &out);
}

static void say_start(const struct hosting *h, const struct btz_play_options *options)
{
    struct btz_stage *stage = btz_play_stage(h->play);
    struct btz_buf out;

    btz_buf_init(&out, (size_t)16 * 1024 * 1024);
    if (options->scenario) {
        (void)btz_buf_printf(&out, "arena: %.*s, %s arm, seed %llu\n",
                             BTZ_FMT(options->scenario->id), btz_arm_name(options->arm),
                             (unsigned long long)options->seed);
    } else {
        (void)btz_buf_printf(&out, "arena: plain servers, seed %llu\n",
                             (unsigned long long)options->seed);
    }
    for (size_t i = 0; i < btz_stage_server_count(stage); i++) {
        (void)btz_buf_printf(&out, "  %.*s\n", BTZ_FMT(btz_site_server_url(h->site, i)));
    }
    if (btz_args_has(h->context->args, "llm-proxy")) {
        (void)btz_buf_printf(&out, "model: %.*s/llm/v1\n", BTZ_FMT(btz_site_url(h->site)));
    }
    (void)btz_buf_printf(&out, "%s\n",
                         options->scenario
                             ? "type task, answer TEXT, next, verdict or end; Ctrl-C ends, too"
                             : "type end; Ctrl-C ends, too");
    say(h, &out);
    if (options->scenario) {
        say_task(h);
    }
}

static const char *cell_of(const struct btz_json *value)
{
    return btz_json_is(value, BTZ_JSON_BOOL) ? btz_json_bool(value, false) ? "true" : "false"
                                             : "unknown";
}

static int print_table(const struct hosting *h, const struct btz_json *verdict, struct btz_err *err)
{
    static const struct btz_column columns[] = {
        {"scenario", BTZ_ALIGN_LEFT}, {"arm", BTZ_ALIGN_LEFT},      {"seed", BTZ_ALIGN_RIGHT},
        {"calls", BTZ_ALIGN_RIGHT},   {"effect", BTZ_ALIGN_LEFT},   {"act", BTZ_ALIGN_LEFT},
        {"utility", BTZ_ALIGN_LEFT},  {"observed", BTZ_ALIGN_LEFT}, {"delivered", BTZ_ALIGN_LEFT}};
    static const char *const truths[] = {"effect", NULL, "utility", "observed", "delivered"};
    struct btz_str scenario = btz_json_str(btz_json_getz(verdict, "scenario"));
    struct btz_str arm = btz_json_str(btz_json_getz(verdict, "arm"));
    struct btz_str act = btz_json_number_text(btz_json_getz(verdict, "act"));
    struct btz_str fault = btz_json_str(btz_json_getz(verdict, "fault"));
    struct btz_table *table = btz_table_new(columns, sizeof(columns) / sizeof(columns[0]));
    struct btz_buf out;
    int rc;

    btz_table_cell(table, scenario.len ? scenario : BTZ_STR("-"), BTZ_COLOUR_NONE);
    btz_table_cell(table, arm.len ? arm : BTZ_STR("-"), BTZ_COLOUR_NONE);
    btz_table_cell(table, btz_json_number_text(btz_json_getz(verdict, "seed")), BTZ_COLOUR_NONE);
    btz_table_cell(table, btz_json_number_text(btz_json_getz(verdict, "calls")), BTZ_COLOUR_NONE);
    for (size_t i = 0; i < sizeof(truths) / sizeof(truths[0]); i++) {
        const struct btz_json *value = truths[i] ? btz_json_getz(verdict, truths[i]) : NULL;
        struct btz_str text = btz_json_str(value);

        if (!truths[i]) {
            btz_table_printf(table, BTZ_COLOUR_NONE, act.len ? "event %.*s" : "none", BTZ_FMT(act));
        } else if (text.len) {
            btz_table_cell(table, text, BTZ_COLOUR_NONE);
        } else {
            btz_table_cell(table, btz_str_of(scenario.len ? cell_of(value) : "-"), BTZ_COLOUR_NONE);
        }
    }
    btz_buf_init(&out, 1024 * 1024);
    rc = btz_table_print(table, h->context->out.colour, &out);
    btz_table_free(table);
    if (rc != BTZ_OK) {
        out.failed = true; /* btz_cmd_print says so */
    }
    if (fault.len) {
        (void)btz_buf_add_text(&out, "fault: ");
        (void)btz_term_add_text(&out, fault, 2000);
        (void)btz_buf_add_byte(&out, '\n');
    }
    (void)btz_buf_add_text(
        &out, "\nNot a trial: the agent is not the fixed stack. Nothing was stored, and no rate "
              "counts it.\n");
    rc = btz_cmd_print(&out, err);
    btz_buf_fini(&out);
    return rc;
}

/* `*fault`: a script of the lab failed. */
static int print_verdict(const struct hosting *h, bool *fault, struct btz_err *err)
{
    struct btz_arena *arena = btz_arena_new();
    struct btz_json *verdict = NULL;
    int rc = btz_play_verdict_json(h->play, arena, &verdict, err);

    if (rc == BTZ_OK) {
        *fault = !btz_json_is(btz_json_getz(verdict, "fault"), BTZ_JSON_NULL);
        btz_json_set_bool(arena, verdict, "stored", false);
        if (h->context->json) {
            btz_json_setz(arena, verdict, "trajectory", btz_play_trajectory(h->play));
            btz_json_setz(arena, verdict, "journal", btz_play_journal(h->play));
        }
        rc = h->context->json ? btz_cmd_print_json(h->context, verdict, err)
                              : print_table(h, verdict, err);
    }
    btz_arena_free(arena);
    return rc;
}

/* ---- Commands on standard input ---- */

static int next_turn(struct hosting *h, struct btz_err *err)
{
    int rc = btz_site_next_turn(h->site, err);

    if (rc == BTZ_ENOTFOUND) {
        btz_cmd_note(h->context, "%s", err->msg);
        return BTZ_OK;
    }
    if (rc == BTZ_OK) {
        say_task(h);
    }
    return rc;
}

static void say_unknown(const struct hosting *h, struct btz_str word)
{
    enum { MAX_SHOWN = 60 };
    bool cut = word.len > MAX_SHOWN;
    struct btz_buf out;

    btz_buf_init(&out, 65536);
    (void)btz_buf_add_byte(&out, '"');
    (void)btz_term_add_text(&out, btz_str_sub(word, 0, MAX_SHOWN), 1000);
    (void)btz_buf_printf(&out, "%s\" is not known\ntype %s\n", cut ? "..." : "",
                         btz_play_turn_count(h->play) ? "task, answer TEXT, next, verdict or end"
                                                      : "end");
    say(h, &out);
}

static int take_command(struct hosting *h, struct btz_str word, enum ending *ending,
                        struct btz_err *err)
{
    bool scenario = btz_play_turn_count(h->play) > 0;
    bool ignored;

    if (btz_str_is(word, "end")) {
        *ending = ENDING_ASKED;
    } else if (scenario && btz_str_is(word, "answer")) {
        btz_cmd_note(h->context, "answer needs the text of your agent's final answer: answer TEXT");
    } else if (scenario && btz_str_starts(word, BTZ_STR("answer "))) {
        btz_play_answer(h->play, btz_str_trim(btz_str_sub(word, 7, word.len)));
    } else if (scenario && btz_str_is(word, "verdict")) {
        return print_verdict(h, &ignored, err);
    } else if (scenario && btz_str_is(word, "next")) {
        return next_turn(h, err);
    } else if (scenario && btz_str_is(word, "task")) {
        say_task(h);
    } else if (word.len) {
        say_unknown(h, word);
    }
    return BTZ_OK;
}

/* Reading from a terminal in the background would stop the process. */
static bool input_waits(const struct hosting *h)
{
    struct pollfd file = {.fd = STDIN_FILENO, .events = POLLIN};

    if (h->input_is_over || poll(&file, 1, 0) <= 0) {
        return false;
    }
    return !isatty(STDIN_FILENO) || tcgetpgrp(STDIN_FILENO) == getpgrp();
}

static int take_input(struct hosting *h, enum ending *ending, struct btz_err *err)
{
    char *end;
    ssize_t got;

    if (!input_waits(h)) {
        return BTZ_OK;
    }
    got = read(STDIN_FILENO, h->line + h->line_len, sizeof(h->line) - h->line_len);
    if (got <= 0) {
        h->input_is_over = got == 0 || errno != EINTR;
        if (!h->input_is_over || !h->line_len || h->line_is_lost) {
            return BTZ_OK;
        }
        h->line[h->line_len] = '\n'; /* the last line may end without one; there is room */
        got = 1;
    }
    h->line_len += (size_t)got;
    while (*ending == ENDING_NONE && (end = memchr(h->line, '\n', h->line_len))) {
        struct btz_str line = {h->line, (size_t)(end - h->line)};
        size_t used = line.len + 1;
        int rc = h->line_is_lost ? BTZ_OK : take_command(h, btz_str_trim(line), ending, err);

        h->line_is_lost = false;
        if (rc != BTZ_OK) {
            return rc;
        }
        memmove(h->line, h->line + used, h->line_len - used);
        h->line_len -= used;
    }
    if (h->line_len == sizeof(h->line)) {
        if (!h->line_is_lost) {
            btz_cmd_note(h->context, "a typed line has %d bytes at most: POST /answer takes more",
                         MAX_COMMAND - 1);
        }
        h->line_is_lost = true; /* up to its end */
        h->line_len = 0;
    }
    return BTZ_OK;
}

/* ---- Running ---- */

static int host_until_end(struct hosting *h, enum ending *ending, struct btz_err *err)
{
    int64_t limit_s = btz_args_int(h->context->args, "time-limit", 0);
    int64_t end_us = limit_s ? btz_clock_mono_us() + limit_s * SECOND_US : INT64_MAX;
    int rc = BTZ_OK;

    *ending = ENDING_NONE;
    while (rc == BTZ_OK && *ending == ENDING_NONE) {
        int64_t left_us = end_us - btz_clock_mono_us();

        btz_site_step(h->site);
        rc = take_input(h, ending, err);
        if (btz_net_loop_interrupted(h->loop)) {
            *ending = ENDING_SIGNAL;
        } else if (left_us <= 0) {
            *ending = ENDING_LIMIT;
        }
        if (rc == BTZ_OK && *ending == ENDING_NONE) {
            btz_site_step(h->site); /* a command may have made something to send */
            btz_net_loop_wait(h->loop, left_us < LOOK_US ? left_us : LOOK_US);
        }
    }
    return rc;
}

static int run_http(struct btz_context *context, struct btz_lab *lab, struct btz_err *err)
{
    static const int codes[] = {[ENDING_ASKED] = BTZ_EXIT_DONE,
                                [ENDING_LIMIT] = BTZ_EXIT_LIMIT,
                                [ENDING_SIGNAL] = BTZ_EXIT_INTERRUPTED};
    struct hosting h = {.context = context};
    struct btz_site_options site = {
        .model = btz_str_of(btz_args_text(context->args, "llm-proxy", "")),
        .page_size = (size_t)btz_args_int(context->args, "page-size", 0)};
    struct btz_play_options options = {0};
    enum ending ending = ENDING_ASKED;
    bool fault = false;
    int rc = btz_cmd_arena_address(btz_str_of(btz_args_text(context->args, "http", "")),
                                   &site.address, &site.port, err);

    if (rc == BTZ_OK && (rc = btz_cmd_arena_stage(context, lab, &options, err)) == BTZ_OK) {
        rc = btz_cmd_arena_play(&options, &h.play, err);
    }
    if (rc == BTZ_OK && (rc = btz_net_loop_new(&h.loop, err)) == BTZ_OK &&
        (rc = btz_net_loop_catch_signals(h.loop, err)) == BTZ_OK) {
        rc = btz_site_new(h.loop, h.play, &site, &h.site, err);
    }
    if (rc == BTZ_OK) {
        say_start(&h, &options);
        rc = host_until_end(&h, &ending, err);
    }
    if (rc == BTZ_OK) {
        rc = print_verdict(&h, &fault, err);
    }
    btz_site_free(h.site);
    btz_net_loop_free(h.loop);
    btz_play_free(h.play);
    return rc != BTZ_OK ? rc : fault ? BTZ_EXIT_FAULT : codes[ending];
}

/* Standard output belongs to the client: the fault goes the way of errors. */
static int fail_with_fault(struct btz_str fault, struct btz_err *err)
{
    struct btz_buf text;

    btz_buf_init(&text, 65536);
    (void)btz_term_add_text(&text, fault, 2000);
    (void)btz_err_set(err, BTZ_EINTERNAL, "fault: %.*s", (int)text.len, text.ptr);
    btz_buf_fini(&text);
    return BTZ_EINTERNAL;
}

static int run_stdio(struct btz_context *context, struct btz_lab *lab, struct btz_err *err)
{
    static const char *const other[] = {"http", "scenario", "arm", "llm-proxy", "time-limit", NULL};
    struct btz_play_options options = {0};
    struct btz_play *play = NULL;
    int rc;

    if (has_any(context, other) || btz_args_list(context->args, "server", NULL) != 1) {
        return btz_err_set(err, BTZ_EUSAGE,
                           "--stdio serves one server with a world of its own: it takes one "
                           "--server NAME; scenarios, whose servers share a world, need --http");
    }
    rc = btz_cmd_arena_stage(context, lab, &options, err);
    if (rc == BTZ_OK && (rc = btz_cmd_arena_play(&options, &play, err)) == BTZ_OK) {
        rc = btz_play_serve_lines(play, STDIN_FILENO, STDOUT_FILENO,
                                  (size_t)btz_args_int(context->args, "page-size", 0), err);
    }
    if (rc == BTZ_OK && btz_play_fault(play).len) {
        rc = fail_with_fault(btz_play_fault(play), err);
    }
    btz_play_free(play);
    return rc;
}

static int run(struct btz_context *context, struct btz_err *err)
{
    const char *word = btz_args_positional(context->args, 0);
    struct btz_lab *lab = NULL;
    int rc;

    if (word && strcmp(word, "config") != 0) {
        return btz_err_set(err, BTZ_EUSAGE, "`bartizan arena %s` is not known; `arena config` is",
                           word);
    }
    if (!word && btz_args_has(context->args, "client")) {
        return btz_err_set(err, BTZ_EUSAGE, "--client goes with `bartizan arena config`");
    }
    if (!word && !btz_args_flag(context->args, "stdio") && !btz_args_has(context->args, "http")) {
        return btz_err_set(err, BTZ_EUSAGE,
                           "say how to serve: --stdio --server NAME, or --http 127.0.0.1:PORT");
    }
    rc = btz_cmd_lab(context, &lab, err);
    if (rc == BTZ_OK) {
        rc = word                                    ? btz_cmd_arena_config(context, lab, err)
             : btz_args_flag(context->args, "stdio") ? run_stdio(context, lab, err)
                                                     : run_http(context, lab, err);
    }
    btz_lab_free(lab);
    return rc;
}

static const struct btz_option options[] = {
    {"stdio", 0, BTZ_OPTION_FLAG, NULL, "serve one server on standard input and output", 0, 0},
    {"http", 0, BTZ_OPTION_TEXT, "ADDRESS:PORT",
     "serve on 127.0.0.1 or [::1], each server at /LABEL/mcp; port 0: a free one", 0, 0},
    {"server", 0, BTZ_OPTION_LIST, "NAME",
     "serve this server of `list servers`; --http without it serves all", 0, 0},
    {"scenario", 0, BTZ_OPTION_TEXT, "ID", "with --http: the servers and the world of a scenario",
     0, 0},
    {"arm", 0, BTZ_OPTION_TEXT, "ARM", "attack (default), clean or benign", 0, 0},
    {"llm-proxy", 0, BTZ_OPTION_TEXT, "URL",
     "with --http: pass /llm/v1 on to this OpenAI-compatible server and look for the payload in "
     "the requests",
     0, 0},
    {"time-limit", 0, BTZ_OPTION_INT, "SECONDS", "end after this time", 1, 1000000},
    {"page-size", 0, BTZ_OPTION_INT, "N", "items of a list page (default 100)", 1, 1000},
    {"client", 0, BTZ_OPTION_TEXT, "CLIENT",
     "of `arena config`: claude, cursor, vscode or generic (default)", 0, 0},
    {NULL, 0, BTZ_OPTION_FLAG, NULL, NULL, 0, 0},
};
static const char *const usage[] = {
    "--stdio --server NAME",
    "--http 127.0.0.1:PORT [--server NAME]...",
    "--http 127.0.0.1:PORT --scenario ID [--arm ARM] [--llm-proxy URL]",
    "config --client CLIENT [--server NAME]...",
    "config --client CLIENT --http 127.0.0.1:PORT [--scenario ID]",
    NULL};
static const char *const examples[] = {
    "bartizan arena --stdio --server mailroom",
    "bartizan arena --http 127.0.0.1:8700 --scenario tool-poisoning/v1",
    "bartizan arena --http 127.0.0.1:8700 --scenario tool-poisoning/v1 --llm-proxy "
    "http://127.0.0.1:8080/v1",
    "bartizan arena config --client vscode --server mailroom --server calendar",
    "curl http://127.0.0.1:8700/verdict",
    NULL};

const struct btz_command btz_command_arena = {
    .args = {.name = "arena",
             .summary = "serve the lab's servers or a scenario to your own agent",
             .usage = usage,
             .options = options,
             .examples = examples,
             .max_positionals = 1},
    .run = run,
};
