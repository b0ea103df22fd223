/* Canonicalisation of tool definitions: what a model needs to choose and call a tool stays, in one
 * form; what else a server wrote does not reach the model. An arm is one way to do it (the sieve
 * experiment compares them), and every arm is one function over a definition, so that the
 * experiment, the command `canon` and the defence mode `canon:ARM` run the same code.
 *
 * Nothing here asks a model: the arms that need one get their question and read its reply here, as
 * guard/model.h does; the caller asks. */
#ifndef BTZ_GUARD_CANON_H
#define BTZ_GUARD_CANON_H

#include "base/arena.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/str.h"
#include "json/json.h"

enum btz_canon_arm {
    BTZ_CANON_NONE,           /* definitions as they are */
    BTZ_CANON_RULES_STRIP,    /* a frozen list of sentence patterns and hidden characters goes */
    BTZ_CANON_SCHEMA_ONLY,    /* names, types, required, enum, default, format; no prose at all */
    BTZ_CANON_MODEL_REWRITE,  /* a model writes the canonical form; its reply is validated */
    BTZ_CANON_CANON,          /* ours: deterministic extraction of the canonical form */
    BTZ_CANON_CANON_REWRITE,  /* canon, then a model, then canon over what it wrote */
    BTZ_CANON_FIRST_SENTENCE, /* controls from here on */
    BTZ_CANON_FIRST_120,      /* the first 120 characters of every text */
    BTZ_CANON_NFKC_ONLY,
    BTZ_CANON_EIGHT_PHRASE, /* sentences with one of eight well-known phrases go */
    /* As many bytes a definition as `canon` takes, less a word: whole sentences in random order, of
     * the last one words. */
    BTZ_CANON_RANDOM_DELETE,
    BTZ_CANON_RANDOM_DELETE_BYTES, /* just as many, single characters at random places */
    BTZ_CANON_ARMS
};

/* "none", "rules-strip", "schema-only", "model-rewrite", "canon", "canon+rewrite",
 * "first-sentence", "first-120-chars", "nfkc-only", "eight-phrase", "random-delete",
 * "random-delete-bytes". */
const char *btz_canon_arm_name(enum btz_canon_arm arm);

/* All names, for a message: "none, rules-strip, ... or random-delete-bytes". */
struct btz_str btz_canon_arm_list(struct btz_arena *arena);

/* BTZ_OK or BTZ_ENOTFOUND. */
int btz_canon_arm_named(struct btz_str name, enum btz_canon_arm *out) BTZ_WARN_UNUSED;

/* The arm needs a model's reply: model-rewrite and canon+rewrite. */
bool btz_canon_arm_asks(enum btz_canon_arm arm);

/* The names of those arms, for a message, each behind `prefix`: "model-rewrite and canon+rewrite".
 */
struct btz_str btz_canon_asking_list(struct btz_arena *arena, const char *prefix);

/* The arm that a definition goes through before the model is asked: of an arm that asks, none or
 * canon; of the others, the arm itself. It gives a list its names. */
enum btz_canon_arm btz_canon_arm_before(enum btz_canon_arm arm);

/* A control says what deletion alone would do; it is no defence. */
bool btz_canon_arm_is_control(enum btz_canon_arm arm);

/* SHA-256 over the words, the patterns and the version of the rules, for the record of a run. */
struct btz_hash btz_canon_hash(void);

enum btz_canon_action { BTZ_CANON_KEPT, BTZ_CANON_CHANGED, BTZ_CANON_REMOVED };

/* One stretch of one text of the definition, and what became of it. */
struct btz_canon_span {
    /* JSON pointer into the definition that was given; with a # behind it, the name of that member
     * itself (a property, a member that went). */
    struct btz_str field;
    size_t begin; /* bytes of the field's decoded text */
    size_t end;
    enum btz_canon_action action;
    const char *rule;    /* why: "addresses-model", "other-tool", "no-schema-keyword", ... */
    struct btz_str text; /* what stands there now; empty if removed */
};

