/* The store: one SQLite file (WAL) with every run, cell, trial and byte that a table or a viewer
 * later shows.
 *
 * *Finished* means: the commit returned. btz_store_trial_put writes one trial inside a savepoint of
 * its own; several trials share one commit (group commit). A trial is finished once
 * btz_store_committed names its number, and from then on neither kill -9 nor loss of power takes it
 * away (WAL with synchronous=FULL: one fsync per group, so the price is paid per group and not per
 * trial). A trial whose group was not committed has left nothing behind.
 *
 * One process writes (a lock that dies with it); any number read at any time, also while it writes.
 * A handle may move between threads but is used by one at a time.
 *
 * The hash chain. Each run starts from a genesis hash over its id, time, provenance and planned
 * cells. Every event, then the trial that holds it, adds a link
 *     H(previous link, kind of link, all stored fields, hashes of all content)
 * in commit order, so that a changed event, outcome, verdict or content is found by
 * btz_store_verify. The chain shows accidents and edits; it has no key, so whoever can rewrite the
 * whole run can rewrite its chain: note the head hash outside the store where that matters.
 *
 * Text fields are UTF-8 without NUL and at most BTZ_STORE_MAX_TEXT bytes; larger things are
 * *content* (bytes, at most BTZ_STORE_MAX_CONTENT), kept once by SHA-256 and compressed. */
#ifndef BTZ_STORE_STORE_H
#define BTZ_STORE_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/str.h"

enum {
    BTZ_STORE_MAX_TEXT = 4096,                /* bytes of a text field */
    BTZ_STORE_MAX_CONTENT = 64 * 1024 * 1024, /* bytes of one content */
    BTZ_STORE_MAX_CELLS = 1000000,            /* planned cells of a run */
    BTZ_STORE_MAX_EVENTS = 65535,             /* of a trial */
    BTZ_STORE_MAX_EXCHANGES = 4096,           /* of a trial */
    BTZ_STORE_MAX_PARTS = 8192,               /* of an exchange */
    BTZ_STORE_MAX_NOTES = 4096,               /* verdicts, and findings, of a trial */
    BTZ_STORE_ID_SIZE = 11                    /* run id with its NUL */
};

/* ---- open and close ------------------------------------------------------------------------ */

struct btz_store;

enum btz_store_mode { BTZ_STORE_READ, BTZ_STORE_WRITE };

/* Opens the store file at `path`. WRITE makes missing folders (mode 0700) and the file (0600),
 * takes the writer's lock (`path`.lock, holds the pid), and brings an older store forward. READ
 * changes nothing in the file. Errors:
 *   BTZ_ENOTFOUND     READ, and there is no such file
 *   BTZ_EDENIED       WRITE, and another process writes (its pid is in the message)
 *   BTZ_EUNSUPPORTED  the store was made by a newer version, or (READ) by an older one
 *   BTZ_EINVAL        the file is not a store (left untouched)
 *   BTZ_ECORRUPT      the file is a store but cut short or damaged (left untouched)
 *   BTZ_EIO           folder or file cannot be made, read or written */
int btz_store_open(const char *path, enum btz_store_mode mode, struct btz_store **out,
                   struct btz_err *err) BTZ_WARN_UNUSED;

/* Commits what is pending (a failure is lost here: call btz_store_flush first where it matters),
 * gives the lock back and frees. NULL is allowed. */
void btz_store_close(struct btz_store *store);

/* Path as given to btz_store_open. */
const char *btz_store_path(const struct btz_store *store);

/* Writes the default path, $XDG_STATE_HOME/bartizan/store.db or ~/.local/state/bartizan/store.db,
 * to `out`. BTZ_EMISSING if neither variable is set (absolute), BTZ_ELIMIT if it does not fit. */
int btz_store_default_path(char *out, size_t size, struct btz_err *err) BTZ_WARN_UNUSED;

/* ---- cells ---------------------------------------------------------------------------------- */

/* One planned cell. The key is made of model, architecture, defence, revision, host_profile,
 * attack, variant, repetition and arm; surface, boundary and `why` are the plan's snapshot, so that
 * a later pack cannot change what an old run's tables say. All texts but `why` must be non-empty.
 */
