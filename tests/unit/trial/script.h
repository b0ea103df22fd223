/* A scripted model: drives the step machine of a trial with replies that a test writes.
 *
 * Each step is also checked for what holds in every trial: one MODEL need at a time, the parts of a
 * request begin with those of the one before, and nothing reads an answer's bytes after the step
 * (they are freed before the next one). Two things may break the second of these, and only where
 * the test says so beforehand: a new conversation, which then holds no reply and no result of the
 * one before, and other tools, which then are the only part that differs. A question of a server
 * stands apart. */
#ifndef BTZ_TESTS_TRIAL_SCRIPT_H
#define BTZ_TESTS_TRIAL_SCRIPT_H

#include "base/arena.h"
#include "trial/trial.h"

struct script {
    struct btz_arena *arena;
    struct btz_trial *trial;
    struct btz_needs needs;
    int rc;                 /* of the last step */
    int64_t now;            /* one second more with each step */
    unsigned asked;         /* requests so far */
    struct btz_str *before; /* parts of the last request */
    size_t before_count;
    /* Set by a test for the next request: it opens a conversation; its tools are other ones. */
    bool opens, other_tools;
    bool anything; /* nothing is checked against the request before */
    /* The next request is a question of a server: a conversation of its own, after which the one
     * before goes on. */
    bool aside;
    bool beside; /* the last request was one */
    struct btz_str *main;
    size_t main_count;
    /* The open request is a question to the guard model, and what it shows that model. */
    bool asks_guard;
    struct btz_str question;
    unsigned questions; /* so far; they do not count in `asked` */
};

/* The core pack and those of tests/packs, or built-in ones, that are named (NULL at the end). */
struct btz_lab *script_lab(const char *const *packs);

/* The attack arm of `scenario` on the naive host, modern, over memory. */
struct btz_trial_options script_options(struct btz_lab *lab, const char *scenario);

/* Plays a trial to its end in each era and over each carrier that the scenario of `options` is
 * defined for: what it was and what became of it must be equal on all carriers of an era. */
void script_everywhere(const struct btz_trial_options *options,
                       struct script (*play)(const struct btz_trial_options *options));

/* Makes the trial and takes the first step. */
struct script script_begin(const struct btz_trial_options *options);
void script_end(struct script *s);

/* Answers the open need. */
void script_answer(struct script *s, enum btz_answer_status status, struct btz_str bytes);
void script_reply(struct script *s, struct btz_str body);
/* A reply with `content`, and one with a single call. `server` is an id; NULL = a tool of the host.
 * `args` is JSON in which {name} stands for a marker. */
void script_say(struct script *s, const char *content);
void script_call(struct script *s, const char *server, const char *tool, const char *args);

/* Answers the open question to the guard model, and those that follow: unsafe where the question
 * shows `needle`, else safe. */
void script_guard(struct script *s, const char *needle);

/* Bodies of chat completions. `message` is the message's members as JSON, without the braces. */
struct btz_str script_body(struct script *s, const char *message, const char *finish);
/* One entry of tool_calls. */
struct btz_str script_entry(struct script *s, const char *id, struct btz_str name,
                            const char *args);
struct btz_str script_tool(struct script *s, const char *server, const char *tool);
/* `text` with {name} replaced by the marker. */
struct btz_str script_fill(struct script *s, const char *text);
struct btz_str script_marker(struct script *s, const char *name);

/* Part `index` of the open request, counted from the end if negative, and the content of that
 * message. */
struct btz_str script_part(struct script *s, int index);
struct btz_str script_content(struct script *s, int index);
/* Whether any part of the open request holds `text`. */
bool script_shows(struct script *s, const char *text);

/* The record; fails the test if the trial is not done. */
const struct btz_trial_record *script_record(struct script *s);
/* Ends with `content` as the final answer and gives the record. */
const struct btz_trial_record *script_finish(struct script *s, const char *content);
void script_expect(struct script *s, enum btz_outcome outcome, const char *sub, enum btz_stop stop);
/* The `nth` note (from 0) of that kind in the trajectory; fails the test if there is none. */
const struct btz_json *script_note(struct script *s, const char *kind, size_t nth);
size_t script_notes(struct script *s, const char *kind);
/* Text member of that note. */
struct btz_str script_said(struct script *s, const char *kind, size_t nth, const char *member);
/* Events of the record with that kind. */
size_t script_events(struct script *s, enum btz_layer layer, const char *kind);

#define assert_text(actual, expected)                                                              \
    do {                                                                                           \
        struct btz_str text_ = (actual);                                                           \
                                                                                                   \
        if (!btz_str_is(text_, (expected))) {                                                      \
            fail_msg("\"%.*s\" is not \"%s\"", BTZ_FMT(text_), (expected));                        \
        }                                                                                          \
    } while (0)

#define assert_holds(actual, part)                                                                 \
    do {                                                                                           \
        struct btz_str text_ = (actual);                                                           \
                                                                                                   \
        if (btz_str_find(text_, btz_str_of(part)) < 0) {                                           \
            fail_msg("\"%.*s\" does not hold \"%s\"", BTZ_FMT(text_), (part));                     \
        }                                                                                          \
    } while (0)

#endif
