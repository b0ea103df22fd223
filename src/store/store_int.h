/* What the files of the store share. Not for other rooms. */
#ifndef BTZ_STORE_STORE_INT_H
#define BTZ_STORE_STORE_INT_H

#include <sqlite3.h>
#include <zstd.h>

#include "base/buf.h"
#include "store/store.h"

enum {
    BTZ_STORE_APPLICATION_ID = 0x42545a53, /* "BTZS", at offset 68 of the file */
    BTZ_STORE_INLINE = 200,                /* content up to this size stays in its row */
    BTZ_STORE_LOAD_MAX = 256 * 1024 * 1024,
    /* A cell's key: nine parts, each byte of them at most three; no text of a row is longer. */
    BTZ_STORE_KEY_MAX = 9 * 3 * BTZ_STORE_MAX_TEXT + 64,
    BTZ_STORE_PARTS_TEXT_MAX = BTZ_STORE_MAX_PARTS * 21 + 2, /* list of blob ids */
    BTZ_STORE_MAX_RUNS = 1000000,
    BTZ_STORE_MAX_CERTS = 1000000,
    BTZ_STORE_TRIAL_PARTS = 524288 /* parts of all exchanges of a trial together */
};

/* Prepared statements, each made at its first use. The texts are in sql.c. */
enum btz_store_stmt {
    ST_BLOB_FIND,
    ST_BLOB_ADD,
    ST_BLOB_GET,
    ST_RUN_ADD,
    ST_RUN_HAS,
    ST_RUN_ALL,
    ST_RUN_ONE,
    ST_RUN_LAST,
    ST_RUN_PREFIX,
    ST_RUN_GENESIS,
    ST_RUN_STATE,
    ST_RUN_MOVE,
    ST_RUN_ATTACH,
    ST_RUN_END,
    ST_RUN_CARD,
    ST_RUN_LATE,
    ST_RUN_LATE_STATE,
    ST_CELL_ADD,
    ST_CELL_FIND,
    ST_CELL_TRIAL,
    ST_TRIAL_NEXT,
    ST_TRIAL_ADD,
    ST_TRIAL_ID,
    ST_TRIAL_ROW,
    ST_EVENT_ADD,
    ST_EVENT_GET,
    ST_EXCHANGE_ADD,
    ST_EXCHANGE_GET,
    ST_VERDICT_ADD,
    ST_VERDICT_GET,
    ST_VERDICT_SAME,
    ST_VERDICT_LATE,
    ST_FINDING_ADD,
    ST_FINDING_GET,
    ST_CERT_ADD,
    ST_CERT_GET,
    ST_SIEVE_HAS,
    ST_SIEVE_ADD,
    ST_SIEVE_RUN,
    ST_SIEVE_LAST,
    ST_SIEVE_MARK,
    ST_SIEVE_ROW_HAS,
    ST_SIEVE_ROW_GET,
    ST_SIEVE_ROW_ADD,
    ST_SIEVE_ROWS,
    ST_SIEVE_REPLY_ADD,
    ST_SIEVE_REPLY_GET,
    ST_SIEVE_REPLY_SUM,
    ST_SIEVE_PLACE,
    ST_SIEVE_MOVE,
    ST_SIEVE_CHAIN,
    ST_SIEVE_LOOSE,
    ST_BLOB_COUNT,
    ST_SAVEPOINT,
    ST_RELEASE,
    ST_ROLLBACK_TO,
    ST_BEGIN,
    ST_COMMIT,
    ST_COUNT
};

/* Known contents: hash -> blob id. 4-way buckets, oldest way overwritten; a miss costs a SELECT. */
enum { BTZ_STORE_KNOWN_BUCKETS = 16384, BTZ_STORE_KNOWN_WAYS = 4 };

struct btz_store_known {
    struct btz_hash hash;
    int64_t id; /* 0 = empty */
};

/* Where the run that is being written stands, pending trials included. */
struct btz_store_cursor {
    int64_t run; /* 0 = none loaded */
    int64_t trials;
    int64_t events;
    struct btz_hash head;
};

