/* Inside the lab room: what is loaded and what a stage is made of, for its sources. */
#ifndef BTZ_LAB_LAB_INT_H
#define BTZ_LAB_LAB_INT_H

#include "base/hash.h"
#include "base/rng.h"
#include "lab/lab.h"
#include "lab/tokens.h"
#include "lab/web.h"
#include "lua/host.h"
#include "schema/schema.h"

/* Where a constructor was called: `path` is the RFC 6901 pointer of its table in the data. */
struct place {
    struct btz_str path;
    unsigned line;
};

struct script_function {
    struct btz_str path;
    int ref;
};

/* A loaded file: its data part, its functions, and where its constructors stand. */
struct script {
    struct btz_str name;    /* as messages call the file */
    struct btz_hash digest; /* of its bytes */
    const struct btz_json *data;
    struct place *places;
    size_t place_count;
    struct script_function *functions;
    size_t function_count;
    int group; /* of btz_lua_seal */
};

struct pack_file {
    struct btz_str name;  /* below the pack's folder: "servers/mailroom.lua" */
    struct btz_str shown; /* as messages call it */
    struct btz_str bytes;
    int module; /* of lib files: reference of what it returned, BTZ_LUA_NONE = not loaded */
    bool loading;
};

struct pack {
    const char *builtin;     /* name of one in the program that was asked for; NULL */
    struct pack_file *files; /* by name */
    size_t count;
};

struct tool {
    struct btz_str name;               /* as written */
    struct btz_str shown;              /* as the model may see it */
    const struct btz_json *definition; /* MCP shape, names as the model may see them */
    int handler;
    bool unchecked; /* the server takes arguments as they come: a weakness of that server */
    bool asks;      /* its handler may ask the client */
    struct btz_schema *input;
    struct btz_schema *output; /* NULL if there is none */
};

struct resource {
    struct btz_str uri;
    const struct btz_json *definition;
    int read;
};

struct prompt_argument {
    struct btz_str name; /* as written, for the script */
    int complete;        /* function or BTZ_LUA_NONE */
};

struct prompt {
    struct btz_str name;               /* as written */
    struct btz_str shown;              /* as the model may see it */
    const struct btz_json *definition; /* MCP shape */
    int get;
    struct prompt_argument *arguments; /* in the order of the definition */
    size_t argument_count;
};

/* What stands between two slashes of a template: a text, or one variable with text around it. */
struct template_segment {
    struct btz_str before; /* the whole segment if there is no variable */
    struct btz_str variable;
    struct btz_str after;
    int complete; /* function or BTZ_LUA_NONE */
};

struct template
{
    struct btz_str uri;
    const struct btz_json *definition; /* MCP shape */
    int read;
    struct template_segment *segments;
    size_t segment_count;
};

struct server {
    struct btz_str id;
    struct btz_str label; /* the id, or its new name */
    struct script *script;
    const struct btz_json *shown; /* for btz_lab_server_at */
    struct btz_str instructions;
    const struct btz_json *base; /* object */
    const struct btz_json *tools_json;
    struct tool *tools;
    size_t tool_count;
    struct resource *resources;
    size_t resource_count;
    const struct btz_json *prompts_json;
    struct prompt *prompts;
    size_t prompt_count;
    const struct btz_json *templates_json;
    struct template *templates;
    size_t template_count;
    int seed; /* function or BTZ_LUA_NONE */
};

/* setting.clones: a second server that runs a server's script, over a world part of its own. */
struct clone {
    struct server *server, *of;
};

struct variant {
    struct btz_scenario pub; /* first: a scenario is its variant */
    struct clone *clones;
    size_t clone_count;
    struct script *script;
    struct btz_str path; /* of the variant in the script's data */
    int seed, utility, oracle;
    int clean_utility, benign_utility; /* BTZ_LUA_NONE = as `utility` */
    int relay, benign_relay;           /* BTZ_LUA_NONE = nobody on the wire */
    int ask;                           /* BTZ_LUA_NONE = servers ask what their scripts ask */
    int site;                          /* hosts of the web; BTZ_LUA_NONE = there are none */
    int handler;                       /* what a tool does once its code was changed, or NONE */
};

