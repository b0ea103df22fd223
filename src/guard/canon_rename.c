/* Names that are given in place of others, and what the references of a schema reach. Texts stand
 * in hash tables with a secret start, so that a server can make neither long. */
#include "guard/canon_int.h"

enum { TABLE_MIN = 32, ANCHORS_MAX = 64, WALK_DEPTH_MAX = 2 * CANON_DEPTH_MAX };

/* ---- tables ---- */

static uint64_t hash_of(const struct text_table *table, struct btz_str key)
{
    /* The place of the table in memory is nothing that a server knows. */
    uint64_t hash = 14695981039346656037ULL ^ (uint64_t)(uintptr_t)table;

    for (size_t i = 0; i < key.len; i++) {
        hash = (hash ^ (unsigned char)key.ptr[i]) * 1099511628211ULL;
        hash ^= hash >> 29;
    }
    return hash ^ hash >> 32;
}

static struct text_slot *slot_of(struct text_table *table, struct btz_str key)
{
    size_t i = hash_of(table, key) & table->mask;

    table->steps++;
    while (table->slots[i].used && !btz_str_eq(table->slots[i].key, key)) {
        i = (i + 1) & table->mask;
        table->steps++;
    }
    return &table->slots[i];
}

/* The slot of `key`, made if there was none. */
static struct text_slot *put(struct btz_arena *arena, struct text_table *table, struct btz_str key)
{
    struct text_slot *slot;

    if (2 * (table->count + 1) > (table->slots ? table->mask + 1 : 0)) {
        struct text_slot *old = table->slots;
        size_t size = old ? table->mask + 1 : 0;

        table->mask = (size ? 2 * size : TABLE_MIN) - 1;
        table->slots = btz_arena_array(arena, table->mask + 1, sizeof(*table->slots));
        for (size_t i = 0; i < size; i++) {
            if (old[i].used) {
                *slot_of(table, old[i].key) = old[i];
            }
        }
    }
    slot = slot_of(table, key);
    table->count += !slot->used;
    if (!slot->used) {
        *slot = (struct text_slot){key, BTZ_STR_NONE, true};
    }
    return slot;
}

static bool has(struct text_table *table, struct btz_str key)
{
    return table->slots && slot_of(table, key)->used;
}

/* ---- renaming ---- */

static void take_texts(struct work *w, const struct btz_json *value, unsigned depth)
{
    if (btz_json_is(value, BTZ_JSON_STRING)) {
        (void)put(w->arena, &w->taken, btz_json_str(value));
        return;
    }
    for (size_t i = 0; depth < WALK_DEPTH_MAX && i < btz_json_count(value); i++) {
        if (btz_json_is(value, BTZ_JSON_OBJECT)) {
            (void)put(w->arena, &w->taken, btz_json_key_at(value, i));
            take_texts(w, btz_json_value_at(value, i), depth + 1);
        } else {
            take_texts(w, btz_json_at(value, i), depth + 1);
        }
    }
}

struct btz_str canon_renamed(struct work *w, struct renames *list, struct btz_str given,
                             struct btz_str wish)
{
    struct text_slot *slot = put(w->arena, &list->table, given);
    struct rename *r;

    if (slot->value.len) {
        return slot->value;
    }
    if (!w->taken.slots) {
        take_texts(w, w->tool, 0);
    }
    r = BTZ_NEW(w->arena, struct rename);
    *r = (struct rename){list->first, given, wish};
    while (r->now.len == 0 || has(&w->taken, r->now)) {
        r->now = btz_arena_printf(w->arena, "%s_%zu", list->head, ++list->last);
    }
    (void)put(w->arena, &w->taken, r->now);
    list->first = r;
    slot->value = r->now;
    return r->now;
}

size_t canon_rename_steps(const struct work *w)
{
    return w->names.table.steps + w->values.table.steps + w->definitions.table.steps +
           w->taken.steps + w->known.steps + w->waiting.steps + w->reached.steps;
}

/* ---- references ---- */

