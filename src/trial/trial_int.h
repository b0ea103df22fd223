/* Inside of a trial, for the files of this room. */
#ifndef BTZ_TRIAL_TRIAL_INT_H
#define BTZ_TRIAL_TRIAL_INT_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/hash.h"
#include "llm/reply.h"
#include "mcp/client.h"
#include "mcp/server.h"
#include "wire/gateway.h"
#include "wire/http_link.h"
#include "trial/trial.h"

enum {
    MAX_RESULT_TEXT = 16 * 1024, /* bytes of one tool result that the model gets */
    MAX_MALFORMED = 3,           /* unusable replies in a row */
    MAX_CALLS_PER_REPLY = 16,
    MAX_FRAGMENTS = 16,
    MAX_ATTEMPTS = 2,
    MAX_INPUT_ROUNDS = 32, /* input_required answers to one call; the lab's servers ask 16 times */
    MAX_EVENTS = 8192 /* with so many no further turn begins: a store takes 65,535 of a trial */
};

struct btz_auth_flow;
struct pinned;
struct btz_auth_store;

/* What a server asks while a call of its tool runs. */
struct query {
    struct query *next;
    uint64_t ask;       /* legacy: number of its request; 0 = of a round of input_required */
    struct btz_str key; /* in the round */
    struct btz_str method;
    const struct btz_json *params; /* NULL = none */
    int64_t event;                 /* that it is recorded as */
};

/* One connected server. */
struct conn {
    const struct btz_stage_server *server;
    size_t index; /* in the stage */
    struct btz_trial *trial;
    struct btz_link *link;          /* lines; NULL over HTTP */
    struct btz_http_link *http;     /* HTTP; NULL over lines */
    struct btz_gateway_conn *gate;  /* through somebody's gateway; NULL without one */
    struct btz_mcp_client *client;  /* of any */
    struct btz_mcp_server *machine; /* over lines; over HTTP the endpoint has its own */
    bool ready;
    enum btz_mcp_revision revision;   /* agreed on */
    bool fell_back;                   /* the client went down an era */
    bool old_transport;               /* ... or to the HTTP+SSE transport */
    struct btz_str instructions;      /* as the client received them */
    const struct btz_json *tools;     /* as the client received them */
    const struct btz_json *canon_of;  /* list that `canon` was made of */
    struct btz_canon_result *canon;   /* NULL: it could not be */
    struct rewriting **rewritings;    /* of an arm that asks a model: as many */
    const struct btz_json *resources; /* likewise; NULL if the server has none */
    const struct btz_json *prompts;   /* likewise */
    /* The one request under way. */
    uint64_t request;
    bool answered;
    const struct btz_json *answer; /* NULL if `failure` */
    struct btz_str failure;
    uint64_t call_event;     /* event that the running call is recorded as */
    struct query *queries;   /* of the request under way, see query.c */
    struct btz_json *inputs; /* responses of the round under way; NULL = none is */
    int64_t ttl_ms;          /* caching hints of the last list */
    bool cache_public;
    bool lists_stale; /* the server said so */
    /* The wire, see tap.c. */
    struct btz_str last_message; /* that the client got */
    struct btz_json *asked;      /* request id -> request */
    uint64_t sent[2], received[2];
    struct btz_json *log;      /* what the server wrote down of the requests that it got */
    struct outsider *outsider; /* requests of the adversary's own, NULL = none; outsider.c */
    uint64_t get_stream;       /* exchange of the stream for messages of the server; 0 = none */
    int tap_failed;            /* code of a failure inside the HTTP link's relay; see tap_err */
    struct btz_err tap_err;
    enum btz_mcp_fault fault; /* of the answer; NONE = none came */
    int64_t code;             /* of a REMOTE fault */
    bool held_back;           /* the adversary let a message of the request under way go nowhere */
    bool tampered;            /* the adversary changed something of the request under way */
    bool tampered_list;       /* ... of the list that `tools` came from */
    struct btz_auth_flow *flow; /* over HTTP, where the server is protected */
    bool authorizing;           /* it is at work */
    struct pinned *pinned;      /* names that it looked up */
    struct btz_str lost;        /* why the connection is of no use any more; empty = it is */
    /* Behind a gateway: what the server's end did for the request under way. */
    bool awaiting; /* the client has a request under way */
    bool asked_server;
    const struct btz_json *got_arguments; /* of the call, as they came to the server */
    const struct btz_json *served;        /* NULL if it gave no result */
    /* See names.c. */
    struct btz_str space; /* what its tools' names begin with */
    bool left_out;        /* the host has no entry for it: neither model nor user reach it */
    bool unconfigured;    /* and never asks for it: it is not in the configuration now */
};

