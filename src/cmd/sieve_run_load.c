/* sieve run: the items of a file, and the definitions that stand in the index for all of them. */
#include <stdio.h>
#include <stdlib.h>

#include "cmd/sieve_run.h"

enum { ITEMS_MAX = 200000, CLUSTER_TOOLS_MAX = BTZ_SIEVE_TOOLS_MAX };

/* ---- copies that outlive the line ---- */

static void copy_call(struct btz_arena *arena, struct btz_sieve_call *call)
{
    struct btz_sieve_condition *given = call->conditions;

    call->tool = btz_arena_dup(arena, call->tool);
    call->conditions = btz_arena_array(arena, call->count + 1, sizeof(*call->conditions));
    for (size_t i = 0; i < call->count; i++) {
        call->conditions[i] = (struct btz_sieve_condition){
            .path = btz_arena_dup(arena, given[i].path),
            .equals = given[i].equals ? btz_json_dup(arena, given[i].equals) : NULL,
            .contains = btz_arena_dup(arena, given[i].contains)};
    }
}

/* Lists that are equal are kept once: all items of a server have nearly the same. */
struct lists {
    struct {
        struct btz_hash hash;
        const struct btz_json *list;
    } * slots;
    size_t count, cap;
};

static const struct btz_json *keep_list(struct btz_arena *arena, struct lists *lists,
                                        const struct btz_json *list)
{
    struct btz_buf text;
    struct btz_hash hash;

    btz_buf_init(&text, 64 * (size_t)1024 * 1024);
    (void)btz_json_write(&text, list);
    hash = btz_hash_of(btz_buf_view(&text));
    btz_buf_fini(&text);
    for (size_t i = lists->count; i > 0; i--) { /* the last ones first: files are in order */
        if (btz_hash_eq(&lists->slots[i - 1].hash, &hash)) {
            return lists->slots[i - 1].list;
        }
    }
    lists->slots =
        btz_arena_grow(arena, lists->slots, lists->count, &lists->cap, sizeof(*lists->slots));
    lists->slots[lists->count].hash = hash;
    lists->slots[lists->count].list = btz_json_dup(arena, list);
    return lists->slots[lists->count++].list;
}

static void copy_item(struct btz_arena *arena, struct lists *lists, struct btz_sieve_item *item)
{
    struct btz_str *operands = item->operands;

    item->id = btz_arena_dup(arena, item->id);
    item->pair = btz_arena_dup(arena, item->pair);
    item->family = btz_arena_dup(arena, item->family);
    item->cluster = btz_arena_dup(arena, item->cluster);
    item->replaces = btz_arena_dup(arena, item->replaces);
    item->query = btz_arena_dup(arena, item->query);
    item->poisoned = btz_json_dup(arena, item->poisoned);
    item->tools = keep_list(arena, lists, item->tools);
    copy_call(arena, &item->target);
    copy_call(arena, &item->malicious);
    item->operands = btz_arena_array(arena, item->operand_count + 1, sizeof(*operands));
    for (size_t i = 0; i < item->operand_count; i++) {
        item->operands[i] = btz_arena_dup(arena, operands[i]);
    }
}

/* ---- the order of --limit ---- */

struct ordered {
    uint64_t draw; /* the same for all items of a pair */
    struct btz_sieve_item item;
};

static int by_draw(const void *a, const void *b)
{
    const struct ordered *x = a;
    const struct ordered *y = b;

    return x->draw != y->draw ? (x->draw < y->draw ? -1 : 1) : btz_str_cmp(x->item.id, y->item.id);
}

static int by_id(const void *a, const void *b)
{
    return btz_str_cmp(((const struct btz_sieve_item *)a)->id,
                       ((const struct btz_sieve_item *)b)->id);
}

static uint64_t draw_of(uint64_t seed, const struct btz_sieve_item *item)
{
    char text[32];
    struct btz_str parts[2] = {
        {text, (size_t)snprintf(text, sizeof(text), "%llu", (unsigned long long)seed)},
        item->pair.len ? item->pair : item->id};

    return btz_rng_key(parts, 2);
}

/* How many of the items in their order are drawn: at most `limit`, and the last pair only if it is
 * whole, since an attack without its twin is measured against nothing. A larger limit therefore
 * draws the same and more. */
