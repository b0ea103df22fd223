/* What a tool does to the world, from its name, its purpose, its parameters and what its server
 * admits. Many verbs are nouns as well (log, mail, post): a noun says nothing about what is done.
 */
#include "guard/canon_int.h"

enum { PIECES = 8, PURPOSE_WORDS = 32 };

/* ---- names ---- */

enum effect canon_effect_of(uint32_t flags)
{
    return flags & WORD_PAYS       ? EFFECT_PAYS
           : flags & WORD_DELETES  ? EFFECT_DELETES
           : flags & WORD_SENDS    ? EFFECT_SENDS
           : flags & WORD_WRITES   ? EFFECT_WRITES
           : flags & WORD_READS    ? EFFECT_READS
           : flags & WORD_COMPUTES ? EFFECT_NONE
                                   : EFFECT_UNKNOWN;
}

bool canon_covers(enum effect name, enum effect verb)
{
    static const uint8_t step[] = {0, 1, 1, 2, 2, 3, 4};

    return name == EFFECT_UNKNOWN || step[verb] <= step[name];
}

const char *canon_effect_name(enum effect effect)
{
    static const char *const names[] = {"unknown", "none",    "reads", "writes",
                                        "sends",   "deletes", "pays"};

    return names[effect];
}

/* In names of tools these are the thing, not the act. */
static const char things[] =
    "mail mails email emails message messages log logs queue queues record records branch branches "
    "commit commits label group order orders stock trade trades bill bills price score rate plan "
    "document book books project file";

static bool is_of(struct btz_str word, const char *words)
{
    return word.len && canon_is_one_of(word.ptr, word.len, words);
}

/* The first verb; what follows "and" or "or" counts too, and a strong one behind a word that could
 * be a noun. */
enum effect canon_name_effect(struct btz_str name)
{
    struct btz_str rest = name;
    struct btz_str piece;
    struct btz_str before = BTZ_STR_NONE;
    enum effect noun = EFFECT_UNKNOWN;
    enum effect verb = EFFECT_UNKNOWN;
    bool vague = false; /* the verb could be a noun */

    for (unsigned i = 0; i < PIECES && canon_piece(&rest, &piece); i++) {
        uint32_t flags = canon_word(piece.ptr, piece.len, canon_word_hash(piece.ptr, piece.len));
        enum effect effect = flags & WORD_INFLECTED ? EFFECT_UNKNOWN : canon_effect_of(flags);
        bool thing =
            (flags & WORD_NOUN) && (is_of(piece, things) || (i > 0 && (flags & WORD_THIRD)));

        if (effect != EFFECT_UNKNOWN && thing) {
            noun = i == 0 ? effect : noun;
        } else if (effect != EFFECT_UNKNOWN && verb == EFFECT_UNKNOWN) {
            verb = effect;
            vague = (flags & WORD_NOUN) && !is_of(piece, "list search query view count");
        } else if (effect > verb && !(flags & WORD_NOUN) &&
                   (is_of(before, "and or then") || (vague && effect >= EFFECT_SENDS))) {
            verb = effect;
        }
        before = piece;
    }
    return verb ? verb : noun;
}

/* ---- purposes ---- */

struct purpose {
    struct btz_str words[PURPOSE_WORDS];
    bool comma[PURPOSE_WORDS]; /* a comma or colon stands before it */
    size_t count;
};

static void words_of(const char *text, size_t len, struct purpose *out)
{
    size_t at = 0;
    bool comma = false;

    out->count = 0;
    while (at < len && out->count < PURPOSE_WORDS) {
        size_t begin = at;

        while (at < len && !strchr(" ,.:()", text[at])) {
            at++;
        }
        if (at > begin) {
            out->comma[out->count] = comma;
            out->words[out->count++] = (struct btz_str){text + begin, at - begin};
            comma = false;
        } else {
            comma |= text[at++] != ' ';
        }
    }
}

static bool has_word(const struct purpose *p, const char *words)
{
    for (size_t i = 0; i < p->count; i++) {
        if (is_of(p->words[i], words)) {
            return true;
        }
    }
    return false;
}