struct attack {
    struct btz_str id;
    struct script *script;
};

/* A file with more variants of an attack. */
struct extension {
    struct btz_str attack;
    struct btz_str folder; /* its surface's */
    struct script *script;
    bool used;
};

enum { BTZ_LAB_SEEDED_BUCKETS = 256 };

struct btz_lab {
    struct btz_arena *arena;
    struct btz_arena *scratch; /* for C functions between two steps of a script */
    struct btz_lua *lua;
    struct btz_hash hash;
    uint64_t rename_seed;
    unsigned marker_shape;
    struct btz_str *renamed_labels; /* as btz_words_label */

    struct pack *packs;
    size_t pack_count;
    struct server **servers;
    size_t server_count, server_cap;
    struct attack **attacks;
    size_t attack_count, attack_cap;
    struct extension *extensions;
    size_t extension_count, extension_cap;
    struct variant **variants;
    size_t variant_count, variant_cap;
    struct btz_schema *attack_schema, *server_schema;
    const struct btz_json *attack_schema_json, *server_schema_json;
    struct btz_tokens *tokens; /* words of all definitions, base worlds and attacks */

    struct load *load; /* the file being loaded, NULL afterwards */
    struct run *run;   /* the script call in progress, NULL between calls */
    struct seeded *seeded[BTZ_LAB_SEEDED_BUCKETS]; /* see seeded.c */
    size_t seeded_count;
    uint64_t seeded_clock;
    int world_ref, ctx_ref, random_ref; /* what scripts call w, ctx and r */
};

/* The world of a stage: a tree of values that share what was not changed. Containers in `owned`
 * were made by this world and are seen by nobody else, so they are changed in place. */
struct world {
    struct btz_arena *arena;
    struct btz_json *root; /* {server id: {...}, ..., "sinks": {name: [...]}} */
    const struct btz_json **owned;
    size_t owned_count, owned_cap;
};

struct world_key {
    bool is_index;
    int64_t index; /* from 1 */
    struct btz_str name;
};

enum { WORLD_DEPTH = 16 };

struct stage_tool {
    const struct btz_json *definition;
    bool changed;                       /* its input schema was changed by the payload */
    bool withheld;                      /* not offered now */
    const struct btz_fragment *handler; /* the variant's handler runs with this; NULL = its own */
    struct btz_json *renamed; /* new name of a parameter -> as written; NULL if none has one */
    struct btz_schema *input; /* compiled from `definition` on first use, if changed */
};

struct stage_server {
    struct btz_stage_server pub;
    struct btz_str label; /* without any fragment */
    const struct server *server;
    struct stage_tool *tools;
    const struct btz_json *resources; /* the present ones, as the server's file gives them */
};

/* A protected server. */
struct site {
    struct btz_str server; /* id */
    struct btz_stage_site pub;
    unsigned lookups; /* of the name that flips */
};
struct login;

struct btz_stage {
    struct btz_arena *arena;
    struct btz_lab *lab;
    const struct variant *variant; /* NULL for a plain stage */
    enum btz_arm arm;
    uint64_t seed;

    struct stage_server *servers;
    size_t server_count;
    const struct btz_json *resource_uris; /* present ones; NULL = all */
    const struct btz_json *markers;
    const struct btz_json *payload; /* fragment id -> text */
    struct btz_fragment *fragments; /* behind those that count: those not meant for the model */
    size_t fragment_count, unseen_count;
    const struct btz_json *turns;
    const struct btz_json *trigger;
    const struct btz_json *plans;
    int budget;
    const struct btz_json *replies, *about_user; /* of setting; NULL if there are none */
    struct waiting *waiting;                     /* calls whose client was asked, see serve_ask.c */
    struct site *sites;                          /* of setting.authorization */
    size_t site_count;
    struct login *login; /* the organisation's authorization server */
    struct btz_stage_progress progress;
    struct btz_host_profile profile;