struct btz_store_cell {
    struct btz_str model;        /* as given with -m */
    struct btz_str architecture; /* react, reflexion, retry */
    struct btz_str defence;
    struct btz_str revision;
    struct btz_str host_profile;
    struct btz_str surface; /* ma, cl, st, tr */
    struct btz_str attack;
    struct btz_str variant;  /* v1 ... */
    struct btz_str boundary; /* V or B */
    struct btz_str arm;      /* attack, clean, benign */
    uint32_t repetition;
    bool applicable;    /* false: "not applicable" (era, carrier), counted apart, never run */
    struct btz_str why; /* reason if not applicable */
};

/* Canonical key text, in `arena`: the parts in the order
 * model|architecture|defence|revision|host_profile|attack/variant|repetition|arm, where '|', '%',
 * '/' (in attack and variant only) and control bytes inside a part are percent-encoded. */
struct btz_str btz_store_cell_key(struct btz_arena *arena, const struct btz_store_cell *cell);

/* ---- runs ----------------------------------------------------------------------------------- */

struct btz_store_plan {
    struct btz_str study;      /* name of the study */
    struct btz_str provenance; /* the provenance card, JSON, kept byte for byte (content) */
    int64_t created_us;        /* wall clock, microseconds since 1970 */
    size_t cell_count;
    const struct btz_store_cell *cells; /* in the planned order; or NULL, then: */
    /* Gives cell `at`, whose texts live until the next call; called once for each, in order. An
     * error ends the writing and comes back from it. */
    int (*cell_at)(void *data, size_t at, struct btz_store_cell *out, struct btz_err *err);
    void *data;
};

enum btz_store_run_status {
    BTZ_STORE_RUN_RUNNING,     /* open, and the process that attached it holds the lock */
    BTZ_STORE_RUN_INTERRUPTED, /* cells are left, nobody works on them: can be resumed */
    BTZ_STORE_RUN_DONE         /* every applicable cell has a trial */
};

const char *btz_store_run_status_name(enum btz_store_run_status status);

struct btz_store_run {
    int64_t no; /* handle for the calls below; not stable across stores */
    char id[BTZ_STORE_ID_SIZE];
    enum btz_store_run_status status;
    struct btz_str study;
    int64_t created_us;
    int64_t ended_us;          /* 0 = not ended */
    struct btz_str end_reason; /* as given to btz_store_run_end */
    struct btz_hash genesis;
    struct btz_hash head; /* last link of the chain */
    int64_t trials;       /* trials in the chain, superseded ones included */
    int64_t events;
    int64_t planned;        /* applicable cells */
    int64_t not_applicable; /* the others */
    int64_t finished;       /* applicable cells that have a trial (faults too) */
    int64_t faults;         /* of those, how many ended in fault */
};

/* Writes the run, its card and all planned cells in one commit and attaches the run to this
 * process. `id` (BTZ_STORE_ID_SIZE bytes) gets the run id: 10 characters of lower-case Crockford
 * base 32, 6 for the second it was made in and 4 that tell runs of one second apart, so ids sort by
 * time. Two cells with one key: BTZ_EEXISTS, naming the key. */
int btz_store_run_new(struct btz_store *store, const struct btz_store_plan *plan, int64_t *no,
                      char *id, struct btz_err *err) BTZ_WARN_UNUSED;

/* Resume: the run counts as running again, its end is cleared. */
int btz_store_run_attach(struct btz_store *store, int64_t no, struct btz_err *err) BTZ_WARN_UNUSED;

/* Commits what is pending and notes the end: `reason` is a short text for people, such as "done",
 * "money limit", "interrupted". Whether the run is done or interrupted follows from its cells. */
int btz_store_run_end(struct btz_store *store, int64_t no, struct btz_str reason, int64_t now_us,
                      struct btz_err *err) BTZ_WARN_UNUSED;

