/* Inside of canonicalisation: what the files canon*.c share. */
#ifndef BTZ_GUARD_CANON_INT_H
#define BTZ_GUARD_CANON_INT_H

#include "base/arena.h"
#include "base/buf.h"
#include "guard/canon.h"

static inline bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static inline bool is_letter(char c)
{
    return is_upper(c) || (c >= 'a' && c <= 'z');
}

/* ---- canon_words.c: what a word is, by one look into a table ---- */

enum {
    WORD_KNOWN = 1U << 0,    /* stands in the table */
    WORD_FUNCTION = 1U << 1, /* the, of, and, ...: carries no content */
    WORD_READS = 1U << 2,    /* verbs by what they do to the world */
    WORD_WRITES = 1U << 3,
    WORD_SENDS = 1U << 4,
    WORD_DELETES = 1U << 5,
    WORD_PAYS = 1U << 6,
    WORD_COMPUTES = 1U << 7,  /* no effect and nothing read: add, convert */
    WORD_OPTION = 1U << 8,    /* verbs that begin the meaning of a parameter: include, sort */
    WORD_STATES = 1U << 9,    /* finite verbs of a statement: is, contains, supports */
    WORD_NUMBERED = 1U << 10, /* a number beside it has a role: maximum, default, page */
    WORD_UNIT = 1U << 11,     /* ... or is measured in it: seconds, MB */
    WORD_STANDARD = 1U << 12, /* ... or is part of its name: ISO 8601 */
    WORD_CURRENCY = 1U << 13,
    WORD_LEAD = 1U << 14,      /* may stand before the verb: "this tool can be used to" */
    WORD_ANNOUNCES = 1U << 15, /* ... and at least one of these has to: tool, function, allows */
    WORD_EXAMPLE = 1U << 16,   /* an example follows */
    WORD_TOWARDS = 1U << 17,   /* what follows may be a recipient: to, into, at */
    WORD_SETUP = 1U << 18,     /* login, connect: may be asked for first */
    WORD_SENSITIVE = 1U << 19, /* password, token: only where the definition's names say so */
    WORD_SOFT = 1U << 20,      /* prompt, conversation, assistant: likewise */
    WORD_BANNED = 1U << 21,    /* orders, secrecy, precedence: ends the sentence */
    WORD_MODEL = 1U << 22,     /* why it is banned or soft: addresses the model */
    WORD_TALK = 1U << 23,      /* ... the conversation */
    WORD_OTHER = 1U << 24,     /* ... other tools */
    WORD_SECRECY = 1U << 25,
    WORD_PRECEDENCE = 1U << 26,
    WORD_INFLECTED = 1U << 27, /* -ed, -ing: no main verb */
    WORD_THIRD = 1U << 28,     /* -s of a verb: a statement about the tool */
    WORD_TIME = 1U << 29,      /* before, after, once: an order of acts, in prose about a tool */
    WORD_NOUN = 1U << 30,      /* a noun, whatever else it may be */
    WORD_OWNER = 1U << 31,     /* your, our: said as "the" */
};

#define WORD_EFFECTS                                                                               \
    (WORD_READS | WORD_WRITES | WORD_SENDS | WORD_DELETES | WORD_PAYS | WORD_COMPUTES)

enum { CANON_WORD_MAX = 24 }; /* bytes of a word of the table */

void canon_words_ready(void); /* fills the table, once a process */
void canon_facts_ready(void); /* canon_fact.c: likewise */
void canon_words_hash(struct btz_hasher *hasher);
void canon_phrases_hash(struct btz_hasher *hasher); /* canon_edit.c */
void canon_facts_hash(struct btz_hasher *hasher);   /* canon_fact.c */
void canon_shapes_hash(struct btz_hasher *hasher);  /* canon_shape.c */

uint32_t canon_word_hash(const char *word, size_t len); /* of the lower case; letters only */

/* 0 = not in the table. `word` in any case. */
uint32_t canon_word(const char *word, size_t len, uint32_t hash);

/* ---- canon_text.c: tokens and sentences ---- */

