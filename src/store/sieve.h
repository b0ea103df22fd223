/* Runs of the sieve experiment in the store (docs/internals/sieve-run.md).
 *
 * Such a run has a card (JSON: what was asked for and with which files, arms and prompts), rows and
 * recorded replies. A row is one measured thing: a key that is unique in its run, and a JSON object
 * with everything that a table needs; times and prices are not in it, so that equal inputs and
 * equal replies give equal rows. Rows are never changed. Replies are kept by model and by the hash
 * of the request, so that a run can be repeated without a network.
 *
 * Rows and replies are finished once btz_store_sieve_commit (or a later call that commits)
 * returned. A hash chain goes over card, rows and replies in the order in which they were put
 * (btz_store_sieve_verify); that rows follow from replies is checked by replaying the run. */
#ifndef BTZ_STORE_SIEVE_H
#define BTZ_STORE_SIEVE_H

#include "store/store.h"

enum {
    BTZ_STORE_SIEVE_KEY_MAX = 2048,      /* bytes */
    BTZ_STORE_SIEVE_ROW_MAX = 256 * 1024 /* bytes of a row's JSON */
};

struct btz_store_sieve_run {
    int64_t no; /* handle; not stable across stores */
    char id[BTZ_STORE_ID_SIZE];
    struct btz_str kind; /* "run" or "attack" */
    int64_t created_us;
    bool done;           /* false: interrupted, or under way */
    struct btz_str card; /* JSON, byte for byte as given */
    int64_t rows;
    int64_t replies;
};

/* Writes run and card in one commit. `id` has BTZ_STORE_ID_SIZE bytes. */
int btz_store_sieve_new(struct btz_store *store, struct btz_str kind, struct btz_str card,
                        int64_t created_us, int64_t *no, char *id,
                        struct btz_err *err) BTZ_WARN_UNUSED;
/* "last", an id or a unique prefix of one. BTZ_ENOTFOUND; BTZ_EUSAGE if several match. Texts in
 * `arena`. */
int btz_store_sieve_find(struct btz_store *store, struct btz_str ref, struct btz_arena *arena,
                         struct btz_store_sieve_run *out, struct btz_err *err) BTZ_WARN_UNUSED;
/* Marks the run as done (or open again) and commits. */
int btz_store_sieve_mark(struct btz_store *store, int64_t no, bool done,
                         struct btz_err *err) BTZ_WARN_UNUSED;

int btz_store_sieve_row_has(struct btz_store *store, int64_t no, struct btz_str key, bool *out,
                            struct btz_err *err) BTZ_WARN_UNUSED;
/* The row's JSON in `arena`. BTZ_ENOTFOUND (without a message) if there is none. */
int btz_store_sieve_row_get(struct btz_store *store, int64_t no, struct btz_str key,
                            struct btz_arena *arena, struct btz_str *out,
                            struct btz_err *err) BTZ_WARN_UNUSED;
/* Adds a row. BTZ_EEXISTS: the run has that key. BTZ_ELIMIT: key or row is too long. */
int btz_store_sieve_row_put(struct btz_store *store, int64_t no, struct btz_str key,
                            struct btz_str json, struct btz_err *err) BTZ_WARN_UNUSED;
/* Calls `take` for each row whose key begins with `prefix` (may be empty), in the order of the keys
 * by bytes. Texts live until `take` returns; what it returns other than BTZ_OK ends the pass. */
int btz_store_sieve_rows_each(struct btz_store *store, int64_t no, struct btz_str prefix,
                              int (*take)(void *context, struct btz_str key, struct btz_str json,
                                          struct btz_err *err),
                              void *context, struct btz_err *err) BTZ_WARN_UNUSED;

struct btz_store_sieve_reply {
    struct btz_str model;    /* as rows name it */
    struct btz_hash request; /* over the parts */
    bool rejected;           /* the provider refused what was asked; `bytes` are its words */
    struct btz_str bytes;    /* content: the response body */
    int64_t took_us;
    int64_t attempts;
};

/* Records a reply; one with the same model and request stays as it is. */
int btz_store_sieve_reply_put(struct btz_store *store, int64_t no,
                              const struct btz_store_sieve_reply *reply,
                              struct btz_err *err) BTZ_WARN_UNUSED;
/* The recorded reply, its bytes in `arena`. BTZ_ENOTFOUND (without a message) if there is none. */
int btz_store_sieve_reply_get(struct btz_store *store, int64_t no, struct btz_str model,
                              const struct btz_hash *request, struct btz_arena *arena,
                              struct btz_store_sieve_reply *out,
                              struct btz_err *err) BTZ_WARN_UNUSED;
/* Time that a model took for all its recorded replies, and how many those are. */
int btz_store_sieve_reply_sum(struct btz_store *store, int64_t no, struct btz_str model,
                              int64_t *replies, int64_t *took_us,
                              struct btz_err *err) BTZ_WARN_UNUSED;

struct btz_store_sieve_check {
    bool ok;
    int64_t rows, replies; /* that fit, up to the first that does not */
    int64_t unchained;     /* rows and replies that are older than the chain (store version 2) */
    struct btz_hash head;
    char what[768]; /* if not ok: the first place that does not fit */
};

/* Recomputes the chain from the card to its head. Damage is a result, not an error. */
int btz_store_sieve_verify(struct btz_store *store, int64_t no, struct btz_store_sieve_check *out,
                           struct btz_err *err) BTZ_WARN_UNUSED;

int btz_store_sieve_commit(struct btz_store *store, struct btz_err *err) BTZ_WARN_UNUSED;

#endif
