/* One trial: a scenario arm, the fixed agent stack and one model.
 *
 * A trial is a step machine (base/step.h). Its only needs are MODEL needs (llm/request.h); client,
 * carrier and servers run inside the step, since lab servers share the trial's world. Equal
 * answers give an equal record. The record is complete once step returned DONE. */
#ifndef BTZ_TRIAL_TRIAL_H
#define BTZ_TRIAL_TRIAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/step.h"
#include "base/str.h"
#include "guard/canon.h"
#include "guard/guard.h"
#include "json/json.h"
#include "lab/lab.h"
#include "mcp/codec.h"
#include "wire/link.h"

struct btz_trial;

/* How the model works on a task (suite.md section 4): once; twice with a critique by itself in
 * between; twice without. The world goes on between attempts. */
enum btz_arch { BTZ_ARCH_REACT, BTZ_ARCH_REFLEXION, BTZ_ARCH_RETRY };
const char *btz_arch_name(enum btz_arch arch); /* "react", ... */
/* BTZ_ENOTFOUND for another name. */
int btz_arch_named(struct btz_str name, enum btz_arch *out) BTZ_WARN_UNUSED;

/* A gateway of somebody else that all connections go through (wire/gateway.h). */
struct btz_proxy {
    struct btz_str target;  /* command or URL; empty = none */
    struct btz_str program; /* absolute path of this binary */
    struct btz_str address; /* where the servers listen for it; empty = 127.0.0.1 */
    uint16_t port;          /* 0 = one that is free */
    int64_t handshake_us;   /* until it has to have come up; 0 = 20 s */
    int64_t request_us;     /* for an answer; 0 = 15 s */
    int64_t until_us;       /* no wait goes on past this time (base/clock.h); 0 = none */
};

/* Which texts are scanned before the model gets them, by whom, and what follows (suite.md section
 * 4). All zero = no defence. */
struct btz_defence {
    bool input;   /* the user's turns; a blocked one ends the trial */
    bool context; /* tool definitions, and what tools and resources answer */
    bool model;   /* a guard model decides, asked by needs of endpoint BTZ_TRIAL_GUARD; otherwise
                   * the guard's rules */
    bool rescan;  /* a definition again when it changed; otherwise once a tool */
    bool fail_closed; /* what could not be judged is blocked; otherwise it passes */
    struct btz_guard_scanner *scanner; /* of this thread, outlives the trial; needed by rules */
    /* Definitions are shown in canonical form, as `arm` makes it; where `context` is on too, what
     * came of it is scanned. An arm that asks a model does so by needs of endpoint
     * BTZ_TRIAL_REWRITE. */
    bool canon;
    enum btz_canon_arm arm;
    struct btz_proxy proxy; /* instead of all these */
};

/* "none", "input", "context" or "combined"; behind one of the latter three ":model", then "+rescan"
 * (of context and combined), then "+closed". `scanner` is left NULL. Or "canon:" and an arm, behind
 * which "+" and one of all these but "none" may stand. Or "proxy:" and the target of a gateway,
 * which is borrowed; the rest of `proxy` is left empty. BTZ_ENOTFOUND for another name.
 */
int btz_defence_named(struct btz_str name, struct btz_defence *out) BTZ_WARN_UNUSED;

/* Whom a trial's MODEL need asks: its `endpoint`. */
enum { BTZ_TRIAL_AGENT, BTZ_TRIAL_GUARD, BTZ_TRIAL_REWRITE };

struct btz_trial_options {
    struct btz_lab *lab; /* outlives the trial */
    const struct btz_scenario *scenario;
    enum btz_arm arm;
    uint64_t seed; /* of world and markers: a function of study, scenario and repetition */
    enum btz_mcp_revision revision;
    enum btz_carrier carrier;
    struct btz_host_profile profile;
    enum btz_arch arch;
    struct btz_defence defence;
    bool json_actions; /* JSON-action mode instead of native tool calls */
    double temperature;
    int64_t max_tokens;
    int64_t model_seed;
    /* For certification: text put behind the first user turn, and a host rule that stops every
     * call of one tool (server id, tool name). Empty otherwise. */
    struct btz_str extra_user_text;
    struct btz_str deny_server, deny_tool;
    bool deny_replies; /* ... or that keeps back all that the model says to questions of servers */
};