enum token_kind {
    TOKEN_WORD,    /* letters; inner hyphen or apostrophe */
    TOKEN_NUMBER,  /* 12, 1.5, 10-100, 50%, 10MB */
    TOKEN_DATE,    /* 2024-01-15, YYYY-MM-DD, hh:mm, E.164, {owner}/{repo}: a closed shape */
    TOKEN_NAME,    /* snake_case, camelCase, letters with digits */
    TOKEN_PAIR,    /* two or three words with a slash: owner/repo */
    TOKEN_POINT,   /* , : - ( ) and comparison signs */
    TOKEN_OPERAND, /* an address, path, host, identifier: never stays */
    TOKEN_STRANGE, /* a letter or sign that the rules do not read */
};

struct token {
    const char *ptr; /* clean text: ASCII and a few signs */
    uint16_t len;
    uint8_t kind;
    uint32_t begin; /* bytes of the plain text */
    uint32_t end;
    uint32_t flags; /* of a word */
    uint32_t hash;
};

enum { SENTENCE_TOKENS = 96, CANON_PIECES = 160 };

struct sentence {
    uint32_t begin;
    uint32_t end; /* behind its end mark and the white space that follows */
    size_t count;
    bool overlong;  /* there were more tokens */
    bool line_ends; /* a line ended behind it */
    bool blank;     /* ... and an empty one follows */
    struct token tokens[SENTENCE_TOKENS];
};

/* A text of ASCII alone: signs that have an ASCII form are replaced, what shows nothing is gone, a
 * letter of another script is byte 1. */
struct plain {
    struct btz_str text;
    const uint32_t *from; /* where each byte, and the end, was in the source; NULL = the same */
};

void canon_plain(struct btz_str source, struct btz_arena *arena, struct plain *out);

/* Whether the letters, in any case, are one of `words`: lower case, a blank between two; a literal,
 * for what it holds is remembered by its address. */
bool canon_is_one_of(const char *p, size_t len, const char *words);

/* Takes the sentence that begins at `at`; false at the end. Offsets are of the plain text. */
bool canon_sentence(const struct plain *text, size_t at, struct sentence *out);

/* ---- canon_shape.c: what a run of letters, digits and signs is ---- */

bool canon_is_date(const char *p, size_t len);
bool canon_is_standard(const char *p, size_t len);
bool canon_is_range(const char *p, size_t len);
bool canon_is_counted(const char *p, size_t len);
bool canon_is_number(const char *p, size_t len);
/* The bytes of "{owner}/{repo}" that text begins with; 0 = it does not. */
size_t canon_mask(const char *p, size_t len);

/* ---- canon_judge.c: whether a sentence is one of the kinds that stay ---- */

/* Effects from weak to strong; UNKNOWN has no evidence. */
enum effect {
    EFFECT_UNKNOWN,
    EFFECT_NONE,
    EFFECT_READS,
    EFFECT_WRITES,
    EFFECT_SENDS,
    EFFECT_DELETES,
    EFFECT_PAYS
};

/* Words that stand in names of the definition itself, and so are seen anyhow. */
struct own_words {
    uint64_t bloom[4];
    size_t count;
    struct {
        const char *ptr;
        uint32_t len;
        uint32_t hash;
    } words[CANON_PIECES];
};

void canon_own_add(struct own_words *own, struct btz_str name); /* its pieces */
bool canon_own_has(const struct own_words *own, const char *word, size_t len, uint32_t hash);

/* Verbs with which a sentence advises whoever reads it. */
#define CANON_ADVICE                                                                               \
    "provide include combine omit set specify put give make keep mention add attach append "       \
    "prepend write read send show report quote cite respond answer avoid choose pick select "      \
    "describe explain summarize summarise state repeat copy place supply fill enter submit try "   \
    "see confirm guess understand meet bring prefer"

enum role { ROLE_PURPOSE, ROLE_NOTE, ROLE_RETURNS, ROLE_MEANING };

/* The tools of a list by the name on their server. */
struct siblings {
    const struct btz_canon_result *tools; /* given_name and name are set */
    uint32_t *slots;                      /* number + 1; 0 = free */
    size_t mask;
};