static void find_anchors(struct work *w, const struct btz_json *value, struct btz_str path,
                         unsigned depth)
{
    static const char *const names[] = {"$anchor", "$dynamicAnchor", "$id"};

    if (depth > CANON_DEPTH_MAX) {
        return;
    }
    for (size_t i = 0; path.len && btz_json_is(value, BTZ_JSON_OBJECT) && i < 3; i++) {
        struct btz_str name = btz_json_str(btz_json_getz(value, names[i]));

        if (name.len && w->anchor_count < ANCHORS_MAX) {
            w->anchors[w->anchor_count++] = (struct canon_anchor){name, path, i < 2};
        }
    }
    for (size_t i = 0; i < btz_json_count(value); i++) {
        bool object = btz_json_is(value, BTZ_JSON_OBJECT);
        struct btz_str key =
            object ? btz_json_key_at(value, i) : btz_arena_printf(w->arena, "%zu", i);
        const struct btz_json *inner = object ? btz_json_value_at(value, i) : btz_json_at(value, i);
        struct btz_buf text;

        if (!btz_json_is(inner, BTZ_JSON_OBJECT) && !btz_json_is(inner, BTZ_JSON_ARRAY)) {
            continue;
        }
        if (btz_str_is(key, "enum") || btz_str_is(key, "const") || btz_str_is(key, "default") ||
            btz_str_is(key, "examples")) {
            continue;
        }
        btz_buf_init(&text, CANON_BYTES_MAX);
        (void)btz_buf_add_str(&text, path.len ? path : BTZ_STR("#"));
        (void)btz_buf_add_byte(&text, '/');
        for (size_t k = 0; k < key.len; k++) {
            char c = key.ptr[k];

            (void)btz_buf_add_str(&text, c == '~'   ? BTZ_STR("~0")
                                         : c == '/' ? BTZ_STR("~1")
                                                    : (struct btz_str){&c, 1});
        }
        find_anchors(w, inner, btz_arena_dup(w->arena, btz_buf_view(&text)), depth + 1);
        btz_buf_fini(&text);
    }
}

static struct btz_str percent_decoded(struct btz_arena *arena, struct btz_str s)
{
    char *out = btz_arena_alloc(arena, s.len + 1);
    size_t len = 0;

    for (size_t i = 0; i < s.len; i++) {
        int high = s.ptr[i] == '%' && i + 2 < s.len ? btz_hex_value(s.ptr[i + 1]) : -1;
        int low = high >= 0 ? btz_hex_value(s.ptr[i + 2]) : -1;

        out[len++] = low >= 0 ? (char)(high * 16 + low) : s.ptr[i];
        i += low >= 0 ? 2 : 0;
    }
    return (struct btz_str){out, len};
}

static struct btz_str unescaped(struct btz_arena *arena, struct btz_str s)
{
    char *out = btz_arena_alloc(arena, s.len + 1);
    size_t len = 0;

    for (size_t i = 0; i < s.len; i++) {
        bool pair =
            s.ptr[i] == '~' && i + 1 < s.len && (s.ptr[i + 1] == '0' || s.ptr[i + 1] == '1');

        out[len++] = pair ? s.ptr[i + 1] == '0' ? '~' : '/' : s.ptr[i];
        i += pair ? 1 : 0;
    }
    return (struct btz_str){out, len};
}

/* A pointer in plain characters, "#/...": none if the reference leaves the schema or ends nowhere.
 */
static struct btz_str pointer_of(struct work *w, struct btz_str given)
{
    if (given.len == 0) {
        return BTZ_STR_NONE;
    }
    if (!btz_str_is(given, "#") && !btz_str_starts(given, BTZ_STR("#/"))) {
        struct btz_str wanted = given.ptr[0] == '#' ? btz_str_sub(given, 1, given.len) : given;
        bool anchor = given.ptr[0] == '#';

        if (!w->anchors) {
            w->anchors = btz_arena_array(w->arena, ANCHORS_MAX, sizeof(*w->anchors));
            find_anchors(w, w->base, BTZ_STR_NONE, 0);
        }
        given = BTZ_STR_NONE;
        for (size_t i = 0; i < w->anchor_count && given.len == 0; i++) {
            if (w->anchors[i].anchor == anchor && btz_str_eq(w->anchors[i].name, wanted)) {
                given = w->anchors[i].pointer;
            }
        }
    } else if (memchr(given.ptr, '%', given.len)) {
        given = percent_decoded(w->arena, given);
    }
    return given.len && btz_json_pointer(w->base, btz_str_sub(given, 1, given.len)) ? given
                                                                                    : BTZ_STR_NONE;
}

