/* One run's list of trials, or one trial's trajectory, from the store. */
#ifndef BTZ_REPORT_SHOW_H
#define BTZ_REPORT_SHOW_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/term.h"
#include "json/json.h"
#include "store/store.h"

struct btz_show_options {
    const struct btz_term *term;
    bool verbose; /* whole texts and definitions */
};

int btz_show_run(struct btz_store *store, int64_t run, const struct btz_show_options *options,
                 struct btz_buf *out, struct btz_err *err) BTZ_WARN_UNUSED;
/* BTZ_ENOTFOUND, with the range of numbers, if there is no trial `n`. */
int btz_show_trial(struct btz_store *store, int64_t run, int64_t n,
                   const struct btz_show_options *options, struct btz_buf *out,
                   struct btz_err *err) BTZ_WARN_UNUSED;

/* A piece of the payload, as it was drawn for the trial. */
struct btz_show_fragment {
    struct btz_str text;
    struct btz_str place;           /* where the card puts it, as JSON; may be empty */
    const struct btz_str *operands; /* what its goal cannot do without */
    size_t operand_count;
};

/* What the packs say of the trial's scenario. */
struct btz_show_scenario {
    struct btz_str name, capability, mechanism; /* of the attack */
    struct btz_str success, violation;          /* of the variant */
    const struct btz_show_fragment *fragments;  /* of the trial's arm; none for a clean twin */
    size_t fragment_count;
};

/* Trial `n` as a story for people: the task, the payload and its way to the model, the act and why
 * it counts, what the world changed, what the defence said, and the verdicts beside each other; as
 * text for the terminal, or as Markdown. `scenario` is NULL where the packs of the run are not at
 * hand: then the story says so and holds what the store knows. Errors as btz_show_trial. */
int btz_show_story(struct btz_store *store, int64_t run, int64_t n,
                   const struct btz_show_scenario *scenario, bool markdown,
                   const struct btz_show_options *options, struct btz_buf *out,
                   struct btz_err *err) BTZ_WARN_UNUSED;

/* List and trial as JSON (schemas/show.json), in `arena`. */
int btz_show_run_json(struct btz_store *store, int64_t run, struct btz_arena *arena,
                      struct btz_json **out, struct btz_err *err) BTZ_WARN_UNUSED;
int btz_show_trial_json(struct btz_store *store, int64_t run, int64_t n, struct btz_arena *arena,
                        struct btz_json **out, struct btz_err *err) BTZ_WARN_UNUSED;

#endif