    struct seeded **seeded; /* one for each server, NULL in a stage that seeds */
    struct world world;
    const struct btz_json **journal;
    size_t journal_count, journal_cap;
    struct btz_rng random; /* w:random, w:id */
    int64_t time;          /* what w:now gives */
    struct btz_str *ids;   /* given out by w:id */
    size_t id_count, id_cap;
};

/* The part of a world that a server's seed makes for one of the worlds. */
struct seeded {
    struct seeded *next; /* in its bucket */
    const struct server *server;
    uint64_t world;
    struct btz_arena *arena;
    const struct btz_json *part, *sinks; /* `sinks`: {name: records}, NULL for none */
    struct btz_str *ids;                 /* given out by w:id */
    size_t id_count;
    struct btz_tokens *tokens; /* words of what was written */
    size_t users;              /* stages that share it */
    uint64_t used;             /* when last asked for */
};

/* A script call in progress. */
enum run_mode { RUN_SEED_SERVER, RUN_SEED_VARIANT, RUN_CALL, RUN_COMPLETE, RUN_RELAY, RUN_JUDGE };
struct run {
    struct btz_stage *stage;
    enum run_mode mode;
    const struct stage_server *server; /* NULL for a variant's functions */
    struct btz_str tool;
    struct btz_str prompt;
    uint64_t event;
    struct btz_rng random;               /* r */
    const char *failed;                  /* message of fail(), in the stage's arena */
    struct btz_stage_dialogue *dialogue; /* with the client; NULL = nobody can be asked */
    bool may_ask;
    size_t asked; /* questions that this run has its answers to */
};

extern const struct btz_lua_budget btz_lab_load_budget, btz_lab_call_budget, btz_lab_judge_budget;

/* Text of a pointer for people: "/variants/0/payload/1/text" is "variants[1].payload[2].text". */
const char *btz_lab_field(char *out, size_t size, struct btz_str pointer);
/* Fills `err` with file and line of the nearest constructor, the field and the reason. */
int btz_lab_refuse(const struct script *script, struct btz_str pointer, struct btz_err *err,
                   const char *fmt, ...) BTZ_PRINTF(4, 5);
/* Reference of the function at a pointer, or BTZ_LUA_NONE. */
int btz_lab_function(const struct script *script, struct btz_str pointer);

struct btz_embedded;
/* lab.c: a lab from files in memory instead of the core pack (fuzzing). */
int btz_lab_new_given(const struct btz_embedded *files, size_t count, struct btz_lab **out,
                      struct btz_err *err) BTZ_WARN_UNUSED;

/* pack.c: `given` stands for the core pack, if not NULL. */
int btz_lab_packs_open(struct btz_lab *lab, const struct btz_lab_options *options,
                       const struct btz_embedded *given, size_t given_count,
                       struct btz_err *err) BTZ_WARN_UNUSED;
/* script.c: runs a file, converts what it returns and checks it against `schema`. */
int btz_lab_script_load(struct btz_lab *lab, struct pack *pack, struct pack_file *file,
                        const char *kind, struct script **out, struct btz_err *err) BTZ_WARN_UNUSED;
void btz_lab_script_open(struct btz_lab *lab); /* adds require */

/* construct.c */
void btz_lab_constructors_open(struct btz_lab *lab);
void btz_lab_marks_begin(struct lua_State *L);
void btz_lab_marks_end(struct lua_State *L); /* from here on constructors raise */
/* Line and kind of the constructor that made the table at `index`; 0 and NULL if none did. */
unsigned btz_lab_mark_line(struct lua_State *L, int index, const char **kind);

/* server.c, attack.c */
int btz_lab_server_add(struct btz_lab *lab, struct script *script,
                       struct btz_err *err) BTZ_WARN_UNUSED;
int btz_lab_attack_add(struct btz_lab *lab, struct script *script, struct btz_str folder,
                       struct btz_err *err) BTZ_WARN_UNUSED;
/* Once all files are loaded: checks each attack against servers and other attacks, makes the
 * scenarios. */
int btz_lab_attacks_finish(struct btz_lab *lab, struct btz_err *err) BTZ_WARN_UNUSED;
struct server *btz_lab_server_of(const struct btz_lab *lab, struct btz_str id);
/* A server of the packs, or a clone of the variant (NULL: of none). */
struct server *btz_lab_server_in(const struct btz_lab *lab, const struct variant *variant,
                                 struct btz_str id);