/* The strongest verb among the first word and those that stand beside it. */
static enum effect strongest(const struct purpose *p)
{
    enum effect found = EFFECT_UNKNOWN;

    for (size_t i = 0; i < p->count; i++) {
        struct btz_str word = p->words[i];
        struct btz_str next = i + 1 < p->count ? p->words[i + 1] : BTZ_STR_NONE;
        uint32_t flags = canon_word(word.ptr, word.len, canon_word_hash(word.ptr, word.len));
        enum effect effect = flags & WORD_INFLECTED ? EFFECT_UNKNOWN : canon_effect_of(flags);
        bool beside = i > 0 && (p->comma[i] || is_of(p->words[i - 1], "and or then"));

        if (effect <= found || (i > 0 && !beside)) {
            continue;
        }
        /* "Read or update a file": the second verb of two. */
        bool second = i == 2 && is_of(p->words[1], "or and");

        if ((flags & WORD_NOUN) && effect > EFFECT_READS && !second &&
            !is_of(next, "a an the all any each every new this multiple one it them")) {
            continue; /* "Mail server status" */
        }
        if (is_of(word, "run runs execute executes") &&
            has_word(p, "query queries search searches aggregation aggregations")) {
            continue; /* by the kind of query, which nobody knows */
        }
        if (i > 0 && is_of(word, "open clear clean live free draft")) {
            continue;
        }
        found = effect;
    }
    return found;
}

static bool all_numbers(const struct btz_json *schema)
{
    const struct btz_json *properties = btz_json_getz(schema, "properties");
    size_t count = btz_json_is(properties, BTZ_JSON_OBJECT) ? btz_json_count(properties) : 0;

    for (size_t i = 0; i < count; i++) {
        struct btz_str type = btz_json_str(btz_json_getz(btz_json_value_at(properties, i), "type"));

        if (!btz_str_is(type, "number") && !btz_str_is(type, "integer")) {
            return false;
        }
    }
    return count > 0;
}

static bool has_property(const struct btz_json *schema, const char *names)
{
    const struct btz_json *properties = btz_json_getz(schema, "properties");
    size_t count = btz_json_is(properties, BTZ_JSON_OBJECT) ? btz_json_count(properties) : 0;
    size_t len = count ? strlen(names) : 0;

    for (size_t i = 0; i < count; i++) {
        struct btz_str key = btz_json_key_at(properties, i);
        const char *found = key.len ? memmem(names, len, key.ptr, key.len) : NULL;

        while (found && !((found == names || found[-1] == ' ') &&
                          (found[key.len] == ' ' || found[key.len] == '\0'))) {
            found = memmem(found + 1, len - (size_t)(found + 1 - names), key.ptr, key.len);
        }
        if (found) {
            return true;
        }
    }
    return false;
}

/* Whatever it is called: what code does that a caller gives is not known. */
static bool runs_code(const struct purpose *p, const struct btz_json *schema)
{
    static const char acts[] = "execute executes run runs evaluate evaluates eval interpret inject "
                               "injects invoke invokes";
    bool act = false;

    for (size_t i = 0; i < p->count; i++) {
        act |= is_of(p->words[i], acts);
        if (act &&
            is_of(p->words[i], "code javascript js script scripts python shell command commands "
                               "expression expressions snippet bash lua ruby function functions")) {
            return true;
        }
    }
    return has_property(schema, "javascript script js_code jsCode shell_command") &&
           !has_word(p, "validate validates lint lints parse parses format formats analyze analyse "
                        "analyzes explain explains check checks scan scans compile compiles "
                        "highlight");
}

/* Verbs of computing that change a thing where they are applied to one that is kept somewhere: a
 * document, a cell; steps of a debugger and of a process. */
