/* A judge: a model that reads a stored trial by a rubric and says whether the attack succeeded.
 *
 * This room makes the request and reads the reply; it asks nobody. The judge is blind: the request
 * holds the rubric of the attack and the trajectory, and neither the model under test, the defence,
 * the arm, which server is the attacker's, nor the verdict of the deterministic oracle.
 *
 * A reply is read strictly. Whatever is not one JSON object of the asked shape, or cites evidence
 * that does not stand in the trajectory, is *malformed*: that is no opinion, it counts apart and
 * never as "no success". */
#ifndef BTZ_JUDGE_JUDGE_H
#define BTZ_JUDGE_JUDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/str.h"
#include "json/json.h"
#include "store/store.h"

enum {
    BTZ_JUDGE_MAX_TRACE = 128 * 1024, /* bytes of the trajectory that a judge is shown */
    BTZ_JUDGE_MAX_RUBRIC = 64 * 1024,
    BTZ_JUDGE_MAX_REPLY = 64 * 1024, /* bytes of the text that a judge answers */
    BTZ_JUDGE_MAX_TOKENS = 1024      /* default of one reply */
};

struct btz_judge;

/* `max_tokens` of a reply; 0 = BTZ_JUDGE_MAX_TOKENS. Never fails: prompt and schema are part of the
 * program. */
struct btz_judge *btz_judge_new(int64_t max_tokens);
void btz_judge_free(struct btz_judge *judge); /* NULL is allowed */

/* Hash over system prompt, reply schema, sampling settings and the way a trajectory is written. */
struct btz_hash btz_judge_prompt_hash(const struct btz_judge *judge);

/* The embedded rubric of that name (prompts/judge/NAME), BTZ_STR_NONE if there is none. */
struct btz_str btz_judge_rubric(struct btz_str name);

/* Version text of a verdict: 16 hex digits of the prompt hash, '+', 16 of the rubric's hash. */
struct btz_str btz_judge_version(const struct btz_judge *judge, struct btz_arena *arena,
                                 struct btz_str rubric);

/* ---- the request ---- */

struct btz_judge_request {
    struct btz_str *parts; /* as llm/request.h says */
    size_t count;
    struct btz_hash hash; /* over all parts: equal requests need to be asked once */
    struct btz_str shown; /* the trajectory as it stands between the fences */
    struct btz_str text;  /* the whole user message: rubric, fences, trajectory */
    bool truncated;       /* the middle of the trajectory was left out (BTZ_JUDGE_MAX_TRACE) */
};

/* All in `arena`. Only events are read: of the guard and oracle layers none, of a connection not
 * whose it is, of the end not the provider's words. The code of the fences is drawn from the
 * content (SHA-256 over rubric and trajectory), so no text in the trajectory can know it
 * beforehand. */
void btz_judge_request_make(const struct btz_judge *judge, struct btz_arena *arena,
                            struct btz_str rubric, const struct btz_store_event *events,
                            size_t event_count, struct btz_judge_request *out);

/* The trajectory of a trial, entry by entry, without a limit. For the request, and tests. */
void btz_judge_trace(struct btz_arena *arena, const struct btz_store_event *events, size_t count,
                     struct btz_buf *out);

/* ---- the reply ---- */

enum btz_judge_flaw {
    BTZ_JUDGE_SOUND,
    BTZ_JUDGE_CUT,         /* the reply ended at its token limit */
    BTZ_JUDGE_FILTERED,    /* refused by the model or ended by the provider's filter */
    BTZ_JUDGE_TOOL_CALL,   /* called a tool: there are none */
    BTZ_JUDGE_NOT_JSON,    /* prose, several values, a key twice, too long, ... */
    BTZ_JUDGE_WRONG_SHAPE, /* breaks the schema: extra or absent members, types, ranges */
    BTZ_JUDGE_EVIDENCE,    /* the evidence does not stand in the trajectory */
    BTZ_JUDGE_FLAWS        /* count */
};

/* "", "cut", "filtered", "tool_call", "not_json", "wrong_shape", "evidence". */
const char *btz_judge_flaw_name(enum btz_judge_flaw flaw);

struct btz_judge_opinion {
    enum btz_judge_flaw flaw;
    struct btz_str detail; /* for people; empty if sound */
    /* Set only if sound: */
    bool success;
    bool detected;
    double confidence;
    struct btz_str evidence;
    /* Set always, as far as known: */
    struct btz_str model; /* id as returned */
    struct btz_str reply; /* the text that was read, at most BTZ_JUDGE_MAX_REPLY bytes */
};

/* Reads a chat-completions body that btz_llm_reply_parse accepts (others: NOT_JSON). `shown` is
 * that of the request. Texts in `arena`. */
void btz_judge_read_body(const struct btz_judge *judge, struct btz_arena *arena,
                         struct btz_str body, struct btz_str shown, struct btz_judge_opinion *out);

/* The part of it that reads the text of the reply. */
void btz_judge_read_text(const struct btz_judge *judge, struct btz_arena *arena,
                         struct btz_str text, struct btz_str shown, struct btz_judge_opinion *out);

/* ---- the verdict ---- */

struct btz_judge_context {
    struct btz_str judge;  /* name that stands in the verdict */
    struct btz_str rubric; /* text */
    bool same_vendor;      /* as the model under test */
    int64_t asked_for;     /* number of the trial whose request was asked */
};

/* A verdict of source "judge" in `arena`: success UNKNOWN if malformed; its JSON holds everything
 * else: {judge, model, prompt_hash, rubric_hash, request_hash, asked_for, same_vendor, truncated,
 * malformed, detail, detected, confidence, evidence, reply}, where what is not known is null. */
void btz_judge_verdict(const struct btz_judge *judge, struct btz_arena *arena,
                       const struct btz_judge_context *context,
                       const struct btz_judge_request *request,
                       const struct btz_judge_opinion *opinion, int64_t now_us,
                       struct btz_store_verdict *out);

/* ---- labels of people ---- */

struct btz_judge_label {
    int64_t trial; /* number in the run */
    bool success;
    struct btz_str labeller;
    int64_t line; /* of the file, from 1 */
};

enum { BTZ_JUDGE_MAX_LABELS = 1000000, BTZ_JUDGE_MAX_LABEL_FILE = 64 * 1024 * 1024 };

/* Reads a table of labels: CSV (RFC 4180, UTF-8 with or
 * without a byte order mark, LF or CR LF) whose head line begins with
 * trial,success,labeller; more columns may follow and are not read. `trial` is a number or RUN/N
 * (then RUN must be `run`); `success` is yes or no (true, false, 1 and 0 mean the same); a row with
 * an empty `success` is not labelled yet and counts in `*unlabelled`. BTZ_EINVAL names line and
 * reason: a wrong head, a row of another width, an unknown word, no labeller, one labeller twice on
 * one trial. BTZ_ELIMIT: too many rows. `run` empty = any. */
int btz_judge_labels_read(struct btz_arena *arena, struct btz_str text, struct btz_str run,
                          struct btz_judge_label **out, size_t *count, size_t *unlabelled,
                          struct btz_err *err) BTZ_WARN_UNUSED;

/* Appends one CSV field, quoted where it must be. */
void btz_judge_csv_field(struct btz_buf *out, struct btz_str field);

#endif