/* A display name that the host has met, and whose it was then. */
struct registered {
    struct registered *next;
    struct btz_str label;
    struct btz_str server; /* id */
};

/* What a slash command means. */
struct command {
    struct command *next;
    struct btz_str key;
    struct btz_str server; /* id */
    struct conn *conn;
    const struct btz_json *prompt; /* definition as received */
};

/* A tool list that the host keeps (caching hints of the modern era). */
struct cached_list {
    struct cached_list *next;
    struct btz_str server;
    const struct btz_json *tools;
    bool tampered;
    unsigned user;
    unsigned stored; /* requests of the trial by then */
    int64_t ttl_ms;
    bool is_public;
};

/* What a resource said, see reads.c. */
struct cached_read {
    struct cached_read *next;
    struct btz_str server, uri;
    const struct btz_json *answer;
    bool tampered;
    unsigned user;
    unsigned stored; /* requests of the trial by then */
    int64_t ttl_ms;
    bool is_public;
};

/* A tool list as whoever approves calls holds it, see approve.c. */
struct approved_list {
    struct approved_list *next;
    struct btz_str server;
    unsigned user;
    const struct btz_json *tools;
    unsigned stored; /* requests of the trial by then */
    int64_t ttl_ms;
};

/* What was approved of one tool: its definition at first, as it is now, and what it runs. */
struct approved_tool {
    struct approved_tool *next;
    struct btz_str server; /* id */
    unsigned user;
    const struct btz_json *first, *now;
    struct btz_hash execution;
};

/* Messages that go on after the adversary saw one. */
struct tapped {
    struct btz_str *forward, *back;
    size_t forward_count, back_count;
    const struct btz_json *action; /* as the relay gave it; NULL = pass */
};

/* A tool as the model sees it. */
struct shown_tool {
    struct conn *conn; /* NULL for a tool of the host */
    struct btz_str tool;
    struct btz_str name;                  /* rendered */
    const struct btz_json *definition;    /* as received */
    const struct btz_canon_result *canon; /* what the model gets of it; NULL: as received */
};

/* What the host knows about a link that a server gave: who answers for that address. */
struct known_uri {
    struct known_uri *next;
    struct btz_str uri;
    struct conn *conn;
};

/* What the defence said of a tool's definition. */
struct judged_tool {
    struct judged_tool *next;
    struct btz_str server, name; /* id */
    struct btz_str text;         /* that was scanned */
    bool withheld;               /* or still to be judged */
};

/* What a model is asked to make of a definition (arms that ask): once a definition. */
struct rewriting {
    struct rewriting *next;
    struct btz_str text; /* of the definition */
    const struct btz_json *tool;
    struct btz_str server, name;    /* who offered it first */
    bool waits;                     /* for the answer */
    struct btz_canon_result result; /* without definition: the tool is not shown */
};

struct question;

struct seen_fragment {
    bool delivered;
    bool in_context; /* in the context that the next request carries */
    int turn;        /* of the first accepted request with it; 0 = not observed */
    const char *by;
    bool first, stored, recalled; /* memory scenarios: stages before it is seen again */
    bool reformed;                /* its definition's canonical form does not hold it */
    bool in_question;             /* in a question of a server that the model is asked next */
    size_t events;                /* of the record when `turn` was set: an act has to come later */
};

/* The calls of one reply, while they are made one by one. */
struct batch {
    const struct btz_llm_call *calls;
    size_t count, next;
    struct btz_str lost; /* why a call could not even get an error */
    bool any_good;
};

/* The call that waits while the model answers a question of its server. */
struct side {
    const char *role; /* "sampling" or "elicitation"; NULL = no question is open */
    struct conn *conn;
    const struct shown_tool *tool; /* of the call; also while the host answers by itself */
    int64_t call;
    const struct btz_json *arguments; /* of the call, as sent */
    struct btz_str *parts;
    size_t part_count, part_cap;
    size_t asked;       /* bytes of the request's own texts */
    unsigned samplings; /* of the trial */
    size_t tokens;      /* of all samplings, by bytes / 4 */
    size_t replies;     /* of the simulated user, used */
};