struct tool *btz_lab_tool_of(const struct server *server, struct btz_str name);
/* prompt.c */
int btz_lab_prompts_add(struct btz_lab *lab, struct server *server,
                        struct btz_err *err) BTZ_WARN_UNUSED;
struct prompt *btz_lab_prompt_of(const struct server *server, struct btz_str name);
/* NULL if a definition can be sent as an MCP Prompt, else the reason. */
const char *btz_lab_prompt_wrong(const struct btz_json *definition);
/* template.c */
int btz_lab_templates_add(struct btz_lab *lab, struct server *server,
                          struct btz_err *err) BTZ_WARN_UNUSED;
/* The template that `uri` is made from, and the values of its variables; NULL if there is none. */
const struct template *btz_lab_template_match(const struct server *server, struct btz_arena *arena,
                                              struct btz_str uri, const struct btz_json **values);
/* address.c: whether the address of a fragment names something that exists. */
int btz_lab_address_check(struct btz_lab *lab, const struct variant *variant, struct btz_str path,
                          const struct btz_json *fragment, struct btz_err *err) BTZ_WARN_UNUSED;

/* clone.c: the clones of a variant's setting. */
int btz_lab_clones_make(struct btz_lab *lab, struct variant *variant,
                        struct btz_err *err) BTZ_WARN_UNUSED;
/* Gives clones what their servers' definitions have become (new names). */
void btz_lab_clones_refresh(struct btz_lab *lab);

/* subst.c: replaces {name} and {payload.id}; `payload` may be NULL. A text without placeholders is
 * returned as it is, a value whose texts have none as well. The first unknown name is an error. */
struct subst {
    struct btz_arena *arena;
    const struct btz_json *markers; /* name -> text, or anything when only checking */
    const struct btz_json *payload; /* fragment id -> text */
    const struct btz_lab *rename;   /* not NULL: also put new names of servers and tools in */
    struct btz_str unknown;         /* set on failure */
};
int btz_lab_subst_text(struct subst *s, struct btz_str text, struct btz_str *out) BTZ_WARN_UNUSED;
int btz_lab_subst_value(struct subst *s, const struct btz_json *value,
                        const struct btz_json **out) BTZ_WARN_UNUSED;
/* The object with {name} replaced in the names of its members: a payload may name a parameter after
 * a marker. Parameters get no new names from `rename`. */
int btz_lab_subst_keys(struct subst *s, const struct btz_json *object,
                       const struct btz_json **out) BTZ_WARN_UNUSED;

/* overlay.c: whether the trial is as far as `since` (or `until`) says. */
bool btz_stage_reached(const struct btz_stage *stage, const struct btz_json *since);

/* withhold.c: whether a tool of this arm comes later. */
bool btz_stage_grows(const struct btz_stage *stage);
/* Takes out of the definitions, which are whole, what is not offered now. */
void btz_stage_withhold(struct btz_stage *stage);

/* rename.c */
void btz_lab_rename(struct btz_lab *lab);
struct btz_str btz_lab_renamed(const struct btz_lab *lab, struct btz_arena *arena,
                               struct btz_str text);

/* marker.c */
void btz_lab_tokens_make(struct btz_lab *lab);
/* Draws the markers {name: kind} of a variant: {name: value}; NULL if the words of all packs and
 * of what the seeds of the stage's servers wrote leave no value free. */
const struct btz_json *btz_lab_markers_draw(const struct btz_stage *stage,
                                            const struct btz_json *kinds);
/* Whether a whole text or key of some base world or definition is `text`. */
bool btz_lab_text_known(const struct btz_lab *lab, struct btz_str text);
struct btz_str btz_lab_attacker_label(const struct btz_lab *lab, struct btz_arena *arena,
                                      uint64_t seed);