/* NULL if no tool of the list has this name; `siblings` may be NULL. */
const struct btz_canon_result *canon_sibling(const struct siblings *siblings, struct btz_str name);

struct judge {
    const struct own_words *own;
    const struct siblings *siblings;   /* NULL: there is no list */
    const struct btz_json *properties; /* of the input schema; NULL: there are none */
    struct btz_str name;               /* of the tool, as given */
    bool renamed;                      /* ... which is not its name any more */
    enum effect effect;                /* of the tool's name; UNKNOWN allows all */
};

/* What became of a sentence. */
struct judged {
    bool whole;                                 /* all of it stays, byte for byte */
    bool complete;                              /* no word of what was to be judged is lost */
    const char *rule;                           /* why nothing does */
    uint64_t kept[(SENTENCE_TOKENS + 63) / 64]; /* the tokens that stay, a bit each */
};

/* Writes what of tokens [from, count) stays as `role` within `max` bytes to `out` (room for `max`
 * bytes), ending with a full stop, and returns its length; 0 = nothing. */
size_t canon_judge(const struct judge *judge, const struct sentence *s, size_t from, enum role role,
                   size_t max, char *out, struct judged *how);
/* The beginning of a sentence that has no other purpose in it, up to a noun. */
size_t canon_judge_beginning(const struct judge *judge, const struct sentence *s, size_t from,
                             size_t max, char *out);

/* ---- canon_fact.c: what a sentence that does not stay still says, as fixed lines ---- */

enum { CANON_FACT_MAX = 200, CANON_FACTS_A_SENTENCE = 6 };

struct canon_fact {
    size_t len;
    size_t atoms;
    char text[CANON_FACT_MAX];
};

/* Whether the sentence is such a line itself, byte for byte. */
bool canon_is_fact(const struct judge *judge, const struct sentence *s, enum role role,
                   struct canon_fact *out);
/* The lines of a sentence, of tokens that are not `kept` (a bit each; NULL = none is); `out` has
 * room for CANON_FACTS_A_SENTENCE. */
size_t canon_facts(const struct judge *judge, const struct sentence *s, const uint64_t *kept,
                   enum role role, struct canon_fact *out);

/* ---- canon_before.c ---- */

struct prior {
    const struct sentence *s;
    const struct siblings *siblings; /* NULL: there is no list */
    struct btz_str own;              /* the tool's name, as given */
};

/* The tool of the list that the sentence says is to be called before this one; or NULL. */
const struct btz_canon_result *canon_prior(const struct prior *p);

/* ---- canon_effect.c: what a tool does to the world ---- */

enum effect canon_effect_of(uint32_t flags);
/* Whether a tool whose name says one thing may do the other: writing and sending are one step,
 * deleting is another. */
bool canon_covers(enum effect name, enum effect verb);
const char *canon_effect_name(enum effect effect);
/* What a name says that the tool does. */
enum effect canon_name_effect(struct btz_str name);
/* ... and what its purpose and the parameters of `schema` add to that. */
enum effect canon_tool_effect(struct btz_str name, struct btz_str purpose,
                              const struct btz_json *schema);
/* What annotations admit raises the effect; nothing in them lowers it. */
enum effect canon_admitted(enum effect effect, const struct btz_json *given);

/* ---- canon_names.c ---- */

enum { CANON_NAME_MAX = 40, CANON_TOOL_NAME_MAX = 64, CANON_VALUE_MAX = 40 };

/* Whether a name may be shown as it is: property, tool, value of an enumeration. */
bool canon_name_is_plain(struct btz_str name, size_t max);
bool canon_value_is_plain(struct btz_str value);
/* ... and a default, an example: only words of the table and short numbers. */
bool canon_default_is_plain(struct btz_str value);
/* Whether `value` is one of the known ones of format, contentEncoding or contentMediaType. */
bool canon_format_is_known(struct btz_str keyword, struct btz_str value);

/* canon_pattern.c. A number has at most three digits that are no zeros at its end, or is one that
 * programs have: a power of two, a year. */
