/* All verdicts of a run in one pass. */
#include "store/store_int.h"

#define COLUMNS                                                                                    \
    "SELECT v.ordinal, v.late, v.source, v.name, v.version, v.success, v.act_event,"               \
    " v.effect_event, v.at_us, v.data, v.blob, c.ordinal FROM "

/* CROSS JOIN: the planner keeps the order of the tables, which is the order wanted. */
static const char own[] =
    COLUMNS "cell c CROSS JOIN verdict v ON v.trial = c.trial"
            " WHERE c.run = ?1 AND v.late = 0 AND (?2 IS NULL OR v.source = ?2)"
            " ORDER BY c.ordinal, v.ordinal";
static const char late[] = COLUMNS
    "verdict v CROSS JOIN trial t ON t.id = v.trial CROSS JOIN cell c ON c.id = t.cell"
    " WHERE v.run = ?1 AND c.trial = t.id AND (?2 IS NULL OR v.source = ?2) ORDER BY v.late";

enum { CELL_COLUMN = 11 };

int btz_store_verdicts_each(struct btz_store *store, int64_t run, enum btz_store_given given,
                            struct btz_str source,
                            int (*take)(void *context, int64_t ordinal,
                                        const struct btz_store_verdict *verdict,
                                        struct btz_err *err),
                            void *context, struct btz_err *err)
{
    struct btz_store_bind bind = {NULL, 1, SQLITE_OK};
    struct btz_arena *arena;
    int rc;

    if (sqlite3_prepare_v2(store->db, given == BTZ_STORE_OWN ? own : late, -1, &bind.stmt, NULL) !=
        SQLITE_OK) {
        return btz_store_sql_error(store, "the verdicts cannot be read", err);
    }
    btz_store_bind_int(&bind, run);
    if (source.len) {
        btz_store_bind_text(&bind, source);
    } else {
        btz_store_bind_null(&bind);
    }
    arena = btz_arena_new();
    while ((rc = btz_store_step(store, &bind, "the verdicts cannot be read", err)) == 1) {
        struct btz_store_verdict verdict = {.late = given == BTZ_STORE_LATE};
        struct btz_store_reader reader;
        struct btz_hash json;

        btz_store_reader_init(&reader, store, arena);
        rc = btz_store_verdict_read(&reader, bind.stmt, &verdict, &json, err);
        btz_store_reader_fini(&reader);
        if (rc == BTZ_OK) {
            rc = take(context, sqlite3_column_int64(bind.stmt, CELL_COLUMN), &verdict, err);
        }
        if (rc != BTZ_OK) {
            break;
        }
        btz_arena_reset(arena);
    }
    btz_arena_free(arena);
    sqlite3_finalize(bind.stmt);
    return rc;
}