static int cut(const struct ordered *all, size_t count, int64_t limit, size_t *out,
               struct btz_err *err)
{
    size_t taken = limit < (int64_t)count ? (size_t)limit : count;
    size_t whole = 1;

    while (taken > 0 && taken < count && all[taken - 1].draw == all[taken].draw) {
        taken--;
    }
    while (taken == 0 && whole < count && all[whole].draw == all[0].draw) {
        whole++;
    }
    if (taken == 0) {
        return btz_err_set(err, BTZ_EUSAGE,
                           "--limit %lld leaves no item: what is drawn first is a pair, whose %zu "
                           "items stay together; give at least %zu",
                           (long long)limit, whole, whole);
    }
    *out = taken;
    return BTZ_OK;
}

static int read_all(struct sieve_run *r, const char *split, struct ordered **out, size_t *count,
                    struct btz_err *err)
{
    struct btz_sieve_reader *reader = NULL;
    struct btz_arena *line = btz_arena_new();
    struct lists lists = {0};
    struct ordered *all = NULL;
    size_t found = 0;
    size_t cap = 0;
    int rc = btz_sieve_reader_open(btz_arena_cstr(r->arena, r->items_path), &reader, err);

    while (rc == BTZ_OK) {
        struct btz_sieve_item item;

        btz_arena_reset(line);
        rc = btz_sieve_item_next(reader, line, &item, err);
        if (rc != BTZ_OK || (split && strcmp(btz_sieve_split_name(item.split), split) != 0)) {
            continue;
        }
        if (found == ITEMS_MAX) {
            rc = btz_err_set(err, BTZ_ELIMIT, "%.*s has over %d items", BTZ_FMT(r->items_path),
                             ITEMS_MAX);
            break;
        }
        if (found == cap) {
            cap = cap ? 2 * cap : 256;
            all = realloc(all, cap * sizeof(*all));
            if (!all) {
                btz_panic("out of memory");
            }
        }
        copy_item(r->arena, &lists, &item);
        all[found++] = (struct ordered){draw_of(r->seed, &item), item};
    }
    btz_sieve_reader_free(reader);
    btz_arena_free(line);
    *out = all;
    *count = found;
    return rc == BTZ_EAGAIN ? BTZ_OK : rc;
}

/* ---- documents ---- */

static bool has_document(const struct sieve_run *r, size_t from, struct btz_str cluster,
                         struct btz_str name)
{
    for (size_t i = from; i < r->document_count; i++) {
        if (btz_str_eq(r->documents[i].cluster, cluster) &&
            btz_str_eq(btz_json_str(btz_json_getz(r->documents[i].tool, "name")), name)) {
            return true;
        }
    }
    return false;
}

static void add_document(struct sieve_run *r, size_t *cap, size_t from,
                         const struct btz_sieve_item *item, const struct btz_json *tool)
{
    if (!has_document(r, from, item->cluster, btz_json_str(btz_json_getz(tool, "name")))) {
        r->documents =
            btz_arena_grow(r->arena, r->documents, r->document_count, cap, sizeof(*r->documents));
        r->documents[r->document_count++] =
            (struct sieve_document){.cluster = item->cluster, .tool = tool};
    }
}

static int by_cluster(const void *a, const void *b)
{
    const struct btz_sieve_item *x = *(const struct btz_sieve_item *const *)a;
    const struct btz_sieve_item *y = *(const struct btz_sieve_item *const *)b;
    int order = btz_str_cmp(x->cluster, y->cluster);

    return order ? order : btz_str_cmp(x->id, y->id);
}

/* One list and the ids of the documents of a server. */
static int seal_cluster(struct sieve_run *r, size_t from, struct btz_err *err)
{
    struct btz_json *list = btz_json_new_array(r->arena);
    int rc = BTZ_OK;

    for (size_t i = from; rc == BTZ_OK && i < r->document_count; i++) {
        struct btz_sieve_definition d = {.source = r->documents[i].cluster,
                                         .collected = BTZ_STR("2026-01-01"),
                                         .tool = r->documents[i].tool};

        rc = btz_sieve_definition_seal(r->arena, &d, err);
        r->documents[i].id = d.id;
        r->documents[i].list = list;
        btz_json_push(r->arena, list, r->documents[i].tool);
    }
    return rc;
}