static void enqueue(struct work *w, struct canon_queued **list, const struct btz_json *schema)
{
    struct canon_queued *queued = BTZ_NEW(w->arena, struct canon_queued);

    *queued = (struct canon_queued){*list, schema};
    *list = queued;
}

/* Keywords below which schemas are, so that a reference may go through them. */
static bool holds_schemas(int key)
{
    return key == KEY_PROPERTIES || key == KEY_DEFINITIONS || key == KEY_DEPENDENT ||
           key == KEY_SCHEMA || key == KEY_SCHEMAS || key == KEY_ITEMS;
}

struct btz_str canon_reference(struct work *w, struct btz_str given, bool reach)
{
    struct btz_str rest = pointer_of(w, given);
    struct btz_str now = BTZ_STR("#");
    const struct btz_json *at = w->base;
    const struct btz_json *found[CANON_DEPTH_MAX];
    size_t count = 0;
    struct btz_str part;
    int before = -1;

    if (rest.len == 0 || !btz_str_cut(&rest, '/', &part)) {
        return BTZ_STR_NONE;
    }
    while (rest.ptr && btz_str_cut(&rest, '/', &part)) {
        struct btz_str given_name = unescaped(w->arena, part);
        struct btz_str name = given_name;
        int key = canon_keyword(name);
        bool number = name.len && name.len < 4;
        size_t index = 0;

        for (size_t i = 0; i < name.len; i++) {
            number = number && name.ptr[i] >= '0' && name.ptr[i] <= '9';
            index = number ? index * 10 + (size_t)(name.ptr[i] - '0') : 0;
        }
        if (before == KEY_SCHEMAS && !btz_json_is(at, BTZ_JSON_ARRAY)) {
            return BTZ_STR_NONE;
        }
        at = btz_json_is(at, BTZ_JSON_ARRAY) ? btz_json_at(at, index) : btz_json_get(at, name);
        if (before == KEY_PROPERTIES || before == KEY_DEFINITIONS || before == KEY_DEPENDENT) {
            if (before == KEY_DEFINITIONS && count < CANON_DEPTH_MAX) {
                found[count++] = at;
            }
            name = reach                       ? name
                   : before == KEY_DEFINITIONS ? canon_definition_name(w, name)
                                               : canon_property(w, name);
            key = -1;
        } else if (!(number && (before == KEY_SCHEMAS || before == KEY_ITEMS)) &&
                   !holds_schemas(key)) {
            return BTZ_STR_NONE;
        }
        before = key;
        if (!reach) {
            struct btz_str shown = btz_str_eq(name, given_name) ? part : name;

            now = btz_arena_printf(w->arena, "%.*s/%.*s", BTZ_FMT(now), BTZ_FMT(shown));
        }
    }
    if (!btz_json_is(at, BTZ_JSON_OBJECT) && !btz_json_is(at, BTZ_JSON_BOOL)) {
        return BTZ_STR_NONE;
    }
    if (before == KEY_PROPERTIES || before == KEY_DEFINITIONS || before == KEY_DEPENDENT ||
        before == KEY_SCHEMAS) {
        return BTZ_STR_NONE; /* a map or list of schemas is none */
    }
    for (size_t i = 0; reach && i < count; i++) {
        struct btz_str address = {(const char *)&found[i], sizeof(found[i])};

        if (!has(&w->reached, address)) {
            (void)put(w->arena, &w->reached, btz_arena_dup(w->arena, address));
            enqueue(w, &w->queue, found[i]);
        }
    }
    return now;
}

/* ---- what a schema holds and reaches ---- */

static void survey(struct work *w, const struct btz_json *value, unsigned depth);

/* The schemas that wait for a property of this name; NULL if none do, unless `make`. */
static struct canon_queued **waiting_for(struct work *w, struct btz_str name, bool make)
{
    struct text_slot *slot;