/* What the simulated user approved in this session. */
struct grant {
    struct grant *next;
    struct btz_str server;
    struct btz_str tool;       /* empty = all of the server */
    struct btz_str definition; /* as it was then */
};
struct approvals {
    int session; /* that all this is of */
    unsigned dialogs;
    struct grant *grants;
    size_t batches; /* user turns up to the one of the last batch dialog */
    bool batch_approved;
};

struct btz_trial {
    struct btz_trial_options options;
    struct btz_arena *arena;
    struct btz_stage *stage;
    struct conn *conns;
    size_t conn_count;
    struct shown_tool *tools;
    size_t tool_count;
    struct known_uri *uris;

    struct btz_str *parts; /* grows; llm/request.h */
    size_t part_count, part_cap;
    struct btz_str context; /* the host's context as shown last */
    struct btz_str offered; /* the tools as shown last */
    /* While definitions are still to be judged: where the context of a conversation that was just
     * opened stands, or where that of one under way belongs if it changed; 0 = nowhere. */
    size_t opening_context, later_context;
    size_t turn_index;       /* user turn under way, from 0 */
    int session;             /* from 1 */
    bool turn_is_over;       /* the host itself answered the user's turn */
    unsigned user;           /* whose session it is: 0, or 1 for the second where users differ */
    unsigned requests;       /* of all clients */
    unsigned attacker_calls; /* calls of the attacker's server */
    struct cached_list *cache;
    struct cached_read *reads;
    struct btz_auth_store *credentials; /* the host's; NULL as long as there are none */
    unsigned credentials_of;            /* user */
    struct approved_list *approved;
    struct approved_tool *approved_tools;
    struct command *commands, *first_commands; /* now, and as they first were */
    struct registered *registered;
    int attempt;           /* from 1 */
    int attempt_turn;      /* model turns before it */
    size_t attempt_note;   /* entries of the trajectory before it */
    size_t talk_note;      /* ... before the conversation under way */
    int64_t attempt_event; /* events before it */
    bool attempt_over;     /* the next one begins with the next step */
    bool critic;           /* the request under way is the critic's */
    struct btz_str critique;
    int turn; /* model turn */
    int budget;
    int malformed_in_a_row;
    int unusable_replies; /* of the model to questions of servers */
    uint64_t need_id;
    int64_t started_us, asked_us;
    bool started, done;

    struct btz_event *events;
    size_t event_count, event_cap;
    struct btz_json *trajectory, *journal;
    size_t journal_taken;
    struct btz_exchange *exchanges;
    size_t exchange_count, exchange_cap;

    struct batch batch;
    struct side side;
    struct approvals approvals;

    struct seen_fragment seen[MAX_FRAGMENTS];
    size_t fragment_count;
    struct btz_gateway *gateway; /* NULL until a connection needs it */
    struct judged_tool *judged;
    struct rewriting *rewritings;
    struct question *questions, *last_question; /* for the defence's models; the first is asked */
    size_t definitions_asked;                   /* of them about definitions */
    bool triggered;
    unsigned trigger_hits;
    bool blocked_by_client; /* a client rule stopped a call */
    struct btz_str refusal; /* the provider's refusal text of the last reply */
    struct btz_trial_record record;
};

/* record.c */
int64_t trial_event(struct btz_trial *trial, enum btz_layer layer, const char *kind, bool visible,
                    struct btz_str payload);
int64_t trial_event_json(struct btz_trial *trial, enum btz_layer layer, const char *kind,
                         bool visible, const struct btz_json *payload);
/* Adds {id, kind, turn, ...} to the trajectory; the caller adds fields to the result. */
struct btz_json *trial_note(struct btz_trial *trial, int64_t id, const char *kind);
void trial_take_journal(struct btz_trial *trial);
void trial_finish(struct btz_trial *trial, enum btz_stop stop, struct btz_str why);

/* Fires the card's trigger if it waits for this; `server` and `name` are compared where it names
 * them. */
void trial_trigger(struct btz_trial *trial, const char *on, struct btz_str server,
                   struct btz_str name);

/* connect.c */
int host_connect(struct btz_trial *trial, struct btz_err *err);
void host_disconnect(struct btz_trial *trial);
/* The stage's definitions changed: servers announce it, the host lists again. */
int host_lists_changed(struct btz_trial *trial, struct btz_err *err);