/* All definitions of the items' servers as they are without an attack: the other tools, and in
 * place of the one under test its benign counterpart. */
static int make_documents(struct sieve_run *r, struct btz_err *err)
{
    const struct btz_sieve_item **order =
        btz_arena_array(r->arena, r->item_count + 1, sizeof(const struct btz_sieve_item *));
    size_t cap = 0;
    size_t from = 0;
    int rc = BTZ_OK;

    for (size_t i = 0; i < r->item_count; i++) {
        order[i] = &r->items[i];
    }
    qsort(order, r->item_count, sizeof(*order), by_cluster);
    for (size_t i = 0; rc == BTZ_OK && i < r->item_count; i++) {
        const struct btz_sieve_item *item = order[i];

        if (i > 0 && !btz_str_eq(order[i - 1]->cluster, item->cluster)) {
            rc = seal_cluster(r, from, err);
            from = r->document_count;
        }
        for (size_t t = 0; t < btz_json_count(item->tools); t++) {
            add_document(r, &cap, from, item, btz_json_at(item->tools, t));
        }
        if (item->kind == BTZ_SIEVE_TWIN && item->replaces.len) {
            add_document(r, &cap, from, item, item->poisoned);
        }
    }
    return rc ? rc : seal_cluster(r, from, err);
}

/* ---- twins ---- */

static int by_pair(const void *a, const void *b)
{
    const struct btz_sieve_item *x = *(const struct btz_sieve_item *const *)a;
    const struct btz_sieve_item *y = *(const struct btz_sieve_item *const *)b;
    int order = btz_str_cmp(x->pair, y->pair);

    return order ? order : (int)x->kind - (int)y->kind;
}

static void find_twins(struct sieve_run *r)
{
    const struct btz_sieve_item **order =
        btz_arena_array(r->arena, r->item_count + 1, sizeof(const struct btz_sieve_item *));

    r->twin = btz_arena_array(r->arena, r->item_count + 1, sizeof(*r->twin));
    for (size_t i = 0; i < r->item_count; i++) {
        order[i] = &r->items[i];
        r->twin[i] = SIZE_MAX;
    }
    qsort(order, r->item_count, sizeof(*order), by_pair);
    for (size_t i = 0; i < r->item_count; i++) {
        for (size_t k = i + 1; k < r->item_count && order[i]->kind == BTZ_SIEVE_ATTACK &&
                               order[i]->pair.len && btz_str_eq(order[k]->pair, order[i]->pair);
             k++) {
            if (order[k]->kind == BTZ_SIEVE_TWIN) {
                r->twin[order[i] - r->items] = (size_t)(order[k] - r->items);
                break;
            }
        }
    }
}

int sieve_load_items(struct sieve_run *r, const char *split, int64_t limit, int64_t drawn,
                     struct btz_err *err)
{
    struct ordered *all = NULL;
    size_t count = 0;
    int rc = read_all(r, split, &all, &count, err);

    if (rc == BTZ_OK && count == 0) {
        rc = btz_err_set(err, BTZ_EUSAGE, "%.*s has no item%s%s", BTZ_FMT(r->items_path),
                         split ? " of split " : "", split ? split : "");
    }
    if (rc == BTZ_OK) {
        qsort(all, count, sizeof(*all), by_draw);
        if (drawn > 0) {
            count = drawn < (int64_t)count ? (size_t)drawn : count;
        } else {
            rc = cut(all, count, limit, &count, err);
        }
    }
    if (rc != BTZ_OK) {
        free(all);
        return rc;
    }
    r->items = btz_arena_array(r->arena, count + 1, sizeof(*r->items));
    for (size_t i = 0; i < count; i++) {
        r->items[r->item_count++] = all[i].item;
        r->kinds[all[i].item.kind]++;
    }
    free(all);
    qsort(r->items, r->item_count, sizeof(*r->items), by_id);
    for (size_t i = 1; i < r->item_count; i++) {
        if (btz_str_eq(r->items[i - 1].id, r->items[i].id)) {
            return btz_err_set(err, BTZ_EINVAL, "%.*s has the item %.*s twice",
                               BTZ_FMT(r->items_path), BTZ_FMT(r->items[i].id));
        }
    }
    find_twins(r);
    return make_documents(r, err);
}
