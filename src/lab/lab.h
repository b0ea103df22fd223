/* The laboratory: packs of servers and attacks, and the staging of one trial's world.
 *
 * A `lab` is one Lua state with packs loaded; it is immutable after loading and used by one
 * thread. A `stage` is one scenario arm made concrete by a seed: markers drawn, world seeded,
 * definitions overlaid with the payload, plans substituted. Everything that changes in a trial
 * lives in its stage; scripts hold no state. The lab decides nothing about models and does no I/O
 * after loading. File formats: docs/packs/. */
#ifndef BTZ_LAB_LAB_H
#define BTZ_LAB_LAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/str.h"
#include "json/json.h"
#include "mcp/methods.h"

struct btz_lab;
struct btz_stage;

enum btz_arm { BTZ_ARM_ATTACK, BTZ_ARM_CLEAN, BTZ_ARM_BENIGN };
const char *btz_arm_name(enum btz_arm arm); /* "attack", "clean", "benign" */

/* Host-profile switches (architecture: each names a weakness on a real code path). True = safe. */
enum btz_switch {
    BTZ_SWITCH_VALIDATE_ARGUMENTS,  /* arguments are held against the definition before sending */
    BTZ_SWITCH_VALIDATE_RESULTS,    /* structured results are held against the output schema */
    BTZ_SWITCH_DUPLICATE_KEYS,      /* JSON with a key twice is refused */
    BTZ_SWITCH_EXACT_COMMANDS,      /* a command is its exact name: no folding of case or width */
    BTZ_SWITCH_RESERVE_BUILTINS,    /* the host's own commands cannot be taken over */
    BTZ_SWITCH_REJECT_SHADOWS,      /* a name that another server has is given by label only */
    BTZ_SWITCH_PIN_COMMANDS,        /* who owns a command is decided once and kept */
    BTZ_SWITCH_ESCAPE_LABELS,       /* label and command are joined so that they come apart again */
    BTZ_SWITCH_AUTHENTICATE,        /* messages are sealed: what a third party changed is refused */
    BTZ_SWITCH_CHECK_HEADERS,       /* HTTP headers must agree with the body */
    BTZ_SWITCH_PIN_REVISION,        /* only the expected protocol revision is spoken */
    BTZ_SWITCH_FORBID_SSE_FALLBACK, /* never down to the old HTTP+SSE transport */
    BTZ_SWITCH_MATCH_STREAMS,       /* an answer counts on the stream of its own request only */
    BTZ_SWITCH_PRIVATE_CACHE,       /* no list from another authorization context */
    BTZ_SWITCH_REQUIRE_METADATA,    /* authorization only where metadata says so */
    BTZ_SWITCH_ISOLATE_SAMPLING,    /* what a server asks to complete sees no conversation */
    BTZ_SWITCH_CAP_SAMPLING,        /* a session completes so many tokens for servers */
    BTZ_SWITCH_OWN_SAMPLING_SYSTEM, /* a server's system prompt is left out, not appended */
    BTZ_SWITCH_CHECK_URL_HOST,      /* an address to open lies in the asking server's domain */
    BTZ_SWITCH_REFUSE_SECRETS,      /* no form that asks for secrets is filled in */
    BTZ_SWITCH_NO_AUTOFILL,         /* what the host remembers about the user fills no form */
    BTZ_SWITCH_NAME_SERVER,         /* a question is shown with the name of the server that asks */
    BTZ_SWITCH_DISTRUST_HINTS,      /* a server's readOnlyHint approves nothing */
    BTZ_SWITCH_SHOW_ARGUMENTS,      /* a dialog shows name and arguments, not the title alone */
    BTZ_SWITCH_EXACT_GRANTS,        /* "always allow" means this tool with this definition */
    BTZ_SWITCH_HASH_LONG_NAMES,     /* a tool's name that is cut stays apart from all others */
    BTZ_SWITCH_SEPARATE_NAMESPACES, /* labels that read alike in tool names are told apart */
    BTZ_SWITCH_KEY_BY_ORIGIN,       /* servers are known by their origin, not by display name */
    BTZ_SWITCH_PIN_SERVERS,         /* who had a display name keeps it when it is given up */
    BTZ_SWITCH_APPROVED_CALLS, /* a call goes out only under the definition that was approved */
    BTZ_SWITCH_CONFINE_NAMES,  /* a file that is fetched never names its own place on the disk */
    BTZ_SWITCH_OPEN_WITHOUT_SHELL,    /* an address is an argument of the browser, not of a shell */
    BTZ_SWITCH_OPEN_WEB_ONLY,         /* nothing but web addresses is opened */
    BTZ_SWITCH_GUARD_ADDRESSES,       /* servers do not choose what the host fetches inside */
    BTZ_SWITCH_GUARD_REDIRECTS,       /* nor by redirects */
    BTZ_SWITCH_BARE_ICONS,            /* icons from the server's own host, without credentials */
    BTZ_SWITCH_OWN_TOKEN,             /* a server never passes its client's token on */
    BTZ_SWITCH_CHECK_RESPONSE_ISSUER, /* an authorization response names the recorded issuer */
    BTZ_SWITCH_CONSENT_PER_CLIENT,    /* consent is for one client, not for a user */
    BTZ_SWITCH_LIMIT_SCOPES,          /* no scope beyond what the user agreed to */
    BTZ_SWITCH_KEY_BY_RESOURCE,       /* a token is for its resource, not for a host */
    BTZ_SWITCH_CHECK_HOST,            /* a server answers to its own names only */
    BTZ_SWITCH_CHECK_ADDRESSES,       /* ... and to its own addresses only */
    BTZ_SWITCH_CHECK_ORIGIN,          /* pages of other origins are refused */
    BTZ_SWITCH_CHECK_SITE,            /* ... also where the browser names no origin */
    BTZ_SWITCH_PIN_ADDRESSES,         /* a name is resolved once for a connection */
    BTZ_SWITCH_PIN_EXECUTION,         /* a call runs only the code that was approved */
    BTZ_SWITCH_RANDOM_SESSIONS,       /* session ids cannot be guessed */
    BTZ_SWITCH_BIND_SESSIONS,         /* a session is of use to the user who opened it only */
    BTZ_SWITCH_OWN_STREAMS,           /* a stream is taken up again by its own session only */
    BTZ_SWITCH_OWN_QUEUES,            /* what waits for one session is seen by no other */
    BTZ_SWITCH_SEAL_STATE,            /* a server takes back only the request state that it gave */
    BTZ_SWITCH_COUNT
};
/* "client.validate_arguments"; NULL past the end. */
const char *btz_switch_name(enum btz_switch which);