    if (!make && !has(&w->waiting, name)) {
        return NULL;
    }
    slot = put(w->arena, &w->waiting, name);
    if (!slot->value.ptr) {
        slot->value.ptr = (const char *)BTZ_NEW(w->arena, struct canon_queued *);
    }
    return (struct canon_queued **)(uintptr_t)slot->value.ptr;
}

static void add_property(struct work *w, struct btz_str name)
{
    struct canon_queued **waiting = waiting_for(w, name, false);

    (void)put(w->arena, &w->known, name);
    while (waiting && *waiting) {
        struct canon_queued *queued = *waiting;

        *waiting = queued->next;
        queued->next = w->queue;
        w->queue = queued;
    }
}

/* What depends on a property that nothing has goes, and what is in it with it. */
static void add_dependent(struct work *w, struct btz_str name, const struct btz_json *schema)
{
    enqueue(w, has(&w->known, name) ? &w->queue : waiting_for(w, name, true), schema);
}

static void survey_all(struct work *w, const struct btz_json *map, int key, unsigned depth)
{
    for (size_t i = 0; i < btz_json_count(map); i++) {
        struct btz_str name = btz_json_key_at(map, i);

        if (key == KEY_PROPERTIES) {
            add_property(w, name);
        }
        if (key == KEY_DEPENDENT) {
            add_dependent(w, name, btz_json_value_at(map, i));
        } else if (key != KEY_PATTERNS || canon_pattern_is_plain(name)) {
            survey(w, btz_json_value_at(map, i), depth + 1);
        }
    }
}

static void survey(struct work *w, const struct btz_json *value, unsigned depth)
{
    for (size_t i = 0; depth <= CANON_DEPTH_MAX && btz_json_is(value, BTZ_JSON_OBJECT) &&
                       i < btz_json_count(value);
         i++) {
        const struct btz_json *inner = btz_json_value_at(value, i);
        int key = canon_keyword(btz_json_key_at(value, i));
        bool object = btz_json_is(inner, BTZ_JSON_OBJECT);

        switch (key) {
        case KEY_PROPERTIES:
        case KEY_PATTERNS:
        case KEY_DEPENDENT:
            if (object) {
                survey_all(w, inner, key, depth);
            }
            break;
        case KEY_SCHEMA:
        case KEY_ITEMS:
        case KEY_SCHEMAS:
            if (object && key != KEY_SCHEMAS) {
                survey(w, inner, depth + 1);
            }
            for (size_t k = 0; key != KEY_SCHEMA && btz_json_is(inner, BTZ_JSON_ARRAY) &&
                               k < btz_json_count(inner);
                 k++) {
                survey(w, btz_json_at(inner, k), depth + 1);
            }
            break;
        case KEY_REFERENCE:
            (void)canon_reference(w, btz_json_str(inner), true);
            break;
        default:
            break;
        }
    }
}

static void survey_base(struct work *w)
{
    if (w->surveyed == w->base) {
        return;
    }
    w->surveyed = w->base;
    survey(w, w->base, 0);
    while (w->queue) {
        const struct btz_json *next = w->queue->schema;

        w->queue = w->queue->next;
        survey(w, next, 0);
    }
}

void canon_base(struct work *w, const struct btz_json *schema)
{
    if (schema && w->base == schema) {
        return; /* surveyed already */
    }
    w->base = schema;
    w->surveyed = NULL;
    w->anchors = NULL;
    w->anchor_count = 0;
    w->known = (struct text_table){0};
    w->waiting = (struct text_table){0};
    w->reached = (struct text_table){0};
}

bool canon_is_property(struct work *w, const struct btz_json *schema, struct btz_str name)
{
    if (btz_json_get(btz_json_getz(schema, "properties"), name)) {
        return true;
    }
    survey_base(w);
    return has(&w->known, name);
}

bool canon_is_reached(struct work *w, const struct btz_json *definition)
{
    struct btz_str address = {(const char *)&definition, sizeof(const struct btz_json *)};

    survey_base(w);
    return has(&w->reached, address);
}