/* Finds a run: "last" (newest), an id, or a unique prefix of one (case does not matter).
 * BTZ_ENOTFOUND; BTZ_EUSAGE if several match (the message lists up to eight). Texts in `arena`. */
int btz_store_run_find(struct btz_store *store, struct btz_str ref, struct btz_arena *arena,
                       struct btz_store_run *out, struct btz_err *err) BTZ_WARN_UNUSED;

/* All runs, newest first, in `arena`. */
int btz_store_runs(struct btz_store *store, struct btz_arena *arena, struct btz_store_run **out,
                   size_t *count, struct btz_err *err) BTZ_WARN_UNUSED;

/* Splits "RUN/N" or "RUN": `*n` is 0 without a number. BTZ_EUSAGE if malformed. */
int btz_store_ref_split(struct btz_str text, struct btz_str *run, int64_t *n,
                        struct btz_err *err) BTZ_WARN_UNUSED;

/* The provenance card, byte for byte, in `arena`. */
int btz_store_provenance(struct btz_store *store, int64_t no, struct btz_arena *arena,
                         struct btz_str *out, struct btz_err *err) BTZ_WARN_UNUSED;

/* ---- a trial -------------------------------------------------------------------------------- */

enum btz_store_outcome { /* suite.md section 1; NONE: the cell has no trial */
                         BTZ_STORE_OUTCOME_NONE,
                         BTZ_STORE_FAULT,
                         BTZ_STORE_SUSCEPTIBLE,
                         BTZ_STORE_BELOW,
                         BTZ_STORE_ANOMALY,
                         BTZ_STORE_PREVENTED,
                         BTZ_STORE_NOT_EXERCISED,
                         BTZ_STORE_CONTAINED,
                         BTZ_STORE_UNFINISHED,
                         BTZ_STORE_RESISTED,
                         BTZ_STORE_OUTCOMES /* count */
};

/* "susceptible", ...; "" for NONE. */
const char *btz_store_outcome_name(enum btz_store_outcome outcome);
/* NONE for an unknown name. */
enum btz_store_outcome btz_store_outcome_of(struct btz_str name);

/* Answers that may be missing. */
enum btz_store_tri { BTZ_STORE_UNKNOWN = -1, BTZ_STORE_NO = 0, BTZ_STORE_YES = 1 };

enum btz_store_layer {
    BTZ_STORE_HOST,
    BTZ_STORE_MODEL,
    BTZ_STORE_CLIENT,
    BTZ_STORE_WIRE,
    BTZ_STORE_SERVER,
    BTZ_STORE_GUARD,
    BTZ_STORE_ORACLE,
    BTZ_STORE_LAYERS /* count */
};

const char *btz_store_layer_name(enum btz_store_layer layer);

/* An event's ordinal is its index in the trial's array, from 0. */
struct btz_store_event {
    enum btz_store_layer layer;
    bool visible;           /* to the model */
    int32_t turn;           /* from 1; 0 = outside any turn */
    int64_t at_us;          /* since the trial's start; 0 where time is not recorded */
    struct btz_str kind;    /* short name, such as "tools/call" */
    struct btz_str payload; /* content */
};

/* -1 = unknown. */
struct btz_store_tokens {
    int64_t input; /* not from a cache */
    int64_t output;
    int64_t cache_read;
    int64_t cache_write;
    int64_t reasoning;
};

#define BTZ_STORE_TOKENS_UNKNOWN ((struct btz_store_tokens){-1, -1, -1, -1, -1})

/* One model request and its reply. `parts` is the whole request in order (system text, definitions,
 * each message, sampling parameters ...) cut so that a later turn repeats the earlier turn's parts
 * byte for byte: leading parts equal to those of the exchange before with the same `role` cost
 * nothing, other parts seen before cost an integer. */
struct btz_store_exchange {
    struct btz_str role; /* agent, critic, guard, sampling, ... */
    int32_t turn;
    struct btz_str *parts; /* content each */
    size_t part_count;
    struct btz_str reply; /* content: bytes as received */
    struct btz_str model; /* model id as returned */
    struct btz_str stop;  /* stop reason as returned */
    int32_t status;       /* HTTP status, 0 = none */
    int64_t at_us;        /* since the trial's start */
    int64_t took_us;
    struct btz_store_tokens tokens;
};