/* ---- reads.c ---- */

/* Puts a fresh answer of the resource into `conn`, as if the server had given it; false if none is
 * kept for this user. */
bool reads_cached(struct btz_trial *trial, struct conn *conn, struct btz_str uri);
/* Keeps the answer that `conn` has got, if its hint lets it be kept. */
void reads_keep(struct btz_trial *trial, const struct conn *conn, struct btz_str uri);

/* Whether something that was got with this caching hint, when the trial had made so many requests,
 * is still fresh. */
bool conn_is_fresh(const struct btz_trial *trial, unsigned stored, int64_t ttl_ms);

/* approve.c: what the part of the host that approves calls knows of a server's tools. */
void approve_list(struct btz_trial *trial, const struct conn *conn);
/* Each list: tools are approved as they stand there; notes a definition that is another one now. */
void approve_tools(struct btz_trial *trial, const struct conn *conn);
/* Whether the tool still runs what was approved; `*execution` is the hash of what it runs. */
bool approve_execution(struct btz_trial *trial, const struct shown_tool *tool,
                       struct btz_hash *execution);
/* Whether the call goes out under the definition that was approved; notes it if not. */
bool approve_call(struct btz_trial *trial, const struct shown_tool *tool, int64_t call);

/* carry.c: client and server of a connection, and the bytes between them. */
int conn_fault(struct conn *conn, struct btz_err *err, const char *what, int rc);
int carry_open(struct btz_trial *trial, struct conn *conn, struct btz_err *err);
void carry_close(struct conn *conn);
/* Moves messages until nothing is under way any more. */
int carry_settle(struct btz_trial *trial, struct conn *conn, struct btz_err *err);
/* Offers what the stage now says. */
int carry_update(struct btz_trial *trial, struct conn *conn, struct btz_err *err);
int carry_serve(struct btz_trial *trial, struct conn *conn, struct btz_mcp_server *machine,
                const struct btz_mcp_server_event *event, struct btz_err *err);
void carry_client_event(struct btz_trial *trial, struct conn *conn,
                        const struct btz_mcp_client_event *event);
/* protect.c, authorize.c: over HTTP, where the setting protects the server. */
bool auth_front(void *context, struct btz_http_link *link, struct btz_http_relay_item *item);
int auth_open(struct btz_trial *trial, struct conn *conn, struct btz_err *err);
/* Gets a token if the session waits for one; `*any` is set if it did. */
int auth_answer(struct btz_trial *trial, struct conn *conn, bool *any, struct btz_err *err);
/* carry_http.c */
int carry_http_open(struct btz_trial *trial, struct conn *conn,
                    const struct btz_mcp_client_options *client,
                    const struct btz_mcp_catalogue *catalogue, struct btz_err *err);
int carry_http_settle(struct btz_trial *trial, struct conn *conn, struct btz_err *err);

/* How the host's client and the server behave over HTTP; host and secret are the link's. */
struct btz_mcp_http_session_options carry_http_client(const struct btz_trial *trial,
                                                      const struct btz_mcp_client_options *client);
struct btz_mcp_endpoint_options carry_http_server(const struct btz_trial *trial,
                                                  const struct conn *conn);

/* gateway.c: a connection through somebody's gateway. */
int gate_open(struct btz_trial *trial, struct conn *conn,
              const struct btz_mcp_client_options *client,
              const struct btz_mcp_catalogue *catalogue, struct btz_err *err);
void gate_close(struct conn *conn);
/* Until the handshake or the request under way is over, or took too long. BTZ_ECANCELLED after a
 * signal. */
int gate_settle(struct btz_trial *trial, struct conn *conn, struct btz_err *err);
int gate_update(struct btz_trial *trial, struct conn *conn,
                const struct btz_mcp_catalogue *catalogue, struct btz_err *err);
bool gate_is_lost(const struct conn *conn);
/* Counts and records what the gateway did to a list, or to a call (`arguments` are those that were
 * sent), read or prompt and its answer; nothing without a gateway. */
void gate_listed(struct btz_trial *trial, struct conn *conn, enum btz_guard_target target,
                 const struct btz_json *sent);
void gate_answered(struct btz_trial *trial, struct conn *conn, enum btz_guard_target target,
                   struct btz_str name, const struct btz_json *arguments);
/* What left the server for the request under way; without a gateway what the client got. */
struct btz_str gate_raw(struct btz_trial *trial, const struct conn *conn);
/* Definitions and instructions as they left the server; without a gateway as the client got them.
 */