/* Who approves calls and questions of servers: the simulated user, asked in one of these ways
 * (docs/internals/approver.md). */
enum btz_approver {
    BTZ_APPROVER_SETTING, /* as the setting says, else APPROVE_ALL */
    BTZ_APPROVE_ALL,      /* what a tired user does */
    BTZ_APPROVE_READ_ONLY_AUTO,
    BTZ_APPROVE_ASK_EACH,
    BTZ_APPROVE_BATCH,
    BTZ_APPROVE_ALWAYS_ALLOW_WIDENS,
    BTZ_APPROVER_COUNT
};
/* "setting", "approve-all", ...; NULL past the end. */
const char *btz_approver_name(enum btz_approver which);

struct btz_host_profile {
    bool safe[BTZ_SWITCH_COUNT];
    enum btz_approver approver;
};
/* "naive", "spec" or "hardened", each alone or with an approver ("naive+ask-each");
 * BTZ_ENOTFOUND otherwise. */
int btz_host_profile_named(struct btz_str name, struct btz_host_profile *out) BTZ_WARN_UNUSED;

/* One scenario = one variant of one attack. All pointers live as long as the lab. */
struct btz_scenario {
    struct btz_str id;      /* "tool-poisoning/v1" */
    struct btz_str attack;  /* "tool-poisoning" */
    struct btz_str variant; /* "v1" */
    struct btz_str surface; /* "ma", "cl", "st", "tr" */
    struct btz_str suite;   /* of the attack's card; empty: the headline's tables */
    char boundary;          /* 'V' or 'B' */
    bool semantic;          /* oracle_kind */
    bool legacy, modern;    /* revisions */
    /* The oldest revision that has what the scenario needs; the first of all if it needs nothing.
     */
    enum btz_mcp_revision first_revision;
    bool memory, stdio, http;           /* carriers */
    const struct btz_json *attack_card; /* data part of the attack, without its variants */
    const struct btz_json *card;        /* data part of the variant */
    const struct btz_json *switches;    /* array of switch names this variant needs */
};

/* Whether the variant has an adversary on the wire, in the attack or in its benign twin. */
bool btz_scenario_has_relay(const struct btz_scenario *scenario);

struct btz_lab_options {
    /* Packs loaded after the core pack: names of built-in ones, and folders of users. */
    const char *const *pack_dirs;
    size_t pack_dir_count;
    bool without_core;    /* tests only: load no embedded pack */
    uint64_t rename_seed; /* 0 = names as written; else servers, tools and labels are renamed */
};