struct btz_store {
    sqlite3 *db;
    char *path;
    enum btz_store_mode mode;
    int lock_fd;     /* -1 = not held */
    int64_t session; /* tells this writer from every other */
    sqlite3_stmt *stmt[ST_COUNT];
    ZSTD_CCtx *zip;
    ZSTD_DCtx *unzip;
    struct btz_buf bytes;    /* scratch: compressed or encoded bytes */
    struct btz_arena *arena; /* scratch of one put */
    struct btz_store_known *known;
    unsigned char *known_turn; /* next way to overwrite, per bucket */
    struct btz_store_cursor at;
    int64_t next_trial_id; /* 0 = ask */
    int64_t committed;
    unsigned pending;
    int64_t oldest_us; /* when the first pending trial was put */
    bool hold;         /* import: put commits nothing, the caller does */
    unsigned group_trials;
    int64_t group_age_us;
};

/* ---- sql.c: statements, transactions, errors ---- */

/* Result code for what SQLite last said, with a sentence for people that starts with `doing`. */
int btz_store_sql_error(struct btz_store *store, const char *doing, struct btz_err *err);

/* Runs constant SQL text without results. */
int btz_store_exec(struct btz_store *store, const char *sql, struct btz_err *err) BTZ_WARN_UNUSED;

/* A statement being bound: parameters from 1 upwards; the first failure sticks. */
struct btz_store_bind {
    sqlite3_stmt *stmt;
    int next;
    int rc;
};

int btz_store_stmt(struct btz_store *store, enum btz_store_stmt which, struct btz_store_bind *out,
                   struct btz_err *err) BTZ_WARN_UNUSED;
void btz_store_bind_int(struct btz_store_bind *bind, int64_t value);
void btz_store_bind_null(struct btz_store_bind *bind);
/* Bytes must stay until the statement is done. */
void btz_store_bind_text(struct btz_store_bind *bind, struct btz_str text);
void btz_store_bind_bytes(struct btz_store_bind *bind, struct btz_str bytes);
void btz_store_bind_hash(struct btz_store_bind *bind, const struct btz_hash *hash);

/* Runs a statement that gives no rows, and resets it. */
int btz_store_run_stmt(struct btz_store *store, struct btz_store_bind *bind, const char *doing,
                       struct btz_err *err) BTZ_WARN_UNUSED;
/* Next row: 1, 0 at the end, or an error; reset by the caller with btz_store_reset. */
int btz_store_step(struct btz_store *store, struct btz_store_bind *bind, const char *doing,
                   struct btz_err *err) BTZ_WARN_UNUSED;
void btz_store_reset(struct btz_store_bind *bind);

/* Columns; views live until the next step. */
struct btz_str btz_store_col_text(sqlite3_stmt *stmt, int column);
struct btz_str btz_store_col_bytes(sqlite3_stmt *stmt, int column);
/* False unless the column holds 32 bytes. */
bool btz_store_col_hash(sqlite3_stmt *stmt, int column, struct btz_hash *out);

/* Starts a writing transaction unless one is open. */
int btz_store_begin(struct btz_store *store, struct btz_err *err) BTZ_WARN_UNUSED;
/* Commits it; on failure everything pending is lost (the message says so). */
int btz_store_commit(struct btz_store *store, struct btz_err *err) BTZ_WARN_UNUSED;
/* Throws it away and forgets all that was only in it. */
void btz_store_rollback(struct btz_store *store);

/* Gives all prepared statements up (they come back at their next use). */
void btz_store_finalize(struct btz_store *store);

int btz_store_need_write(const struct btz_store *store, struct btz_err *err) BTZ_WARN_UNUSED;

/* ---- migrate.c ---- */

/* Version of the schema that this program writes. */
int btz_store_schema_version(void);
/* Oldest version that is read without being brought forward. */
enum { BTZ_STORE_OLDEST_READ = 2 };
/* Lets a connection that only reads a store of that version see it as the newest one. */
int btz_store_read_older(sqlite3 *db, struct btz_err *err) BTZ_WARN_UNUSED;
/* Brings a database from `from` up to the newest version, each step in a transaction. */
int btz_store_migrate(sqlite3 *db, int from, struct btz_err *err) BTZ_WARN_UNUSED;
/* The same over a given table of steps: steps[i] leads from version i to i + 1. For tests. */
int btz_store_migrate_steps(sqlite3 *db, int from, const char *const *steps, int count,
                            struct btz_err *err) BTZ_WARN_UNUSED;