struct btz_store_verdict {
    struct btz_str source;      /* oracle, companion, judge, utility */
    struct btz_str name;        /* of the oracle or the judging model */
    struct btz_str version;     /* rubric or prompt version (or hash) */
    enum btz_store_tri success; /* UNKNOWN: malformed or not applicable */
    int32_t act_event;          /* ordinal, -1 = none */
    int32_t effect_event;
    int64_t at_us;       /* wall clock; 0 inside a trial */
    bool late;           /* added by btz_store_verdict_add (output only) */
    struct btz_str json; /* content */
};

struct btz_store_finding {
    struct btz_str stage;
    struct btz_str rule;
    struct btz_str severity;
    struct btz_str action; /* pass, rewrite, block, ... */
    int32_t event;         /* ordinal, -1 = none */
    struct btz_str json;   /* content */
};

/* The chain of suite.md section 1. */
struct btz_store_chain {
    bool triggered; /* X */
    bool delivered;
    bool observed;          /* O: all fragments */
    int32_t observed_turn;  /* 0 = none */
    struct btz_str carrier; /* where it was observed: tool_result, definition, resource ... */
    int32_t fragments_seen;
    int32_t fragments_all;
    bool acted;        /* A */
    int32_t act_event; /* ordinal, -1 = none */
    bool effect;       /* E */
    int32_t effect_event;
    struct btz_str stopped_by; /* "" = nothing */
    struct btz_str stage;      /* memory scenarios: unseen, seen, stored or recalled; else "" */
    int32_t leak_ppm;          /* leak_fraction in millionths, -1 = not measured */
};

/* Longest beginning of `s` that a text field takes: cut at BTZ_STORE_MAX_TEXT and before the first
 * NUL or byte that is not UTF-8. For texts from outside, such as a returned model id. */
struct btz_str btz_store_clip(struct btz_str s);

struct btz_store_trial {
    struct btz_str cell_key; /* a planned, applicable cell of the run */
    enum btz_store_outcome outcome;
    struct btz_str sub; /* sub-code: refused, ignored, flagged, a fault's reason ... */
    struct btz_store_chain chain;
    enum btz_store_tri utility;
    struct btz_store_tokens tokens;
    int64_t cost_nano;  /* money in billionths of the price table's unit, -1 = unknown */
    int64_t started_us; /* wall clock */
    int64_t took_us;
    int64_t model_us; /* of that, waiting for models */
    int32_t turns;
    int32_t attempts; /* times the trial was started, at least 1 */
    uint64_t seed;
    struct btz_str stop; /* why it ended: final_answer, turns, calls, money, ... */
    struct btz_hash trajectory;
    struct btz_store_event *events;
    size_t event_count;
    struct btz_store_exchange *exchanges;
    size_t exchange_count;
    struct btz_store_verdict *verdicts;
    size_t verdict_count;
    struct btz_store_finding *findings;
    size_t finding_count;
};

/* Takes a trial (all bytes are copied) as number `*n` of the run, counted from 1 in commit order.
 * It is finished once btz_store_committed >= *n for that run. `now_us` is the monotonic time.
 * A cell has one trial; only a trial that ended in `fault` may be followed by another one, which
 * then supersedes it (both stay in the chain). On an error the trial has left nothing behind:
 *   BTZ_ENOTFOUND  no such cell        BTZ_EEXISTS  the cell has a trial
 *   BTZ_EDENIED    not applicable      BTZ_EINVAL, BTZ_ELIMIT  a field breaks its bounds, or all
 *                                      contents together pass 256 MiB
 *   BTZ_EIO        writing failed; if btz_store_committed did not move past earlier trials of this
 *                  group they are lost too, and the message says how many: their cells count as
 *                  never run
 * `n` may be NULL. */
int btz_store_trial_put(struct btz_store *store, int64_t run, const struct btz_store_trial *trial,
                        int64_t now_us, int64_t *n, struct btz_err *err) BTZ_WARN_UNUSED;