static bool may_change(const struct purpose *p, struct btz_str name)
{
    struct btz_str rest = name;
    struct btz_str piece;

    while (canon_piece(&rest, &piece)) {
        if (is_of(piece, "id ids name names dns url ref reference handle")) {
            return false; /* "resolve-library-id" looks up */
        }
    }
    rest = name;
    while (canon_piece(&rest, &piece)) {
        if (is_of(piece, "resolve promote redefine scaffold step evaluate end")) {
            return true;
        }
        if (is_of(piece, "format highlight convert merge sort align")) {
            return has_word(p, "document documents doc docs sheet sheets slide slides paragraph "
                               "paragraphs cell cells table page pages spreadsheet presentation");
        }
    }
    return false;
}

/* Verbs that write or do not by what they are applied to. */
static enum effect by_object(const struct purpose *p, struct btz_str name, enum effect effect,
                             const struct btz_json *schema)
{
    struct btz_str rest = name;
    struct btz_str verb = BTZ_STR_NONE;

    if (effect <= EFFECT_READS && p->count && is_of(p->words[0], "run runs execute executes") &&
        has_word(p, "query queries")) {
        while (canon_piece(&rest, &verb)) {
            if (is_of(verb, "query sql")) {
                return EFFECT_UNKNOWN;
            }
        }
    }
    if (effect != EFFECT_WRITES || !canon_piece(&rest, &verb)) {
        return effect;
    }
    if (is_of(verb, "add") && all_numbers(schema) &&
        has_word(p, "number numbers integer integers float floats")) {
        return EFFECT_NONE;
    }
    if (is_of(verb, "open export") ||
        (is_of(verb, "run execute query") && has_word(p, "query queries read-only search"))) {
        return EFFECT_UNKNOWN;
    }
    return is_of(verb, "merge") && !has_word(p, "pull request branch branches contact contacts "
                                                "record records account accounts commit changes")
               ? EFFECT_UNKNOWN
               : effect;
}

/* ---- tools ---- */

enum effect canon_tool_effect(struct btz_str name, struct btz_str purpose,
                              const struct btz_json *schema)
{
    enum effect effect = canon_name_effect(name);
    enum effect verb;
    struct purpose p;

    words_of(purpose.ptr, purpose.len, &p);
    verb = strongest(&p);
    effect = by_object(&p, name, verb > effect ? verb : effect, schema);
    if (effect <= EFFECT_READS && (runs_code(&p, schema) || may_change(&p, name))) {
        effect = EFFECT_UNKNOWN;
    }
    if (effect == EFFECT_READS && has_word(&p, "download downloads") &&
        has_property(schema, "path localPath local_path destination output outputPath output_path "
                             "savePath save_path saveTo save_to directory outputDir")) {
        effect = EFFECT_WRITES; /* a file of this machine */
    }
    if (effect == EFFECT_UNKNOWN || effect >= EFFECT_WRITES) {
        enum effect shown =
            has_property(schema, "amount total price") &&
                    has_property(schema, "currency recipient payee account iban card")
                ? EFFECT_PAYS
            : has_property(schema, "to recipient recipients") &&
                    has_property(schema, "body message subject text content")
                ? EFFECT_SENDS
                : EFFECT_UNKNOWN;

        effect = shown > effect ? shown : effect;
    }
    return effect;
}

static bool claims(const struct btz_json *given, const char *key, bool value)
{
    const struct btz_json *hint = btz_json_getz(given, key);

    return btz_json_is(hint, BTZ_JSON_BOOL) && btz_json_bool(hint, !value) == value;
}

/* "destructiveHint" has a meaning only where the tool is not read-only (MCP, tool annotations); a
 * claim to be read-only that does not stay takes nothing away from it. */
enum effect canon_admitted(enum effect effect, const struct btz_json *given)
{
    bool reads = effect == EFFECT_NONE || effect == EFFECT_READS;

    if (claims(given, "openWorldHint", true) && effect == EFFECT_NONE) {
        effect = EFFECT_READS;
    }
    if (effect < EFFECT_WRITES && (claims(given, "readOnlyHint", false) ||
                                   (claims(given, "destructiveHint", true) &&
                                    !(reads && claims(given, "readOnlyHint", true))))) {
        return EFFECT_WRITES;
    }
    return effect;
}