/* world.c: errors are BTZ_EINVAL with the reason as a constant text in `*why`. */
/* `from` is the world to begin with (shared, not changed), or NULL. */
void btz_world_init(struct world *world, struct btz_arena *arena, const struct world *from);
const struct btz_json *btz_world_get(const struct world *world, const struct world_key *keys,
                                     size_t count);
int btz_world_put(struct world *world, const struct world_key *keys, size_t count,
                  const struct btz_json *value, const char **why) BTZ_WARN_UNUSED;
int btz_world_append(struct world *world, const struct world_key *keys, size_t count,
                     const struct btz_json *value, size_t *position,
                     const char **why) BTZ_WARN_UNUSED;
int btz_world_delete(struct world *world, const struct world_key *keys, size_t count,
                     const char **why) BTZ_WARN_UNUSED;

/* bind.c, bind_text.c, sql_bind.c: what scripts call. */
enum { BTZ_LAB_WORLD_BYTES_MAX = 32 * 1024 * 1024 }; /* of a stage's arena, when w is written to */
/* The run in progress, for a method of w; raises if there is none or it has no world. */
struct run *btz_lab_world_run(struct lua_State *L);
int btz_lab_world_sql(struct lua_State *L);
void btz_lab_bind_open(struct btz_lab *lab);
void btz_lab_bind_text_open(struct btz_lab *lab);
extern const char btz_lab_fail_raised; /* its address is what fail() raises */

/* seeded.c: fills the world of a stage with what the seeds of its servers write, sets its time and
 * the ids that are given out; _put gives back what was taken, also after an error. */
int btz_lab_seeded_take(struct btz_stage *stage, struct btz_err *err) BTZ_WARN_UNUSED;
void btz_lab_seeded_put(struct btz_stage *stage);
/* Whether the seeds of the stage's servers wrote this word. */
bool btz_lab_seeded_word(const struct btz_stage *stage, struct btz_str word);
void btz_lab_seeded_free(struct btz_lab *lab);

/* stage.c: an empty stage; `uris` are the resources that are present, NULL = all. */
struct btz_stage *btz_stage_make(struct btz_lab *lab, uint64_t seed, size_t servers);
void btz_stage_add_server(struct btz_stage *stage, const struct server *server,
                          const struct btz_json *uris);
struct stage_server *btz_stage_server_of(struct btz_stage *stage, struct btz_str id);
/* The name of tool number `index` as the model may see it: a payload may have changed it. */
struct btz_str btz_stage_tool_name(const struct stage_server *server, size_t index);

/* web.c: `list` is setting.authorization after substitution, `written` before it; or both NULL. */
void btz_lab_sites_make(struct btz_stage *stage, const struct btz_json *list,
                        const struct btz_json *written);

/* overlay.c: puts the fragments of the stage whose time has come into its definitions. */
int btz_stage_overlay(struct btz_stage *stage, struct btz_err *err) BTZ_WARN_UNUSED;
#define BTZ_LAB_WIRE "wire"         /* the relay's own part of the world */
#define BTZ_LAB_ATTACKER "attacker" /* in texts: the label of the attacker's server */
/* plan.c */
int btz_stage_plans_make(struct btz_stage *stage, struct btz_err *err) BTZ_WARN_UNUSED;
/* result.c: a handler's JSON value as a CallToolResult. */
const struct btz_json *btz_stage_error_result(struct btz_arena *arena, struct btz_str text);
int btz_stage_result(struct btz_stage *stage, const struct stage_server *server,
                     const struct tool *tool, const struct btz_json *value,
                     const struct btz_json **out, struct btz_err *err) BTZ_WARN_UNUSED;
/* run.c: runs a function of a script for a stage; errors are BTZ_EINTERNAL. */
int btz_stage_run(struct run *run, const struct script *script, int function,
                  const struct btz_lua_arg *args, size_t count, const struct btz_lua_budget *budget,
                  const struct btz_json **result, struct btz_err *err) BTZ_WARN_UNUSED;
void btz_stage_note(struct btz_stage *stage, const struct btz_json *entry);
void btz_stage_journal_add(struct btz_stage *stage, const struct run *run, const char *op,
                           const struct world_key *keys, size_t count, const struct btz_json *value,
                           struct btz_str sink);

#endif