/* A group is committed by the put that makes it `trials` long or finds its oldest trial `age_us`
 * old, by btz_store_tick and by btz_store_flush. Default 256 trials, 250 ms. `trials` at least 1.
 */
void btz_store_group(struct btz_store *store, unsigned trials, int64_t age_us);

/* Commits if the group is old enough; `*due_us` (may be NULL) is the time at which the next tick is
 * wanted, 0 if nothing is pending. */
int btz_store_tick(struct btz_store *store, int64_t now_us, int64_t *due_us,
                   struct btz_err *err) BTZ_WARN_UNUSED;
int btz_store_flush(struct btz_store *store, struct btz_err *err) BTZ_WARN_UNUSED;

/* Highest finished trial number of the run that was last written by this handle; 0 = none. */
int64_t btz_store_committed(const struct btz_store *store);
/* Trials put but not yet committed. */
unsigned btz_store_pending(const struct btz_store *store);

/* Adds the verdict of a judge or of a re-run oracle to a stored trial, and commits. Such verdicts
 * have a chain of their own per run. A verdict with the same source, name and version: BTZ_EEXISTS.
 */
int btz_store_verdict_add(struct btz_store *store, int64_t run, int64_t n,
                          const struct btz_store_verdict *verdict,
                          struct btz_err *err) BTZ_WARN_UNUSED;

/* ---- reading -------------------------------------------------------------------------------- */

/* Between begin and end every read sees the store as it was at begin, whatever a writer does.
 * Readers only (a writing handle sees its own pending trials). */
int btz_store_snapshot_begin(struct btz_store *store, struct btz_err *err) BTZ_WARN_UNUSED;
void btz_store_snapshot_end(struct btz_store *store);

enum btz_store_order {
    BTZ_STORE_BY_PLAN,  /* every planned cell in planned order, with its current trial if any */
    BTZ_STORE_BY_NUMBER /* every trial in order N, superseded ones too */
};

/* One row. `trial` has no arrays (pointers NULL) but their counts are set, late verdicts not
 * counted. */
struct btz_store_row {
    struct btz_store_cell cell;
    int64_t ordinal; /* of the cell in the plan, from 0 */
    int64_t n;       /* trial number, 0 = the cell has no trial: trial is all zero but the key */
    bool current;    /* false: superseded */
    struct btz_store_trial trial;
    struct btz_hash link; /* of the trial in the chain */
};

struct btz_store_rows;

/* Rows of a run; resume, tables and exports are all made from this. */
int btz_store_rows_open(struct btz_store *store, int64_t run, enum btz_store_order order,
                        struct btz_store_rows **out, struct btz_err *err) BTZ_WARN_UNUSED;
/* 1 and the row, whose texts live until the next call; 0 at the end; or an error. */
int btz_store_rows_next(struct btz_store_rows *rows, struct btz_store_row *out,
                        struct btz_err *err) BTZ_WARN_UNUSED;
void btz_store_rows_free(struct btz_store_rows *rows); /* before the store; NULL is allowed */

/* Trial `n` with events, exchanges, verdicts (late ones last) and findings, all in `arena`; equal
 * contents share memory. BTZ_ENOTFOUND; BTZ_ELIMIT if its contents pass 256 MiB. */
int btz_store_trial_load(struct btz_store *store, int64_t run, int64_t n, struct btz_arena *arena,
                         struct btz_store_row *out, struct btz_err *err) BTZ_WARN_UNUSED;

/* Which verdicts btz_store_verdicts_each reads. */
enum btz_store_given {
    BTZ_STORE_OWN, /* stored with their trial: by cell in planned order, then as in the trial */
    BTZ_STORE_LATE /* added by btz_store_verdict_add: in the order in which they were added */
};

/* Calls `take` for each verdict of the run's current trials, in one pass over the verdicts and
 * without their trials' events and exchanges: for figures over a whole run. `source` empty: of
 * every source. `ordinal` is that of the trial's cell in the plan (btz_store_row.ordinal); the
 * verdict lives until `take` returns. What `take` returns other than BTZ_OK ends the pass and is
 * returned. Contents are checked against their hashes, links are not: btz_store_verify does that.
 * BTZ_ECORRUPT: a verdict is damaged. */
