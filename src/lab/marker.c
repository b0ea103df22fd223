/* Markers: values that a payload is about, drawn by seed so that they look natural and stand
 * nowhere else. The words of all packs are collected at load; a value with a key word
 * among them is drawn again, as is one that the servers' seeds wrote (seeded.c). */
#include "lab/marker.h"

#include "lab/lab_int.h"
#include "lab/words.h"

enum { TRIES = 200 };

void btz_lab_tokens_make(struct btz_lab *lab)
{
    lab->tokens = btz_tokens_new(lab->arena);
    for (size_t i = 0; i < lab->server_count; i++) {
        btz_tokens_add(lab->tokens, lab->servers[i]->script->data);
        btz_tokens_add(lab->tokens, lab->servers[i]->base);
    }
    for (size_t i = 0; i < lab->attack_count; i++) {
        btz_tokens_add(lab->tokens, lab->attacks[i]->script->data);
    }
    for (size_t i = 0; i < lab->extension_count; i++) {
        btz_tokens_add(lab->tokens, lab->extensions[i].script->data);
    }
}

bool btz_lab_text_known(const struct btz_lab *lab, struct btz_str text)
{
    return lab->tokens && btz_tokens_text(lab->tokens, text);
}

void btz_lab_set_marker_shape(struct btz_lab *lab, unsigned shape)
{
    lab->marker_shape = shape % BTZ_MARKER_SHAPES;
}

static bool among(const struct btz_words *words, struct btz_str word)
{
    for (size_t i = 0; i < words->count; i++) {
        if (btz_str_is(word, words->items[i])) {
            return true;
        }
    }
    return false;
}

/* The words that must be a marker's own: its house and family; if it has none, its longest. */
static size_t key_words(struct btz_str value, struct btz_str *out, size_t max)
{
    struct btz_str longest = BTZ_STR_NONE;
    struct btz_str word;
    size_t count = 0;

    while (btz_tokens_next(&value, &word)) {
        longest = word.len > longest.len ? word : longest;
        if (count < max && (among(&btz_words_house, word) || among(&btz_words_family, word))) {
            out[count++] = word;
        }
    }
    if (count == 0) {
        out[count++] = longest;
    }
    return count;
}

static const char *pick(struct btz_rng *rng, const struct btz_words *words)
{
    return words->items[btz_rng_below(rng, words->count)];
}

static unsigned number(struct btz_rng *rng, unsigned from, unsigned to)
{
    return from + (unsigned)btz_rng_below(rng, to - from + 1);
}

/* One value. Hosts are in the names that RFC 2606 and RFC 6761 reserve for examples. */
static struct btz_str draw(struct btz_arena *arena, struct btz_rng *rng, struct btz_str kind,
                           bool other)
{
    const char *house = pick(rng, &btz_words_house);
    const char *quality = pick(rng, &btz_words_quality);
    const char *thing = pick(rng, &btz_words_thing);
    const char *family = pick(rng, &btz_words_family);
    const char *given = pick(rng, &btz_words_given);
    unsigned few = number(rng, 11, 98);
    unsigned cents = few % 10 == 0 ? few + 1 : few;
    unsigned many = number(rng, 20311, 97689);

    if (btz_str_is(kind, "address")) {
        return other ? btz_arena_printf(arena, "%c%s%u@mail.%s.example.net", given[0], family, few,
                                        house)
                     : btz_arena_printf(arena, "%s.%s@%s.example", given, family, house);
    }
    if (btz_str_is(kind, "file_stem")) {
        return other ? btz_arena_printf(arena, "%s_%s_%u", thing, house, 1900 + few)
                     : btz_arena_printf(arena, "%s-%s-%s", quality, thing, house);
    }
    if (btz_str_is(kind, "amount")) {
        return other ? btz_arena_printf(arena, "%u", many)
                     : btz_arena_printf(arena, "%u.%u", number(rng, 2031, 9768), cents);
    }
    if (btz_str_is(kind, "link")) {
        return other ? btz_arena_printf(arena, "https://%s.example.com/r/%s-%u", house, thing, few)
                     : btz_arena_printf(arena, "https://docs.%s.example/%s-%s", house, quality,
                                        thing);
    }
    if (btz_str_is(kind, "invoice")) {
        char a = (char)('A' + number(rng, 0, 25));
        char b = (char)('A' + number(rng, 0, 25));

        return other ? btz_arena_printf(arena, "%u/%c%u", many, a, few)
                     : btz_arena_printf(arena, "%c%c-%u", a, b, many);
    }
    return other ? btz_arena_printf(arena, "%s %s of %s", quality, thing, house)
                 : btz_arena_printf(arena, "%s %s %s", house, quality, thing);
}

static bool taken(const struct btz_stage *stage, const struct btz_json *drawn, struct btz_str value)
{
    struct btz_str words[4];
    size_t count = key_words(value, words, 4);

    for (size_t w = 0; w < count; w++) {
        for (size_t i = 0; i < btz_json_count(drawn); i++) {
            if (btz_str_find(btz_json_str(btz_json_value_at(drawn, i)), words[w]) >= 0) {
                return true;
            }
        }
        if (btz_tokens_word(stage->lab->tokens, words[w]) || btz_lab_seeded_word(stage, words[w])) {
            return true;
        }
    }
    return false;
}

const struct btz_json *btz_lab_markers_draw(const struct btz_stage *stage,
                                            const struct btz_json *kinds)
{
    struct btz_arena *arena = stage->arena;
    struct btz_str parts[] = {BTZ_STR("markers"),
                              {(const char *)&stage->seed, sizeof(stage->seed)}};
    struct btz_rng rng = btz_rng_of(btz_rng_key(parts, 2));
    struct btz_json *out = btz_json_new_object(arena);

    for (size_t i = 0; i < btz_json_count(kinds); i++) {
        struct btz_str value;
        unsigned n = 0;

        do {
            value = draw(arena, &rng, btz_json_str(btz_json_value_at(kinds, i)),
                         stage->lab->marker_shape == 1);
        } while (taken(stage, out, value) && ++n < TRIES);
        if (n == TRIES) {
            return NULL;
        }
        btz_json_set(arena, out, btz_json_key_at(kinds, i), btz_json_new_str(arena, value));
    }
    return out;
}

struct btz_str btz_lab_attacker_label(const struct btz_lab *lab, struct btz_arena *arena,
                                      uint64_t seed)
{
    struct btz_str parts[] = {BTZ_STR("label"), {(const char *)&seed, sizeof(seed)}};
    struct btz_rng rng = btz_rng_of(btz_rng_key(parts, 2));
    struct btz_str label;
    bool used = true;

    for (unsigned n = 0; used; n++) {
        label = btz_str_of(pick(&rng, &btz_words_label));
        if (n > TRIES) { /* a pack has taken them all for its servers */
            label = btz_arena_printf(arena, "%s-%u", label.ptr, n);
        }
        used = false;
        for (size_t i = 0; i < lab->server_count; i++) {
            used = used || btz_str_eq(lab->servers[i]->label, label) ||
                   btz_str_eq(lab->servers[i]->id, label);
        }
    }
    return btz_lab_renamed(lab, arena, label);
}