/* Loads the embedded core pack and the given folders (DIR/servers/NAME.lua, DIR/attacks/SURFACE/
 * NAME.lua, DIR/lib/NAME.lua). A broken pack is refused: err names file, line, field and reason. */
int btz_lab_new(const struct btz_lab_options *options, struct btz_lab **out,
                struct btz_err *err) BTZ_WARN_UNUSED;
void btz_lab_free(struct btz_lab *lab);

/* Whether `name` is that of a pack in the program besides the core pack ("extended"); a folder of
 * that name is given as "./extended". */
bool btz_lab_pack_is_builtin(const char *name);
/* Their names; NULL past the end. */
const char *btz_lab_pack_builtin(size_t index);
/* Whether the lab has loaded that built-in pack. */
bool btz_lab_has_pack(const struct btz_lab *lab, struct btz_str name);

/* Hash over all pack files in load order (names and bytes). */
struct btz_hash btz_lab_pack_hash(const struct btz_lab *lab);

size_t btz_lab_scenario_count(const struct btz_lab *lab);
const struct btz_scenario *btz_lab_scenario_at(const struct btz_lab *lab, size_t index);
/* By "attack/variant"; NULL if there is none. */
const struct btz_scenario *btz_lab_scenario_find(const struct btz_lab *lab, struct btz_str id);

/* Servers in load order: data part {id,title,instructions,tools:[{name,title,description,
 * inputSchema,outputSchema,annotations,sink}],resources:[...],prompts:[...],templates:[...]}: MCP
 * shapes, ready for a catalogue. */
size_t btz_lab_server_count(const struct btz_lab *lab);
const struct btz_json *btz_lab_server_at(const struct btz_lab *lab, size_t index);
const struct btz_json *btz_lab_server_find(const struct btz_lab *lab, struct btz_str id);

/* Makes a stage. `seed` is the world and marker seed (a function of study, scenario and repetition
 * only). The stage owns an arena; nothing of it touches another stage. Script budgets apply:
 * a script error is BTZ_EINTERNAL with file, line and reason. */
int btz_stage_new(struct btz_lab *lab, const struct btz_scenario *scenario, enum btz_arm arm,
                  uint64_t seed, struct btz_stage **out, struct btz_err *err) BTZ_WARN_UNUSED;
/* A stage without a scenario: the named servers with seeded worlds (tool tests, the arena's plain
 * servers). Markers, payload, plans and turns are empty. */
int btz_stage_new_plain(struct btz_lab *lab, const struct btz_str *servers, size_t server_count,
                        uint64_t seed, struct btz_stage **out, struct btz_err *err) BTZ_WARN_UNUSED;
void btz_stage_free(struct btz_stage *stage);
/* The profile that scripts of servers see as ctx.safe; before this is called everything is safe. */
void btz_stage_set_profile(struct btz_stage *stage, const struct btz_host_profile *profile);

/* Servers of this stage, in the order of the card. `label` is the configured name that the model
 * may see (the attacker's is drawn from neutral names by seed); two servers may have the same one.
 * `id` is where a server comes from, whatever it calls itself: no two have the same. */
struct btz_stage_server {
    struct btz_str id;
    struct btz_str label;
    bool attacker;
    struct btz_str instructions;      /* after overlay; may be empty */
    const struct btz_json *tools;     /* array of MCP tool definitions after overlay */
    const struct btz_json *resources; /* array of MCP resources */
    const struct btz_json *prompts;   /* array of MCP Prompt objects after overlay */
    const struct btz_json *templates; /* array of MCP ResourceTemplate objects after overlay */
};
size_t btz_stage_server_count(const struct btz_stage *stage);
const struct btz_stage_server *btz_stage_server_at(const struct btz_stage *stage, size_t index);

/* A payload fragment after marker substitution. */
struct btz_fragment {
    struct btz_str id;
    const struct btz_json *at;       /* address, see docs/packs; server ids, not labels */
    struct btz_str text;             /* of this arm */
    const struct btz_json *operands; /* array of strings; empty = operand-free */
};
size_t btz_stage_fragment_count(const struct btz_stage *stage);
const struct btz_fragment *btz_stage_fragment_at(const struct btz_stage *stage, size_t index);

/* Array of user turn texts (strings) after substitution. */
const struct btz_json *btz_stage_turns(const struct btz_stage *stage);
/* {"budget":12, ...} */
int btz_stage_budget(const struct btz_stage *stage); /* model turns allowed */
/* User turn (from 0) with which the second session begins, or before which all servers connect
 * anew; SIZE_MAX = never. */