int btz_store_verdicts_each(struct btz_store *store, int64_t run, enum btz_store_given given,
                            struct btz_str source,
                            int (*take)(void *context, int64_t ordinal,
                                        const struct btz_store_verdict *verdict,
                                        struct btz_err *err),
                            void *context, struct btz_err *err) BTZ_WARN_UNUSED;

struct btz_store_counts {
    int64_t planned; /* applicable */
    int64_t not_applicable;
    int64_t superseded;                  /* trials */
    int64_t outcome[BTZ_STORE_OUTCOMES]; /* of current trials; [NONE]: cells without one */
};

int btz_store_count(struct btz_store *store, int64_t run, struct btz_store_counts *out,
                    struct btz_err *err) BTZ_WARN_UNUSED;

/* ---- verify --------------------------------------------------------------------------------- */

struct btz_store_check {
    bool ok;
    int64_t trials; /* that fit, before the first that does not */
    int64_t events;
    int64_t late_verdicts;
    struct btz_hash head; /* as recomputed; the run's head if ok */
    int64_t bad_trial;    /* 0: the run itself (card, cells, counts) */
    int64_t bad_event;    /* ordinal; -1: the trial's own row, verdicts, exchanges or findings */
    char what[768];       /* one sentence for people; "" if ok */
};

/* Recomputes the whole chain of the run: card, cells, events, trials, verdicts, content hashes.
 * Returns 0 also if something does not fit (`out->ok` is false and the first place is named); an
 * error means that the check itself could not be done. */
int btz_store_verify(struct btz_store *store, int64_t run, struct btz_store_check *out,
                     struct btz_err *err) BTZ_WARN_UNUSED;

/* ---- certification -------------------------------------------------------------------------- */

struct btz_store_cert {
    struct btz_hash binary;
    struct btz_hash pack;
    struct btz_str scenario; /* ATTACK/vN */
    struct btz_str rule;
    bool passed;
    int64_t at_us; /* wall clock */
    struct btz_str detail;
};

/* Writes all in one commit; a row with the same binary, pack, scenario and rule is replaced. */
int btz_store_cert_put(struct btz_store *store, const struct btz_store_cert *certs, size_t count,
                       struct btz_err *err) BTZ_WARN_UNUSED;
/* All rows of that binary and pack by scenario and rule, in `arena`. */
int btz_store_cert_get(struct btz_store *store, const struct btz_hash *binary,
                       const struct btz_hash *pack, struct btz_arena *arena,
                       struct btz_store_cert **out, size_t *count,
                       struct btz_err *err) BTZ_WARN_UNUSED;

/* ---- keeping house -------------------------------------------------------------------------- */

/* Writes one run to a new file, which is itself a store with that run alone (so every command reads
 * it with --store). BTZ_EEXISTS if the file exists; BTZ_ECORRUPT if the run does not verify. */
int btz_store_export(struct btz_store *store, int64_t run, const char *file,
                     struct btz_err *err) BTZ_WARN_UNUSED;
/* Takes in every run of such a file; each is recomputed link by link on the way and refused if its
 * chain does not come out the same. BTZ_EEXISTS if a run id is here already. `count` may be NULL.
 */
int btz_store_import(struct btz_store *store, const char *file, size_t *count,
                     struct btz_err *err) BTZ_WARN_UNUSED;
/* Removes a run with all that is its own; its contents go with the next gc. */
int btz_store_run_drop(struct btz_store *store, int64_t run, struct btz_err *err) BTZ_WARN_UNUSED;

struct btz_store_gc {
    int64_t blobs; /* contents removed */
    int64_t bytes; /* by which the file became smaller */
};
/* Removes contents that no run refers to and gives the space back to the file system. */
int btz_store_gc(struct btz_store *store, struct btz_store_gc *out,
                 struct btz_err *err) BTZ_WARN_UNUSED;

#endif