struct btz_canon_result {
    const struct btz_json *definition; /* canonical; the input itself for `none` */
    struct btz_str given_name;         /* the tool's name on its server */
    struct btz_str name;               /* the tool's name now */
    /* Object: property name now -> name on the server; NULL: all the same. A name has one
     * replacement wherever it occurs in the definition, and no other text of it is the same. */
    const struct btz_json *names;
    const struct btz_json *values; /* the same of values of enumerations and constants */
    size_t span_count;
    /* Field after field in the order in which they were looked at, and by begin; they cover every
     * text of the input. */
    const struct btz_canon_span *spans;
    size_t removed_bytes; /* of texts, names and values */
    bool changed;         /* something was removed, written anew, or has another name */
    size_t lookups;       /* steps in the tables of names: the cost of renaming, for tests */
};

/* Whether a canonical description says that the tool's purpose is not known. */
bool btz_canon_is_unstated(struct btz_str description);

struct btz_canon_options {
    uint64_t seed;   /* of random-delete */
    bool want_spans; /* off: no span map, which is faster */
};

/* Canonicalises one tool definition (an object with at least a name that is text). Arms that ask
 * are refused with BTZ_EUSAGE. BTZ_EINVAL: `tool` is no definition; BTZ_ELIMIT: over 1 MiB of prose
 * or 32 levels of schemas. A precondition on another tool stays only in a list (below).
 * canon(canon(x)) equals canon(x) for every deterministic arm but the two of random deletion.
 * Results live in `arena` and borrow from `tool`. */
int btz_canon_tool(enum btz_canon_arm arm, const struct btz_json *tool,
                   const struct btz_canon_options *options, struct btz_arena *arena,
                   struct btz_canon_result *out, struct btz_err *err) BTZ_WARN_UNUSED;

/* The same for the tools of one list, whose names stay different from each other: a name that would
 * become another's gets a short suffix from the hash of the name it had. `out` has as many places
 * as `tools` has elements. */
int btz_canon_list(enum btz_canon_arm arm, const struct btz_json *tools,
                   const struct btz_canon_options *options, struct btz_arena *arena,
                   struct btz_canon_result *out, struct btz_err *err) BTZ_WARN_UNUSED;

/* Turns arguments made for the canonical definition into those of the server, along its schema: a
 * member is renamed only where the schema has it as a property, a text only where it is one of the
 * values that the schema lists. Everything else, free text above all, stays as it is. */
const struct btz_json *btz_canon_arguments(const struct btz_canon_result *result,
                                           const struct btz_json *arguments,
                                           struct btz_arena *arena);

enum { BTZ_CANON_REWRITE_TOKENS = 2048 }; /* at most, of a model's reply */

struct btz_canon_question {
    struct btz_str system; /* the versioned prompt */
    struct btz_str user;
    unsigned version;
};

/* For an arm that asks: what to ask about `tool`. */
int btz_canon_question(enum btz_canon_arm arm, const struct btz_json *tool, struct btz_arena *arena,
                       struct btz_canon_question *out, struct btz_err *err) BTZ_WARN_UNUSED;

/* Reads the reply. BTZ_EINVAL: malformed or not of the canonical form (`err` says why);
 * BTZ_ENOTFOUND: the model refused. Both are outcomes that the caller counts. */
int btz_canon_reply(enum btz_canon_arm arm, const struct btz_json *tool, struct btz_str reply,
                    const struct btz_canon_options *options, struct btz_arena *arena,
                    struct btz_canon_result *out, struct btz_err *err) BTZ_WARN_UNUSED;

/* Gives the tool the name that it has in its list (btz_canon_list of btz_canon_arm_before). */
void btz_canon_rename(struct btz_canon_result *result, struct btz_str name,
                      struct btz_arena *arena);

#endif