/* ---- lock.c ---- */

/* Takes the writer's lock of the store at `path` (resolved) and writes pid and session into it. */
int btz_store_lock(const char *path, int64_t session, int *fd, struct btz_err *err) BTZ_WARN_UNUSED;
void btz_store_unlock(int fd);
/* Session of the living writer of that store, 0 = nobody writes. */
int64_t btz_store_lock_holder(const char *path);

/* ---- open.c ---- */

/* Makes a new store file at `path` (which must not exist, or be empty), complete or not at all. */
int btz_store_create(const char *path, struct btz_err *err) BTZ_WARN_UNUSED;

/* ---- enum.c ---- */

bool btz_store_layer_of(struct btz_str name, enum btz_store_layer *out);

/* ---- check.c: bounds of what comes in ---- */

int btz_store_check_text(const char *name, struct btz_str s, bool needed,
                         struct btz_err *err) BTZ_WARN_UNUSED;
int btz_store_check_cell(const struct btz_store_cell *cell, struct btz_err *err) BTZ_WARN_UNUSED;
int btz_store_check_verdict(const struct btz_store_verdict *verdict, size_t event_count,
                            struct btz_err *err) BTZ_WARN_UNUSED;
int btz_store_check_trial(const struct btz_store_trial *trial, struct btz_err *err) BTZ_WARN_UNUSED;

/* ---- blob.c ---- */

/* Content that is stored: in its row (`inline_bytes`, id 0) or as a blob. */
struct btz_store_content {
    struct btz_hash hash;
    int64_t id;
    struct btz_str inline_bytes;
};

/* Stores content as a blob, whatever its size, unless it is there already. */
int btz_store_blob_put(struct btz_store *store, struct btz_str bytes, struct btz_hash *hash,
                       int64_t *id, struct btz_err *err) BTZ_WARN_UNUSED;
/* The same, but small content is left for its row. */
int btz_store_content_put(struct btz_store *store, struct btz_str bytes,
                          struct btz_store_content *out, struct btz_err *err) BTZ_WARN_UNUSED;
void btz_store_bind_content(struct btz_store_bind *bind, const struct btz_store_content *content);
int btz_store_blob_count(struct btz_store *store, int64_t *count,
                         struct btz_err *err) BTZ_WARN_UNUSED;
/* Forgets what is known to be there: after a rollback, a drop or a gc. */
void btz_store_known_clear(struct btz_store *store);

/* Content read in one go: blobs already seen are not read again, and a sum bounds them. Contents
 * are in the arena, hashes are checked. */
struct btz_store_reader {
    struct btz_store *store;
    struct btz_arena *arena;
    size_t left;                 /* bytes that may still be read */
    struct btz_store_seen *seen; /* open hash by blob id */
    size_t seen_count;
    size_t seen_cap;
};

void btz_store_reader_init(struct btz_store_reader *reader, struct btz_store *store,
                           struct btz_arena *arena);
void btz_store_reader_fini(struct btz_store_reader *reader);
/* ---- sieve_chain.c ---- */

/* Where the chain of a sieve run ends: the number of its links and the last one, or with none the
 * genesis over id, kind, time and card. */
struct btz_store_sieve_place {
    int64_t n;
    struct btz_hash head;
};
struct btz_store_sieve_reply;

int btz_store_sieve_place(struct btz_store *store, int64_t no, struct btz_store_sieve_place *out,
                          struct btz_err *err) BTZ_WARN_UNUSED;
int btz_store_sieve_move(struct btz_store *store, int64_t no, int64_t n,
                         const struct btz_hash *head, struct btz_err *err) BTZ_WARN_UNUSED;
struct btz_hash btz_store_link_sieve_row(const struct btz_hash *prev, int64_t n, struct btz_str key,
                                         struct btz_str json);
struct btz_hash btz_store_link_sieve_reply(const struct btz_hash *prev, int64_t n,
                                           const struct btz_store_sieve_reply *reply,
                                           const struct btz_hash *bytes);

