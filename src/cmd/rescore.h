/* What the files of `rescore` share: the trials of a run that are to be judged. */
#ifndef BTZ_CMD_RESCORE_H
#define BTZ_CMD_RESCORE_H

#include "cmd/cmd.h"
#include "judge/judge.h"
#include "llm/model.h"
#include "net/loop.h"

/* A judging model and what came of it. */
struct rescore_judge {
    struct btz_llm_model model;
    struct btz_llm_key key;
    struct btz_str name; /* in verdicts */
    bool same_vendor;    /* as a model under test */
    int64_t before;      /* trials that had a verdict of it */
    int64_t shared;      /* trials that got the verdict of an equal request */
    int64_t judged;      /* trials that got a verdict of a reply, shared ones not counted */
    int64_t malformed;   /* of judged and shared */
    int64_t asked;       /* requests that were answered or failed */
    int64_t failed;      /* requests without an answer; the trials stay without a verdict */
    int64_t left;        /* trials left without a verdict */
    char last_failure[256];
};

struct rescore_attack {
    struct btz_str id;
    struct btz_str rubric; /* none: its trials cannot be judged */
    struct btz_str version;
};

/* A trial to be judged. */
struct rescore_item {
    int64_t n;
    size_t attack;
    size_t group; /* items of one group have equal requests */
    struct btz_hash request;
    bool *done; /* by judge */
};

/* The verdict on a group's request, once there is one. */
struct rescore_answer {
    bool known;
    enum btz_store_tri success;
    struct btz_str json;
};

struct rescore {
    struct btz_context *context;
    struct btz_store *store;
    struct btz_lab *lab;
    struct btz_judge *judge;
    struct btz_store_run run; /* no = 0: none, for --certify */
    bool all_arms;
    struct rescore_judge *judges;
    size_t judge_count;
    struct rescore_attack *attacks;
    size_t attack_count, attack_cap;
    struct rescore_item *items;
    size_t item_count, item_cap;
    size_t group_count;
    struct rescore_answer *answers; /* judge x group */
    int64_t without_rubric;         /* trials */
};

/* ---- rescore_plan.c ---- */

/* The judges of --judge; refuses reference agents and a model that is under test. */
int rescore_judges(struct rescore *r, struct btz_err *err) BTZ_WARN_UNUSED;
/* The trials that --arms and --attack name, with what is known of them already. */
int rescore_items(struct rescore *r, struct btz_err *err) BTZ_WARN_UNUSED;
/* The attack's place in r->attacks, its rubric looked up. */
int rescore_attack_at(struct rescore *r, struct btz_str id, size_t *at,
                      struct btz_err *err) BTZ_WARN_UNUSED;
/* Whether the row is one of a trial to be judged (current, no fault, arm and attack as asked). */
bool rescore_wants(const struct rescore *r, const struct btz_store_row *row);

/* ---- rescore_ask.c ---- */

/* Asks one judge about everything it has not judged. BTZ_EXIT_INTERRUPTED after a signal. */
int rescore_ask(struct rescore *r, size_t judge, struct btz_net_loop *loop, struct btz_err *err);

/* ---- rescore_gold.c ---- */

/* Asks the judges about traces of known truth, prints and keeps sensitivity and specificity.
 * BTZ_EXIT_FAILED if a judge could not be measured or tells nothing; BTZ_EXIT_INTERRUPTED. */
int rescore_certify(struct rescore *r, struct btz_net_loop *loop, struct btz_err *err);
/* Notes what is kept of that for this program, packs, prompt and judge. */
int rescore_note_certified(struct rescore *r, const struct rescore_judge *judge,
                           struct btz_err *err) BTZ_WARN_UNUSED;

/* ---- rescore_labels.c ---- */

/* Reads the file of --labels into verdicts of source "human". */
int rescore_labels(struct rescore *r, const char *file, struct btz_err *err) BTZ_WARN_UNUSED;
/* Writes --sample trials to the file of --label-sheet. */
int rescore_sheet(struct rescore *r, const char *file, struct btz_err *err) BTZ_WARN_UNUSED;

#endif