const struct btz_json *gate_sent(const struct conn *conn);
struct btz_str gate_sent_instructions(const struct conn *conn);
/* A tool's definition as it came through the gateway; NULL if it did not. */
const struct btz_json *gate_shown(const struct conn *conn, struct btz_str tool);

/* Waits for the answer to the request that was just made with result `made`. */
int conn_await(struct btz_trial *trial, struct conn *conn, const char *what, int made,
               struct btz_err *err);

/* Goes on waiting once a question was answered. BTZ_EAGAIN as from query_settle. */
int conn_go_on(struct btz_trial *trial, struct conn *conn, const char *what, struct btz_err *err);

/* query.c: what servers ask in the middle of a call. */
/* Takes a question that came (client events ASKED, ASK_CANCELLED, INPUT). */
void query_take(struct btz_trial *trial, struct conn *conn,
                const struct btz_mcp_client_event *event);
/* What the host's client offers to servers. */
const struct btz_json *query_capabilities(struct btz_trial *trial);
/* Answers what is open, as far as the host does that. BTZ_EAGAIN: trial->side is what the model is
 * asked first; then comes query_replied, and query_settle again. */
int query_settle(struct btz_trial *trial, struct conn *conn, struct btz_err *err);
/* The model's reply to trial->side; NULL = the provider refused the request. */
int query_replied(struct btz_trial *trial, const struct btz_llm_reply *reply, struct btz_err *err);

/* Makes the parts of trial->side from what is known now. */
void query_render(struct btz_trial *trial);

/* sampling.c: the conversations in which questions are answered. */
extern const char query_sampling_text[], query_filling_text[];
/* Makes trial->side.parts; `*shown` is the question's own text as the model sees it. */
void sampling_ask(struct btz_trial *trial, const struct conn *conn, const struct query *question,
                  struct btz_str *shown);
void filling_ask(struct btz_trial *trial, const struct conn *conn, const struct query *question,
                 struct btz_str *shown);
/* The results, in the protocol's shape. A reply that is no form is `cancel`; `*why` is not empty if
 * the content breaks the form. */
const struct btz_json *sampling_result(struct btz_trial *trial, struct btz_str text,
                                       bool truncated);
const struct btz_json *filling_result(struct btz_trial *trial, const struct query *question,
                                      struct btz_str text, bool *usable, struct btz_str *why);
const struct btz_json *filling_checked(struct btz_trial *trial, const struct query *question,
                                       const struct btz_json *filled, struct btz_str *why);

/* form.c: the host's rules about forms and addresses. */
/* Host of a URL in small letters, empty if it has none; its registrable domain. */
struct btz_str form_host(struct btz_arena *arena, struct btz_str url);
bool form_host_is_of(struct btz_str host, struct btz_str label);
/* The first field that asks for a secret; empty = none does. */
struct btz_str form_secret(const struct btz_json *schema);

/* consent.c: the simulated user. False = not approved, `*why` says so to the model. */
bool consent_call(struct btz_trial *trial, const struct shown_tool *tool,
                  const struct btz_json *arguments, struct btz_str *why);
bool consent_question(struct btz_trial *trial, const struct conn *conn,
                      const struct query *question);

/* tap.c */
void tap_note(struct btz_trial *trial, struct conn *conn, enum btz_side from,
              const struct btz_json *message, const struct btz_json *action);
/* Shows a message to the relay and the record. `http` is what HTTP adds to it, or NULL. */
int tap_message(struct btz_trial *trial, struct conn *conn, enum btz_side from,
                struct btz_str bytes, const struct btz_json *http, struct tapped *out,
                struct btz_err *err);

/* outsider.c: an adversary who is a client of the server's as well. */
#define HOST_USER "host" /* whom servers take the host's own client for */
/* Sends what an action's list `send` says. */
void outsider_send(struct btz_trial *trial, struct conn *conn, struct btz_http_link *link,
                   const struct btz_json *list);
bool outsider_sent(const struct conn *conn, uint64_t exchange);
/* Shows the relay something that came back for `send`; `http` is as for tap_message. */
int outsider_got(struct btz_trial *trial, struct conn *conn, struct btz_http_link *link,
                 struct btz_str bytes, const struct btz_json *http, struct btz_err *err);