bool canon_pattern_is_plain(struct btz_str pattern);
bool canon_number_is_plain(struct btz_str digits);
/* ... and each of those in a run of digits, signs and units: 1,000 or 10-20MB. */
bool canon_amounts_are_plain(const char *p, size_t len);

/* Cuts a name into pieces at case changes, '_', '-', '.', '/', ' '; false at the end. */
bool canon_piece(struct btz_str *rest, struct btz_str *piece);

/* ---- canon_tool.c: one definition under way ---- */

struct rename {
    struct rename *next;
    struct btz_str given;
    struct btz_str now;
};

struct text_table {
    struct text_slot {
        struct btz_str key, value;
        bool used;
    } * slots;
    size_t count, mask;
    size_t steps; /* slots that were looked at */
};

/* What was renamed, newest first. */
struct renames {
    struct rename *first;
    struct text_table table;
    const char *head; /* "param" */
    size_t last;      /* number that was given */
};

struct canon_anchor {
    struct btz_str name;
    struct btz_str pointer;
    bool anchor; /* else an $id */
};

struct canon_queued {
    struct canon_queued *next;
    const struct btz_json *schema;
};

struct work {
    enum btz_canon_arm arm;
    struct btz_arena *arena;
    const struct btz_canon_options *options;
    const struct btz_json *tool;
    struct btz_canon_result *out;
    struct judge judge;
    struct renames names, values, definitions;
    struct text_table taken;     /* every text of the definition, and names given */
    const struct btz_json *base; /* the schema under way: what its references start from */
    const struct btz_json *surveyed;
    struct text_table known;   /* properties of `base` */
    struct text_table waiting; /* schemas that hold only if there is a property, by its name */
    struct text_table reached; /* definitions that a reference of `base` reaches, by address */
    struct canon_queued *queue;
    struct canon_anchor *anchors;
    size_t anchor_count;
    bool naming;                 /* the schema under way is of names: propertyNames */
    bool renames;                /* ... and some of them are renamed */
    size_t prose_left;           /* bytes that meanings of parameters may still take */
    size_t facts_left;           /* ... and the fixed lines about them */
    const struct btz_json *root; /* the input schema, while it is walked */
    struct btz_json *help;       /* meanings found in the description, by property; may be NULL */
    bool quiet;                  /* texts that were noted elsewhere */

    struct btz_canon_span *spans;
    size_t span_count, span_cap;
    size_t removed;
    char *path; /* of the field under way; only with spans */
    size_t path_len, path_cap;
    unsigned depth;
    bool too_deep;
    size_t text_left; /* bytes of prose that may yet be read */
    bool too_long;

    /* Not cleared at the start. */
    struct own_words own;
    struct sentence sentence;
};

enum {
    CANON_DEPTH_MAX = 32,
    CANON_PURPOSE_MAX = 160,
    CANON_NOTE_MAX = 140,
    CANON_NOTES = 6,
    CANON_RETURNS_MAX = 140,
    CANON_REQUIRES = 3,
    CANON_MEANING_MAX = 120,
    CANON_MEANINGS_MAX = 240,
    CANON_MEANINGS = 5,
    CANON_PROSE_MAX = 3000,
    CANON_FACTS = 4, /* fixed lines of one parameter, or of the description */
    CANON_FACTS_MAX = 260,
    CANON_FACTS_ALL = 2000,
    CANON_BYTES_MAX = 1024 * 1024
};

/* Where a field lies: canon_enter returns what canon_leave takes. */
size_t canon_enter(struct work *w, struct btz_str key);
size_t canon_enter_at(struct work *w, size_t index);
void canon_leave(struct work *w, size_t mark);
void canon_span(struct work *w, size_t begin, size_t end, enum btz_canon_action action,
                const char *rule, struct btz_str text);
/* The name of the member that is entered: its field has a # behind it. */
void canon_key_span(struct work *w, struct btz_str key, enum btz_canon_action action,
                    const char *rule, struct btz_str now);
/* Whether the keys of the object under this keyword are the author's own words. */
bool canon_holds_names(struct btz_str key);
/* Every text below `value`, keys of objects too, is removed; or stays as it is. */
void canon_drop(struct work *w, const struct btz_json *value, const char *rule);
void canon_keep(struct work *w, const struct btz_json *value, const char *rule);