/* ECORRUPT if the blob is absent or does not fit its hash. */
int btz_store_reader_blob(struct btz_store_reader *reader, int64_t id, struct btz_str *bytes,
                          struct btz_hash *hash, struct btz_err *err) BTZ_WARN_UNUSED;
/* Content from two columns of a row: `column` inline bytes, `column` + 1 blob id. */
int btz_store_reader_content(struct btz_store_reader *reader, sqlite3_stmt *stmt, int column,
                             struct btz_str *bytes, struct btz_hash *hash,
                             struct btz_err *err) BTZ_WARN_UNUSED;

/* ---- link.c: what the chain is made of ---- */

struct btz_hash btz_store_link_genesis(const char *id, int64_t created_us, struct btz_str study,
                                       const struct btz_hash *provenance, size_t cell_count,
                                       const struct btz_hash *cells);
/* Adds one cell to the running hash over all cells. */
void btz_store_link_cell(struct btz_hasher *hasher, struct btz_str key,
                         const struct btz_store_cell *cell);
struct btz_hash btz_store_link_event(const struct btz_hash *prev, int64_t n, size_t ordinal,
                                     const struct btz_store_event *event,
                                     const struct btz_hash *payload);
struct btz_hash btz_store_link_exchange(const struct btz_store_exchange *exchange,
                                        const struct btz_hash *parts, const struct btz_hash *reply);
struct btz_hash btz_store_link_verdict(const struct btz_store_verdict *verdict,
                                       const struct btz_hash *json);
struct btz_hash btz_store_link_finding(const struct btz_store_finding *finding,
                                       const struct btz_hash *json);
/* `parts` holds the digests of exchanges, verdicts and findings, in this order. */
struct btz_hash btz_store_link_trial(const struct btz_hash *prev, int64_t n,
                                     const struct btz_store_trial *trial,
                                     const struct btz_hash *parts);
struct btz_hash btz_store_link_late(const struct btz_hash *prev, int64_t sequence, int64_t n,
                                    const struct btz_hash *verdict);

/* ---- run.c ---- */

/* The run id of that second; `salt` tells those of one second apart. */
void btz_store_id_make(int64_t created_us, uint64_t salt, char *id);

/* btz_store_run_new with a given id and without attaching, inside the open transaction. */
int btz_store_run_insert(struct btz_store *store, const char *id, const struct btz_store_plan *plan,
                         int64_t *no, struct btz_err *err) BTZ_WARN_UNUSED;
/* Notes the end of a run inside the open transaction. */
int btz_store_run_ended(struct btz_store *store, int64_t no, struct btz_str reason, int64_t at_us,
                        struct btz_err *err) BTZ_WARN_UNUSED;
/* Run by number. Texts in `arena`. */
int btz_store_run_get(struct btz_store *store, int64_t no, struct btz_arena *arena,
                      struct btz_store_run *out, struct btz_err *err) BTZ_WARN_UNUSED;

/* ---- put.c ---- */

/* Where the chain of a run stands, as stored. */
int btz_store_place(struct btz_store *store, int64_t run, struct btz_store_cursor *out,
                    struct btz_err *err) BTZ_WARN_UNUSED;

/* How many late verdicts a run has and where their chain stands. */
int btz_store_late_place(struct btz_store *store, int64_t run, int64_t *count,
                         struct btz_hash *head, struct btz_err *err) BTZ_WARN_UNUSED;
/* btz_store_verdict_add inside the open transaction. */
int btz_store_late_insert(struct btz_store *store, int64_t run, int64_t n,
                          const struct btz_store_verdict *verdict,
                          struct btz_err *err) BTZ_WARN_UNUSED;

/* ---- rows.c, load.c ---- */

/* Columns of a row read one after the other. Values outside the type they are read as (an edited
 * file) read as 0 and set `damaged`. */
struct btz_store_columns {
    sqlite3_stmt *stmt;
    int next;
    bool damaged;
};