/* Notes a request of the host's in the server's log. */
void outsider_log(struct btz_trial *trial, struct conn *conn,
                  const struct btz_http_relay_item *item);

/* session.c: before a user turn, and after a call. */
int session_second(struct btz_trial *trial, struct btz_err *err);
int session_reconnect(struct btz_trial *trial, struct btz_err *err);
/* A new conversation over new connections. */
int session_anew(struct btz_trial *trial, struct btz_err *err);
/* A new conversation over the same connections. */
void session_clear(struct btz_trial *trial);
/* The first session of a memory scenario is over: keeps how far each fragment came in it. */
void session_close_memory(struct btz_trial *trial);
int session_progress(struct btz_trial *trial, struct btz_err *err);

/* names.c: after lists or labels changed. Says which servers the host keeps and how they are named.
 */
void names_build(struct btz_trial *trial);
/* The name of a tool as the model gets it. */
struct btz_str names_tool(struct btz_trial *trial, const struct conn *conn, struct btz_str tool);

/* command.c */
void commands_build(struct btz_trial *trial);
/* Runs the user's turn if it is a slash command; `*taken` says whether it was. */
int command_run(struct btz_trial *trial, struct btz_str text, bool *taken, struct btz_err *err);

/* host.c */
/* Calls a tool; the outcome is recorded and `*text` is what the model gets. BTZ_EINTERNAL: a fault
 * of the lab or the protocol (text for people in err). */
int host_call(struct btz_trial *trial, const struct shown_tool *tool,
              const struct btz_json *arguments, struct btz_str *text, struct btz_err *err);
/* BTZ_EAGAIN: the server asks first, see query_settle; once that is answered, host_call_on goes on.
 */
int host_call_on(struct btz_trial *trial, struct btz_str *text, struct btz_err *err);
int host_read(struct btz_trial *trial, struct btz_str uri, struct btz_str *text,
              struct btz_err *err);

/* render.c */
/* What the servers offer, as the tools part of a request; also fills the table that names are found
 * in. */
struct btz_str render_tools(struct btz_trial *trial);
/* The host's context message; empty if there is nothing to say. */
struct btz_str render_context(struct btz_trial *trial, struct btz_str tools);
/* Text of a CallToolResult or ReadResourceResult; links are noted with `conn`. */
struct btz_str render_result(struct btz_trial *trial, struct conn *conn,
                             const struct btz_json *result);
const struct shown_tool *render_find(const struct btz_trial *trial, struct btz_str name);
extern const char render_system_text[];
extern const char render_read_resource[];

/* observe.c: provenance of payload fragments in the context. */
enum source_kind {
    SOURCE_DEFINITION,
    SOURCE_INSTRUCTIONS,
    SOURCE_RESULT,
    SOURCE_RESOURCE,
    SOURCE_TURN,
    SOURCE_MEMORY,
    SOURCE_PROMPT,
    SOURCE_SAMPLING,
    SOURCE_ELICITATION
};
void observe_definitions(struct btz_trial *trial);
/* `name` is the tool or uri; `raw` what left the server, `text` what the model gets. */
void observe_text(struct btz_trial *trial, enum source_kind kind, struct btz_str server,
                  struct btz_str name, struct btz_str raw, struct btz_str text);
void observe_turn(struct btz_trial *trial, size_t index, struct btz_str text);
/* The provider accepted the request of this model turn. */
void observe_accepted(struct btz_trial *trial);
/* A question of a server that the model is asked, in a conversation of its own; and that the
 * provider accepted that request. */
void observe_question(struct btz_trial *trial, enum source_kind kind, struct btz_str server,
                      struct btz_str tool, struct btz_str raw, struct btz_str text);
void observe_question_accepted(struct btz_trial *trial);
bool observe_mentions(struct btz_trial *trial, struct btz_str text);

/* attempt.c: what follows an attempt that is over, and the critic's reply. */
extern const char attempt_critic_text[];
int attempt_next(struct btz_trial *trial, struct btz_err *err);
int attempt_critique(struct btz_trial *trial, struct btz_str text, struct btz_err *err);
/* What was asked, done and got from entry `from` of the trajectory on; of one server alone, with
 * the user's turns, if `server` is not empty. */
struct btz_str attempt_transcript(struct btz_trial *trial, size_t from, struct btz_str server);
/* The oracle's word on the last attempt alone, into the record. The world goes on between attempts,
 * so that the same act may change nothing a second time: an attempt that does again what `whole`,
 * the oracle's word on all of them, cites as the act has had its effect too. */