/* False, and noted, if so much more prose would be over CANON_BYTES_MAX for the definition. */
bool canon_may_read(struct work *w, size_t bytes);

enum canon_keyword {
    KEY_TYPE,
    KEY_DESCRIPTION,
    KEY_PROPERTIES,
    KEY_REQUIRED,
    KEY_SCHEMA,  /* one, or true and false */
    KEY_ITEMS,   /* one or a list */
    KEY_SCHEMAS, /* a list */
    KEY_ENUM,
    KEY_CONST,
    KEY_DEFAULT,
    KEY_NUMBER,
    KEY_SWITCH, /* true or false */
    KEY_WORD,   /* format, contentEncoding, contentMediaType: one of a list */
    KEY_PATTERN,
    KEY_PATTERNS,    /* schemas by pattern */
    KEY_DEFINITIONS, /* schemas by name of a definition */
    KEY_DEPENDENT,   /* schemas, or lists of names, by name of a property */
    KEY_REFERENCE,
    KEY_DIALECT
};

/* Negative: none that stays. */
int canon_keyword(struct btz_str key);

/* ---- canon_rename.c ---- */

/* The name that `given` gets, the same wherever it stands: `wish`, or the next of the list's
 * head. */
struct btz_str canon_renamed(struct work *w, struct renames *list, struct btz_str given,
                             struct btz_str wish);
/* Slots of tables looked at so far: grows with the number of texts. */
size_t canon_rename_steps(const struct work *w);
/* `schema` is what references are relative to from here on. */
void canon_base(struct work *w, const struct btz_json *schema);
/* A reference as a JSON pointer with the names of now; none: it leaves the schema, ends nowhere, or
 * goes through what does not stay. With `reach` the definitions on its way are noted instead. */
struct btz_str canon_reference(struct work *w, struct btz_str given, bool reach);
/* Whether a schema, or any other within the base that is in use, has this property. */
bool canon_is_property(struct work *w, const struct btz_json *schema, struct btz_str name);
bool canon_is_reached(struct work *w, const struct btz_json *definition);

/* Adds the names and values that a schema will have to `own`. */
void canon_collect(struct work *w, const struct btz_json *schema);
/* canon_schema.c: a schema in canonical form. `prose` says whether meanings stay. */
const struct btz_json *canon_schema(struct work *w, const struct btz_json *schema, bool prose);
/* The name that a property gets. */
struct btz_str canon_property(struct work *w, struct btz_str given);
struct btz_str canon_definition_name(struct work *w, struct btz_str given);

/* The name of a tool as an arm gives it, before collisions. */
struct btz_str canon_tool_name(enum btz_canon_arm arm, struct btz_str given,
                               struct btz_arena *arena);

/* canon_meaning.c: what stays of a parameter's text, "" = nothing. Spans are of the field that is
 * entered. */
struct btz_str canon_meaning(struct work *w, struct btz_str source);
/* The span of a text that has nothing to show, and so no sentence: it is removed. */
void canon_note_hidden(struct work *w, struct btz_str source, const struct plain *text);

/* canon_tool.c: the canonical form, by extraction. */
const struct btz_json *canon_extract(struct work *w);
/* The description from its parts; empty parts are left out. `notes` and `requires` are whole
 * lines. */
struct btz_str canon_layout(struct btz_arena *arena, struct btz_str purpose, struct btz_str notes,
                            struct btz_str requires, struct btz_str returns, const char *effect);
/* Name, schemas and nothing else. */
const struct btz_json *canon_schema_only(struct work *w);
/* canon_edit.c: arms that edit texts and leave the rest. `bytes`: what random-delete takes. */
const struct btz_json *canon_edit(struct work *w, size_t bytes);

/* canon.c: any arm that asks nobody. The result's names are set. */
int canon_run(enum btz_canon_arm arm, const struct btz_json *tool,
              const struct btz_canon_options *options, const struct siblings *siblings,
              struct btz_arena *arena, struct btz_canon_result *out,
              struct btz_err *err) BTZ_WARN_UNUSED;

#endif