int64_t btz_store_next_int(struct btz_store_columns *columns);
int32_t btz_store_next_int32(struct btz_store_columns *columns);
bool btz_store_next_bool(struct btz_store_columns *columns);
enum btz_store_tri btz_store_next_tri(struct btz_store_columns *columns);
struct btz_str
btz_store_next_text(struct btz_store_columns *columns); /* lives until the next row */
struct btz_hash btz_store_next_hash(struct btz_store_columns *columns);
struct btz_store_tokens btz_store_next_tokens(struct btz_store_columns *columns);

/* Columns of cell c and trial t in the order in which btz_store_row_read reads them. */
#define BTZ_STORE_ROW_COLUMNS                                                                      \
    "c.model, c.architecture, c.defence, c.revision, c.host_profile, c.surface, c.attack,"         \
    " c.variant, c.boundary, c.arm, c.repetition, c.applicable, c.why, c.key, c.ordinal,"          \
    " t.n, t.id IS c.trial, t.outcome, t.sub, t.triggered, t.delivered, t.observed,"               \
    " t.observed_turn, t.carrier, t.fragments_seen, t.fragments_all, t.acted, t.act_event,"        \
    " t.effect, t.effect_event, t.stopped_by, t.stage, t.leak_ppm, t.utility, t.tokens_input,"     \
    " t.tokens_output, t.tokens_cache_read, t.tokens_cache_write, t.tokens_reasoning,"             \
    " t.cost_nano, t.started_us, t.took_us, t.model_us, t.turns, t.attempts, t.seed, t.stop,"      \
    " t.trajectory, t.events, t.exchanges, t.verdicts, t.findings, t.link"

/* Reads the row (cell, place and head of the trial) that `stmt` stands on, from column 0; texts
 * live until the next row. False if it is damaged. */
bool btz_store_row_read(sqlite3_stmt *stmt, struct btz_store_row *out);
/* Copies the row's texts into the arena. */
void btz_store_row_keep(struct btz_store_row *row, struct btz_arena *arena);

/* Exchange before `index` whose leading parts it may share: the nearest of the same role within 16,
 * or NULL. */
const struct btz_store_exchange *btz_store_exchange_before(const struct btz_store_exchange *all,
                                                           size_t index);

/* btz_store_rows_open over the planned cells alone, as if none had a trial. */
int btz_store_cells_open(struct btz_store *store, int64_t run, struct btz_store_rows **out,
                         struct btz_err *err) BTZ_WARN_UNUSED;

/* Row of one trial, texts in the arena, and its row id. */
int btz_store_row_find(struct btz_store *store, int64_t run, int64_t n, struct btz_arena *arena,
                       struct btz_store_row *out, int64_t *id, struct btz_err *err) BTZ_WARN_UNUSED;

/* Walk along the chain, for btz_store_verify: `head` is the link before the trial and becomes its
 * own; where something does not fit, `bad_event` says where (-1: not in an event). */
struct btz_store_walk {
    struct btz_hash head;
    int64_t events; /* that fit */
    int64_t bad_event;
};

/* A late verdict with its place in the run's chain of late verdicts. */
struct btz_store_late {
    int64_t sequence;
    int64_t n;
    struct btz_store_verdict verdict;
    struct btz_hash json;
    struct btz_hash link; /* as stored */
};

/* The verdict that `stmt` stands on, whose columns from 2 on are source, name, version, success,
 * act_event, effect_event, at_us, data, blob; texts and content in the reader's arena. */
int btz_store_verdict_read(struct btz_store_reader *reader, sqlite3_stmt *stmt,
                           struct btz_store_verdict *out, struct btz_hash *json,
                           struct btz_err *err) BTZ_WARN_UNUSED;

/* btz_store_trial_load, which also recomputes the links if `walk` is not NULL: ECORRUPT where the
 * stored ones differ. */
int btz_store_trial_walk(struct btz_store *store, int64_t run, int64_t n, struct btz_arena *arena,
                         struct btz_store_row *out, struct btz_store_walk *walk,
                         struct btz_err *err) BTZ_WARN_UNUSED;
/* Late verdict number `sequence` (from 1) of the run. BTZ_ENOTFOUND. */
int btz_store_late_load(struct btz_store *store, int64_t run, int64_t sequence,
                        struct btz_arena *arena, struct btz_store_late *out,
                        struct btz_err *err) BTZ_WARN_UNUSED;

#endif