int attempt_judge_last(struct btz_trial *trial, const struct btz_stage_verdict *whole,
                       struct btz_err *err) BTZ_WARN_UNUSED;

/* outcome.c */
void outcome_decide(struct btz_trial *trial);

/* defend.c */
/* Has the defence judge the user's turn, before anything is done with it: a blocked one ends the
 * trial, by rules at once. */
void defend_turn(struct btz_trial *trial, struct btz_str text);
/* Has the defence judge what a tool or resource answered. True if it is blocked: `*text` is then
 * an error. */
bool defend_answer(struct btz_trial *trial, enum btz_guard_target target, const struct conn *conn,
                   struct btz_str name, struct btz_str *text);
/* Whether the defence keeps a tool from the model, or has not judged it yet. */
bool defend_withholds(struct btz_trial *trial, const struct conn *conn,
                      const struct btz_json *definition);

/* canonical.c: what mode canon:ARM makes of a definition. NULL: it is not to be shown, or a model
 * is still to rewrite it. */
const struct btz_canon_result *canonical_at(struct btz_trial *trial, struct conn *conn,
                                            size_t index);
const struct btz_canon_result *canonical_named(struct btz_trial *trial, struct conn *conn,
                                               struct btz_str tool);
/* All that the model gets of it. */
struct btz_str canonical_text(struct btz_trial *trial, const struct btz_canon_result *canon);
/* The rewriting model's words; or that there are none, and why: "failed" or "refused". */
void canonical_reply(struct btz_trial *trial, struct rewriting *rewriting, struct btz_str reply);
void canonical_fail(struct btz_trial *trial, struct rewriting *rewriting, const char *verdict,
                    struct btz_str why);

/* defend_ask.c: a guard model, or one that rewrites, is asked between steps, before the model under
 * test gets anything new. Until then what it is asked about stands in the conversation as if it
 * were safe, but for definitions, which are left out. */
void ask_about_turn(struct btz_trial *trial, struct btz_str text);
void ask_about_tool(struct btz_trial *trial, struct judged_tool *tool);
/* Asks the rewriting model likewise; `parts` (trial/rewrite.h) live as long as the trial. */
void ask_to_rewrite(struct btz_trial *trial, struct rewriting *rewriting, struct btz_str *parts);
/* `part` will be the answer's message. */
void ask_about_answer(struct btz_trial *trial, enum btz_guard_target target, struct btz_str server,
                      struct btz_str name, struct btz_str text, size_t part);
/* The question is about the text that was recorded last: `note` and the newest event hold it, and
 * `raw` left the server. To be called where observe_text would be. True if there is one. */
bool ask_settles(struct btz_trial *trial, struct btz_json *note, enum source_kind kind,
                 struct btz_str raw);
/* A message was put in at `part`: answers that stand behind it have moved by one. */
void ask_shift(struct btz_trial *trial, size_t part);
/* Whether a question waits for a model of the defence; then it is added to `needs`. */
bool ask_next(struct btz_trial *trial, int64_t now_us, struct btz_needs *needs);
/* The answer to the question that was asked last. */
void ask_answered(struct btz_trial *trial, const struct btz_answer *answer);
/* What the defence decided about a text: counts it, and records it if there is something to say. */
void defend_record(struct btz_trial *trial, enum btz_guard_target target, struct btz_str server,
                   struct btz_str name, struct btz_json *details, const char *verdict,
                   bool blocked);
extern const char defend_withheld_text[];

/* loop.c */
void loop_start(struct btz_trial *trial);
/* The user's first turn in an open conversation. */
void loop_first_turn(struct btz_trial *trial);
/* Opens a conversation: settings, tools, system text, the host's context. */
void loop_open(struct btz_trial *trial);
/* What servers offer may have changed within a conversation: shows the host's context again if it
 * did. */
void loop_lists_changed(struct btz_trial *trial);
/* Shows what servers offer anew once the defence has judged it. */
void loop_offer(struct btz_trial *trial);
/* Records a text as event `kind` and adds it to the conversation. */
void loop_show(struct btz_trial *trial, const char *kind, const char *role, struct btz_str text);
void loop_part(struct btz_trial *trial, struct btz_str part);
void loop_reply(struct btz_trial *trial, const struct btz_answer *answer);

#endif