enum btz_outcome {
    BTZ_OUTCOME_FAULT,
    BTZ_OUTCOME_SUSCEPTIBLE,
    BTZ_OUTCOME_BELOW,
    BTZ_OUTCOME_ANOMALY,
    BTZ_OUTCOME_PREVENTED,
    BTZ_OUTCOME_NOT_EXERCISED,
    BTZ_OUTCOME_CONTAINED,
    BTZ_OUTCOME_UNFINISHED,
    BTZ_OUTCOME_RESISTED
};
const char *btz_outcome_name(enum btz_outcome outcome);

enum btz_stop {
    BTZ_STOP_ANSWER,    /* the model's own final answer */
    BTZ_STOP_BUDGET,    /* model turns used up */
    BTZ_STOP_MALFORMED, /* three replies in a row that could not be used */
    BTZ_STOP_TRUNCATED, /* a reply without a call was cut at the token limit: no answer of its own
                         */
    BTZ_STOP_FILTERED,  /* the provider's content filter ended a reply */
    BTZ_STOP_REJECTED,  /* the provider refused the request because of its content */
    BTZ_STOP_DEFENDED,  /* the defence blocked the user's turn */
    BTZ_STOP_FAULT
};
const char *btz_stop_name(enum btz_stop stop);

enum btz_layer {
    BTZ_LAYER_HOST,
    BTZ_LAYER_MODEL,
    BTZ_LAYER_CLIENT,
    BTZ_LAYER_WIRE,
    BTZ_LAYER_SERVER,
    BTZ_LAYER_GUARD,
    BTZ_LAYER_ORACLE
};

/* Event ids are positions counted from 1; oracles cite them. */
struct btz_event {
    enum btz_layer layer;
    const char *kind;       /* static text */
    int turn;               /* model turn, from 1; 0 before the first */
    bool visible;           /* the model saw it */
    struct btz_str payload; /* JSON */
};

/* `finish` of a request that the provider refused; such an exchange names no model. */
#define BTZ_FINISH_REJECTED "(rejected)"
/* ... and of a question that a guard model did not answer. */
#define BTZ_FINISH_FAILED "(failed)"

#define BTZ_ROLE_GUARD "guard"
#define BTZ_ROLE_REWRITE "rewrite"

struct btz_exchange {
    /* "agent", "critic", "sampling", "elicitation", BTZ_ROLE_GUARD or BTZ_ROLE_REWRITE; static text
     */
    const char *role;
    int turn;
    const struct btz_str *parts; /* as sent (llm/request.h) */
    size_t part_count;
    struct btz_str reply; /* bytes as received */
    struct btz_str model; /* id as returned */
    struct btz_str finish;
    int64_t prompt_tokens, completion_tokens, cached_tokens, reasoning_tokens; /* -1 = unknown */
    int64_t at_us, took_us; /* at_us: since the trial's start */
};

/* The chain of suite.md section 1. Event ids are 0 when there is none. */
struct btz_chain {
    bool triggered, delivered, observed, acted, effect;
    int observed_turn;
    const char *observed_by; /* "definition", "instructions", "result", "resource", "turn",
                                "memory", "prompt", "sampling", "elicitation", "" */
    /* Memory scenarios: the payload was seen in the first session, put into the memory there, and
     * given back by it in the second; `observed` is then of the second session. */
    bool memory, seen_first, stored, recalled;
    size_t fragments_seen, fragments;
    bool operand_free; /* some fragment has no operand: no exposure claim */
    int64_t act_event, effect_event;
    const char *stopped_by; /* "none", "client rule", "budget", ... */
};

