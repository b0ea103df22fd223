/* Puts trials into the store on a thread of its own, in the order they come: hashing, compressing
 * and writing a trial takes a fifth of what a reference trial takes, and needs nothing of what the
 * next one does. Outside of btz_study_poll the queue is empty, so whoever has the study may use the
 * store then. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "base/clock.h"
#include "study/study_int.h"

enum { ROOM = 8 }; /* trials in the queue: each holds its memory until it is written */

struct item {
    struct btz_store_trial kept; /* points into the trial and the arena */
    struct btz_trial *trial;     /* NULL for one that could not be set up */
    struct btz_arena *arena;
};

/* Trials `freed` to `written` are on their way back, `written` to `given` wait or are being
 * written; all three only grow, and number n is in place n % ROOM. */
struct writer {
    struct btz_store *store;
    int64_t run;
    pthread_t thread;
    bool started;
    pthread_mutex_t lock;
    pthread_cond_t more, less; /* something was given or ends; something was written */
    bool end;
    size_t freed, written, given;
    struct item items[ROOM];
    int code; /* of the first write that failed; nothing is written after it */
    struct btz_err err;
};

static void *work(void *data)
{
    struct writer *w = data;

    pthread_mutex_lock(&w->lock);
    for (;;) {
        const struct item *item;
        struct btz_err err;
        int code = w->code;

        while (w->written == w->given && !w->end) {
            pthread_cond_wait(&w->more, &w->lock);
        }
        if (w->written == w->given) {
            break;
        }
        item = &w->items[w->written % ROOM];
        if (code == BTZ_OK) {
            pthread_mutex_unlock(&w->lock);
            code =
                btz_store_trial_put(w->store, w->run, &item->kept, btz_clock_mono_us(), NULL, &err);
            pthread_mutex_lock(&w->lock);
            if (code != BTZ_OK) {
                w->code = code;
                w->err = err;
            }
        }
        w->written++;
        pthread_cond_signal(&w->less);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

/* Signals are for the thread of the study, whose loop hears them. */
static int start(struct writer *w, struct btz_err *err)
{
    sigset_t all, before;
    int failed;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    failed = pthread_create(&w->thread, NULL, work, w);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed) {
        return btz_err_set(err, BTZ_ELIMIT, "no thread could be made for the store: %s",
                           strerror(failed));
    }
    w->started = true;
    return BTZ_OK;
}

struct writer *writer_new(struct btz_store *store, int64_t run)
{
    struct writer *w = calloc(1, sizeof(*w));

    if (!w) {
        btz_panic("out of memory");
    }
    w->store = store;
    w->run = run;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->more, NULL);
    pthread_cond_init(&w->less, NULL);
    for (size_t i = 0; i < ROOM; i++) {
        w->items[i].arena = btz_arena_new();
    }
    return w;
}

/* Frees trials that are written; the lock is held. Trials belong to the thread of the study: what
 * they hold of the lab is counted without a lock. */
static void free_written(struct writer *w)
{
    for (; w->freed < w->written; w->freed++) {
        struct item *item = &w->items[w->freed % ROOM];

        btz_trial_free(item->trial);
        item->trial = NULL;
        btz_arena_reset(item->arena);
    }
}

static int failure(const struct writer *w, struct btz_err *err)
{
    if (w->code != BTZ_OK && err) {
        *err = w->err;
    }
    return w->code;
}

void writer_free(struct writer *w)
{
    if (!w) {
        return;
    }
    (void)writer_drain(w, NULL);
    if (w->started) {
        pthread_mutex_lock(&w->lock);
        w->end = true;
        pthread_cond_signal(&w->more);
        pthread_mutex_unlock(&w->lock);
        pthread_join(w->thread, NULL);
    }
    for (size_t i = 0; i < ROOM; i++) {
        btz_arena_free(w->items[i].arena);
    }
    pthread_cond_destroy(&w->less);
    pthread_cond_destroy(&w->more);
    pthread_mutex_destroy(&w->lock);
    free(w);
}

struct btz_arena *writer_room(struct writer *w)
{
    struct btz_arena *arena;

    pthread_mutex_lock(&w->lock);
    while (w->given - w->written == ROOM) {
        pthread_cond_wait(&w->less, &w->lock);
    }
    free_written(w);
    arena = w->items[w->given % ROOM].arena;
    pthread_mutex_unlock(&w->lock);
    return arena;
}

int writer_put(struct writer *w, const struct btz_store_trial *kept, struct btz_trial *trial,
               struct btz_err *err)
{
    int code = w->started ? BTZ_OK : start(w, err);

    if (code != BTZ_OK) {
        btz_trial_free(trial);
        return code;
    }
    pthread_mutex_lock(&w->lock);
    w->items[w->given % ROOM].kept = *kept;
    w->items[w->given % ROOM].trial = trial;
    w->given++;
    code = failure(w, err);
    pthread_cond_signal(&w->more);
    pthread_mutex_unlock(&w->lock);
    return code;
}

int writer_drain(struct writer *w, struct btz_err *err)
{
    int code;

    pthread_mutex_lock(&w->lock);
    while (w->written < w->given) {
        pthread_cond_wait(&w->less, &w->lock);
    }
    free_written(w);
    code = failure(w, err);
    pthread_mutex_unlock(&w->lock);
    return code;
}

int writer_tick(struct writer *w, struct btz_err *err)
{
    int code;

    pthread_mutex_lock(&w->lock);
    free_written(w);
    code = failure(w, err);
    if (code == BTZ_OK && w->written == w->given) { /* else the next put looks at the clock */
        code = btz_store_tick(w->store, btz_clock_mono_us(), NULL, err);
    }
    pthread_mutex_unlock(&w->lock);
    return code;
}