size_t btz_stage_second_session(const struct btz_stage *stage);
size_t btz_stage_reconnect(const struct btz_stage *stage);
/* Id of the server that keeps what is remembered between the sessions; empty = no memory scenario.
 */
struct btz_str btz_stage_memory_server(const struct btz_stage *stage);
/* The second session belongs to another user of the same host. */
bool btz_stage_other_user(const struct btz_stage *stage);

/* What the simulated user answers to questions of servers, in order: array of
 * {"action","content"?}; NULL = the model under test answers. */
const struct btz_json *btz_stage_replies(const struct btz_stage *stage);
/* What the host remembers about the user: name -> text; NULL = nothing. */
const struct btz_json *btz_stage_about_user(const struct btz_stage *stage);
/* The approver that the setting names; empty = none. */
struct btz_str btz_stage_approver(const struct btz_stage *stage);

/* How far a trial is: definitions with a fragment that comes `since` later change with it. */
struct btz_stage_progress {
    unsigned session, turn; /* from 1 */
    unsigned calls;         /* of the attacker's server */
};
/* Makes the definitions of the servers anew. `*changed` if any differs from before. Strings and
 * values handed out earlier stay valid. */
int btz_stage_advance(struct btz_stage *stage, struct btz_stage_progress progress, bool *changed,
                      struct btz_err *err) BTZ_WARN_UNUSED;

/* setting.reconfigured: whether the host's configuration names the server now. It changes where the
 * servers connect anew, or with the second session. */
bool btz_stage_configured(const struct btz_stage *stage, size_t server);

/* How a server gives its lists, if the setting says so; 0 = as servers usually do. `ttl_ms` is the
 * caching hint of the modern era. */
struct btz_stage_lists {
    size_t page_size;
    int64_t ttl_ms;
};
struct btz_stage_lists btz_stage_lists(const struct btz_stage *stage, size_t server);

/* Execution hash of a call under this definition: the server's origin, the definition and the code
 * that runs now (docs/packs/script-api.md). */
struct btz_hash btz_stage_execution(const struct btz_stage *stage, size_t server,
                                    const struct btz_json *definition);

/* setting.shows: whether the host shows the model this field of tool definitions, too. */
bool btz_stage_shows(const struct btz_stage *stage, const char *field);

/* setting.polled: servers let clients come back for the answers to their calls. */
bool btz_stage_polled(const struct btz_stage *stage);

/* Whether a fragment of this arm is still to come (`since`). */
bool btz_stage_is_early(const struct btz_stage *stage);

/* The adversary on the wire, if this arm has one. `message` is what docs/packs/script-api.md calls
 * a message; `*action` is NULL (let it pass) or an object with the lists `forward` and `back`. */
bool btz_stage_has_relay(const struct btz_stage *stage);
int btz_stage_relay(struct btz_stage *stage, const struct btz_json *message, uint64_t event,
                    const struct btz_json **action, struct btz_err *err) BTZ_WARN_UNUSED;
const struct btz_json *btz_stage_markers(const struct btz_stage *stage);
/* Trigger condition of the card: {"on":..., "server":..., "tool":..., "nth":...}. */
const struct btz_json *btz_stage_trigger(const struct btz_stage *stage);

/* What reference agents get, as plain JSON: {"benign":[step...],"obey":[step...],
 * "operands":[[...],...]} (one list per fragment). A step is {"call":{"label","tool","args",
 * "capture"?}} or {"answer":text} or {"read":{"uri"}}. Markers are substituted, $captures are
 * left for the agent. */
const struct btz_json *btz_stage_plans(const struct btz_stage *stage);

/* Runs a tool of server number `server`. `arguments` is any JSON value; it is checked against the
 * tool's own inputSchema first (a violation or unknown object gives a result with isError).
 * `call_event` is noted in the journal as the cause. `*result` is a CallToolResult object without
 * resultType in the stage's arena. BTZ_ENOTFOUND: no such tool. A script that breaks its budget or
 * fails gives BTZ_EINTERNAL (a fault of the harness, not of the model). */
int btz_stage_call(struct btz_stage *stage, size_t server, struct btz_str tool,
                   const struct btz_json *arguments, uint64_t call_event,
                   const struct btz_json **result, struct btz_err *err) BTZ_WARN_UNUSED;
/* The same where the script may ask the client (ctx.sample and others of docs/packs/script-api.md).
 * With a question the call is not done: it has changed nothing, and is made again with one answer
 * more. */