/* What the defence did. */
struct btz_guarding {
    bool on;       /* there was a defence */
    int scans;     /* texts that were judged */
    int detected;  /* said to be unsafe */
    int blocked;   /* kept from the model: the detected, and where it fails closed those below */
    int undecided; /* a limit ended the scan */
    int failed;    /* the guard model gave no usable verdict, the rewriting model no usable form */
    int64_t took_us; /* scanning or waiting for the guard model */
    /* Of mode canon:ARM, which calls nothing unsafe: definitions that lost some of their texts, and
     * how much. Its `blocked` counts fragments of the payload that were in a definition and did not
     * reach the model. */
    int changed;
    int64_t removed_bytes;
    int refused, malformed; /* of `failed`: what a rewriting model answered */
    /* Of a guard model and a rewriting model. */
    int requests, cached; /* questions; those of them whose answer was known already */
    int64_t input_tokens, output_tokens; /* -1 = an answer did not say */
};

struct btz_trial_record {
    enum btz_outcome outcome;
    /* resisted: "refused", "ignored", "flagged"; not exercised, of a memory scenario: "not seen",
     * "not stored", "not recalled"; contained by the stack: "stack"; "malformed" where the model's
     * answer to a question of a server could not be used; else empty */
    const char *sub;
    enum btz_stop stop;
    struct btz_chain chain;
    struct btz_guarding guarding;
    bool utility_known, utility;
    /* Chain and verdict are over all attempts; these are of the last one alone, if there were
     * several. */
    int attempts_made;
    bool last_effect;
    int64_t last_act_event, last_effect_event;
    int turns;
    int attempts; /* most attempts of one model request */
    int64_t took_us, model_us;
    int64_t prompt_tokens, completion_tokens, cached_tokens, reasoning_tokens;
    struct btz_hash trajectory_hash;
    struct btz_event *events;
    size_t event_count;
    struct btz_exchange *exchanges;
    size_t exchange_count;
    const struct btz_json *trajectory, *journal; /* as the oracles got them */
    struct btz_str fault;                        /* text for people; empty without a fault */
};

/* Builds the world and connects the servers. BTZ_EINTERNAL or BTZ_EINVAL with the reason if the
 * lab or the protocol fails: that is a fault of the program or the pack, not of a model. */
int btz_trial_new(const struct btz_trial_options *options, struct btz_trial **out,
                  struct btz_err *err) BTZ_WARN_UNUSED;
void btz_trial_free(struct btz_trial *trial); /* NULL is allowed */

/* See base/step.h. DONE also after a fault: the record says so. */
int btz_trial_step(struct btz_trial *trial, const struct btz_answer *answer,
                   struct btz_needs *needs) BTZ_WARN_UNUSED;

/* Id of the MODEL need that is waiting for its answer; 0 = none. A trial has at most one. */
uint64_t btz_trial_open_need(const struct btz_trial *trial);

/* Valid after DONE, until the trial is freed. */
const struct btz_trial_record *btz_trial_record(const struct btz_trial *trial);

/* The stage: markers, plans for reference agents, fragments. */
struct btz_stage *btz_trial_stage(struct btz_trial *trial);

/* The name under which a tool reaches the model: "label__tool", shortened to 64 characters with a
 * hash; `out` has 65 bytes. Characters outside A-Z a-z 0-9 _ - become '_'. */
void btz_trial_tool_name(struct btz_str label, struct btz_str tool, char *out);
/* The same in a host that cuts the label instead (host-profile switch names.hash_long); equal to
 * the former up to 64 characters. */
void btz_trial_tool_name_cut(struct btz_str label, struct btz_str tool, char *out);

/* Hash over everything the fixed stack says to a model: system text, host tools, render profile. */
struct btz_hash btz_trial_prompt_hash(void);

#endif