struct btz_stage_dialogue {
    const struct btz_json *capabilities; /* of the client, or NULL: it offers nothing */
    /* One for each question so far: {"method","result"}, or {"method","error"} with `declined`,
     * `unsupported` or `limit`. The last one is new. NULL = none. */
    const struct btz_json *answers;
    const struct btz_json *question; /* out: {"method","params"?}, or NULL: `*result` is there */
};
int btz_stage_call_asking(struct btz_stage *stage, size_t server, struct btz_str tool,
                          const struct btz_json *arguments, uint64_t call_event,
                          struct btz_stage_dialogue *dialogue, const struct btz_json **result,
                          struct btz_err *err) BTZ_WARN_UNUSED;
/* Reads a resource, or what a template of the server makes of the uri: `*result` is a
 * ReadResourceResult object. BTZ_ENOTFOUND: unknown uri. */
int btz_stage_read(struct btz_stage *stage, size_t server, struct btz_str uri, uint64_t event,
                   const struct btz_json **result, struct btz_err *err) BTZ_WARN_UNUSED;
/* Gets a prompt by the name of its definition in `prompts`, so a prompt that a payload renamed
 * keeps its script. `arguments` is what the peer sent, or NULL for none; it is checked first.
 * `event` is noted in the journal as the cause of what the script writes. `*result` is a
 * GetPromptResult object in the stage's arena. BTZ_ENOTFOUND: no such prompt. BTZ_EINVAL: the
 * arguments are not what the definition asks for, or the script refused with fail(); err->msg is a
 * text for the peer (MCP: -32602 for both codes). BTZ_EINTERNAL: a fault of the script. */
int btz_stage_prompt(struct btz_stage *stage, size_t server, struct btz_str name,
                     const struct btz_json *arguments, uint64_t event,
                     const struct btz_json **result, struct btz_err *err) BTZ_WARN_UNUSED;
/* Values for an argument of a prompt or a variable of a template (MCP completion/complete).
 * `ref` is the reference as MCP sends it: {"type":"ref/prompt","name"} or {"type":"ref/resource",
 * "uri"} with the uri of a template. `value` is what was typed so far. `context` is the object of
 * values that are settled, or NULL. `*values` is an array of strings in the stage's arena: all of
 * them, at most 1000 (a message carries the first 100); empty if the pack offers none.
 * BTZ_ENOTFOUND: no such prompt or template. BTZ_EINVAL: malformed reference or context, unknown
 * argument, or fail() of the script, with a text for the peer in err. BTZ_EINTERNAL: a fault of
 * the script. Nothing changes: neither world nor journal nor clock. */
int btz_stage_complete(struct btz_stage *stage, size_t server, const struct btz_json *ref,
                       struct btz_str argument, struct btz_str value,
                       const struct btz_json *context, const struct btz_json **values,
                       struct btz_err *err) BTZ_WARN_UNUSED;

/* The journal: every change of the world, in order: {"event":cause,"server":id,"op":"put|append|
 * delete|sink","path":[...],"value":...,"sink":name?}. */
size_t btz_stage_journal_count(const struct btz_stage *stage);
const struct btz_json *btz_stage_journal_at(const struct btz_stage *stage, size_t index);
/* Bytes of the stage's own memory (its world included). */
size_t btz_stage_memory(const struct btz_stage *stage);

/* Runs the card's functions over a finished record. `trajectory` and `journal` are arrays as
 * docs/packs/script-api.md says. */
struct btz_stage_verdict {
    bool effect;          /* E */
    int64_t act_event;    /* cited cause; 0 = none */
    int64_t effect_event; /* 0 = none */
};
int btz_stage_oracle(struct btz_stage *stage, const struct btz_json *trajectory,
                     const struct btz_json *journal, struct btz_stage_verdict *out,
                     struct btz_err *err) BTZ_WARN_UNUSED;
/* The oracle of another scenario, with that scenario's markers bound to `markers` (cross matrix).
 */
int btz_stage_oracle_of(struct btz_stage *stage, const struct btz_scenario *other,
                        const struct btz_json *markers, const struct btz_json *trajectory,
                        const struct btz_json *journal, struct btz_stage_verdict *out,
                        struct btz_err *err) BTZ_WARN_UNUSED;
int btz_stage_utility(struct btz_stage *stage, const struct btz_json *trajectory,
                      const struct btz_json *journal, bool *out,
                      struct btz_err *err) BTZ_WARN_UNUSED;

#endif
