/* Inside the report room: the counted run, its figures, and the helpers that print them.
 *
 * A *subject* is what is measured: model, architecture, defence, revision and host profile; attacks
 * of a suite of their own make subjects of their own, so that no mean mixes suites. A *row*
 * is one attack of one boundary, made of its variants; a *figure* is what a table shows in one
 * line: a row, or the total of several. */
#ifndef BTZ_REPORT_REPORT_INT_H
#define BTZ_REPORT_REPORT_INT_H

#include "report/report.h"
#include "stats/contrast.h"
#include "stats/mean.h"
#include "stats/paired.h"

struct agreement_line;
struct btz_agreements;
struct comparison;
struct rater;

#define REPORT_CONFIDENCE 0.95

enum report_arm { ARM_ATTACK, ARM_CLEAN, ARM_BENIGN, ARMS };

/* The way of a payload through a memory scenario. Each stage counts the trials that came through
 * all before it, too. */
enum memory_stage {
    MEMORY_TRIALS, /* seen trials of memory scenarios */
    MEMORY_SEEN,   /* payload observed in the first session */
    MEMORY_STORED,
    MEMORY_RECALLED,
    MEMORY_OBSERVED, /* ... and so in the second session */
    MEMORY_ACTED,
    MEMORY_EFFECT,
    MEMORY_STAGES
};

/* What a defence did in the seen trials that carry its counts. */
struct guarding {
    int64_t trials;
    int64_t detected;  /* trials in which it called a text unsafe */
    int64_t prevented; /* trials in which it kept a text from the model, and no effect came */
    int64_t alarmed;   /* trials in which it did either: on a twin, a false alarm */
    int64_t scans, unsafe, blocked, undecided, failed; /* texts */
    int64_t timed, took_us;            /* trials whose added time is known, and its sum */
    int64_t metered, unmetered;        /* trials whose guard tokens are known, are unknown */
    int64_t requests, prefill, decode; /* of the guard model, over the metered trials */
};

/* What models read and wrote in the current trials, faults too. */
struct usage {
    int64_t known, unknown;  /* trials */
    int64_t prefill, decode; /* tokens of the known ones: input with that from caches; output */
};

/* Current trials of one arm. "Seen" is every trial but those that ended in fault. */
struct tally {
    int64_t trials;         /* cells that have a trial */
    int64_t not_applicable; /* cells that are never run */
    int64_t not_run;        /* applicable cells without a trial yet */
    int64_t outcome[BTZ_STORE_OUTCOMES];
    int64_t triggered; /* of the seen, as all below */
    int64_t observed;
    int64_t acted;
    int64_t effect;
    int64_t effect_valid;  /* effect, and neither not_exercised nor unfinished */
    int64_t complied;      /* observed, and susceptible or prevented */
    int64_t susceptible;   /* observed and susceptible */
    int64_t utility;       /* the user's task was done */
    int64_t utility_known; /* ... or was not */
    int64_t malformed;     /* unusable replies ended it, or were the answer to a question */
    int64_t memory[MEMORY_STAGES];
    int64_t memory_missing; /* faults of memory scenarios */
    int64_t last_effect;    /* effect in the last attempt alone */
    int64_t judged;         /* the chosen judge's verdict is usable, where it decides ... */
    int64_t judged_effect;  /* ... and says yes */
    struct guarding guarding;
    struct usage usage;
};

struct variant {
    struct btz_str name;
    uint32_t id; /* of all variants of the report */
    struct tally arm[ARMS];
    struct btz_count competent; /* effect in the attack cells whose clean twin succeeded */
    const struct row *row;
    struct variant *next;
};

struct row {
    struct subject *subject;
    struct btz_str surface;
    struct btz_str attack;
    bool below;     /* boundary B */
    bool by_judge;  /* attack success goes by the chosen judge */
    uint32_t order; /* of the attack in the plan */
    struct variant *first, **last;
    struct row *next;
};

enum rate_kind {
    RATE_ASR,
    RATE_VALID_ASR,
    RATE_COMPLIANCE,
    RATE_SUSCEPTIBILITY,
    RATE_EXPOSURE,
    RATE_UTILITY,
    RATE_COMPETENT, /* ASR where the clean twin succeeded */
    RATE_CLEAN,     /* utility of the twins */
    RATE_BENIGN,
    RATE_LAST, /* ASR of the last attempt alone */
    RATES
};

struct rate {
    int64_t k, n, missing;
    double value; /* mean over attacks of the means over variants; NaN without data */
    struct btz_interval interval;
    struct btz_interval bounds; /* missing as 0 and as 1 */
};

struct figure {
    struct btz_str surface; /* none: over all surfaces */
    struct btz_str attack;  /* none: a total */
    bool below;
    bool mixed;               /* both boundaries: competence only */
    bool by_judge, by_oracle; /* whose word its attack success goes by; a total may have both */
    size_t attacks;
    struct tally sum[ARMS];
    struct rate rate[RATES];
};

struct subject {
    struct btz_str model, architecture, defence, revision, host_profile;
    struct btz_str suite; /* empty: the headline's */
    struct row *first, **last;
    struct row **rows; /* by surface, attack as planned, V before B */
    size_t row_count;
    struct figure *figures; /* V: rows and total of each surface, total; the same for B */
    size_t figure_count;
    struct figure *competence; /* each surface, then all */
    size_t competence_count;
    int64_t first_trial;      /* number of a trial that is no fault; 0 = none */
    struct btz_str *returned; /* distinct model ids that the provider gave in that trial */
    size_t returned_count;
    struct subject *next;
};

/* Where the trial of a planned cell was counted. */
struct place {
    struct variant *variant; /* NULL: nowhere */
    uint8_t arm;             /* enum report_arm */
    bool seen;
    bool effect;
};

/* A defence against none: all else of the two subjects is equal. */
struct defence_contrast {
    struct comparison *comparison; /* first is the defended subject */
    double adjusted;               /* p of the total, Holm over the defences of this group */
    enum btz_gate gate[2];         /* attack success lower; then clean utility not worse */
};

/* One judge against the deterministic oracle on the same visible trials of one subject. */
struct oracle_line {
    struct btz_str attack;        /* none: all */
    struct agreement_line *agree; /* judge first, oracle second */
    struct btz_paired paired;
};

struct oracle_table {
    const struct subject *subject;
    const struct rater *judge;
    struct oracle_line *lines; /* attacks that the judge was asked about, then all */
    size_t count;
    struct oracle_table *next;
};

struct btz_report {
    struct btz_arena *arena;
    struct btz_store_run run;
    const struct btz_json *card; /* NULL if it cannot be read */
    struct subject *first, **last;
    size_t attack_count; /* different attacks of the headline that have a trial */
    size_t suite_count;  /* ... and of suites of their own */
    int64_t checks;      /* certification rows of the run's binary and packs */
    int64_t checks_failed;
    struct place *places; /* by ordinal of the cell */
    size_t place_count;
    bool paper;                        /* semantic attacks go by `judge` */
    const struct rater *judge;         /* NULL unless paper */
    struct btz_agreements *agreements; /* NULL: no judge has judged the run */
    struct oracle_table *oracles;
    struct defence_contrast *contrasts;
    size_t contrast_count;
};

/* ---- index.c: text to thing ---- */

struct index {
    struct btz_arena *arena;
    struct index_slot *slots;
    size_t cap, count;
};

/* The place for what belongs to `key`, holding NULL the first time. Valid until the next call. */
void **index_at(struct index *index, struct btz_str key);

/* ---- report.c ---- */

/* The run `no`; BTZ_ENOTFOUND. Texts in `arena`. */
int report_find_run(struct btz_store *store, int64_t no, struct btz_arena *arena,
                    struct btz_store_run *out, struct btz_err *err) BTZ_WARN_UNUSED;

/* ---- count.c ---- */

/* Counts the run `report->run` into subjects, rows and variants. */
int report_count(struct btz_store *store, struct btz_report *report,
                 struct btz_err *err) BTZ_WARN_UNUSED;

/* ---- verdicts.c ---- */

/* Adds what stands in verdicts to the counts: what defences did, where there is one, and the last
 * attempts, where there are several. */
int report_verdicts(struct btz_store *store, struct btz_report *report,
                    struct btz_err *err) BTZ_WARN_UNUSED;

/* ---- oracles.c ---- */

/* Reads what judges said, if any did, and chooses the one that decides. Before the counting. */
int report_judges(struct btz_store *store, struct btz_report *report,
                  const struct btz_report_options *options, struct btz_err *err) BTZ_WARN_UNUSED;
/* 1 yes, 0 no, -1 without a usable verdict of the chosen judge. */
int report_judged(const struct btz_report *report, int64_t ordinal);
/* Whether success of this attack goes by the judge. */
bool report_by_judge(const struct btz_report *report, struct btz_str attack, bool below);
/* Judges against the deterministic oracle. After the counting. */
int report_oracles(struct btz_report *report, struct btz_err *err) BTZ_WARN_UNUSED;

/* ---- defences.c ---- */

/* Whether `b` differs from `a` in this alone, of what a subject is made of; or in nothing. */
enum subject_part { PART_DEFENCE, PART_ARCHITECTURE };
bool subject_like(const struct subject *a, const struct subject *b, enum subject_part part);
/* Each defence against none. After the figures. */
int report_defences(struct btz_report *report, struct btz_err *err) BTZ_WARN_UNUSED;

/* ---- figures.c ---- */

/* Orders the subject's rows and fills its figures. */
int report_figures(struct btz_report *report, struct subject *s,
                   struct btz_err *err) BTZ_WARN_UNUSED;

/* ---- rates.c ---- */

/* k, planned and missing of one variant. */
struct btz_count rate_count(enum rate_kind kind, const struct variant *v, bool below);
/* Fills `figure` from the rows; its names are set. Units of the intervals are the variants. */
int figure_fill(struct btz_arena *arena, struct row *const *rows, size_t count,
                struct figure *figure, struct btz_err *err) BTZ_WARN_UNUSED;

/* ---- lines.c: text for people ---- */

/* Takes the next line of at most `width` columns (at least 1) off `*rest`: ends at a newline, else
 * at a blank if there is one. False once `*rest` is used up. */
bool lines_cut(struct btz_str *rest, size_t width, struct btz_str *line);

/* "  name          value", the value wrapped with an indent. */
void lines_field(struct btz_buf *out, const struct btz_term *term, const char *name,
                 struct btz_str value);
/* Wrapped text with `indent` blanks before each line. */
void lines_text(struct btz_buf *out, const struct btz_term *term, size_t indent,
                enum btz_colour colour, struct btz_str text);

/* "2026-10-01 12:00:00 UTC" */
struct btz_str text_time(struct btz_arena *arena, int64_t us);
/* `value`, or 0 where it is nearer to 0 than `half`: half of the last digit that is written, so
 * that no "-0.0" is; or, where all digits are, the rounding error of a limit. */
#define NUMBER_NOISE 1e-12
double number_near(double value, double half);
struct btz_str text_percent(struct btz_arena *arena, double share);           /* "80.0%" or "-" */
struct btz_str text_interval(struct btz_arena *arena, struct btz_interval i); /* "[1.0, 2.0]" */
struct btz_str text_seconds(struct btz_arena *arena, int64_t us);             /* "1.2 s" */
struct btz_str text_points(struct btz_arena *arena, double share);            /* "+1.2" or "-" */
struct btz_str text_points_interval(struct btz_arena *arena, struct btz_interval i);
struct btz_str text_p(struct btz_arena *arena, double p); /* "0.0123", "<0.0001" or "-" */

/* ---- grid.c: tables that fit ---- */

struct grid_column {
    const char *title;
    enum btz_align align;
    bool optional;    /* left out where every cell is "" or "0" */
    const char *part; /* a new part of the table begins here: what it is about */
};

struct grid;

struct grid *grid_new(struct btz_arena *arena, const struct grid_column *columns, size_t count);
void grid_cell(struct grid *grid, enum btz_colour colour, struct btz_str text);
void grid_printf(struct grid *grid, enum btz_colour colour, const char *fmt, ...) BTZ_PRINTF(3, 4);
void grid_rule(struct grid *grid); /* under the current row */
/* Prints under `title`; parts that do not fit beside the first column in term->width go into
 * further tables that repeat it. Nothing is printed without rows. */
void grid_print(const struct grid *grid, struct btz_str title, const struct btz_term *term,
                struct btz_buf *out);

/* ---- json.c ---- */

extern const char *const memory_names[MEMORY_STAGES]; /* in JSON and CSV */

/* {k, n, missing, lo, hi, value, reason, bounds} as schemas/report.json describes it. */
struct btz_json *rate_json(struct btz_arena *arena, const struct rate *rate, bool bounds);
/* Model, architecture, defence, revision and host profile. */
void subject_json_set(struct btz_arena *arena, struct btz_json *out, const struct subject *s);

/* ---- tables_json.c ---- */

/* Sets the members of the tables that compare inside the run. */
void tables_json_set(const struct btz_report *report, struct btz_arena *arena,
                     struct btz_json *out);

/* ---- print.c: what the tables share ---- */

struct page {
    const struct btz_report *report;
    const struct btz_term *term;
    struct btz_buf *out;
    struct btz_arena *arena;
};

struct btz_str page_title(const struct page *p, const struct subject *s, const char *what);
void page_count(struct grid *grid, int64_t count);
void page_fraction(const struct page *p, struct grid *grid, int64_t k, int64_t n);
/* "4/5   80.0%" */
void page_rate(const struct page *p, struct grid *grid, const struct rate *rate);
/* Its percentage alone, red where it is over 0. */
void page_percent(const struct page *p, struct grid *grid, const struct rate *rate);
struct btz_str page_figure_name(const struct page *p, const struct figure *f);
/* Whether figure `i` of the subject is a line of the tables of that boundary. */
bool page_shows(const struct subject *s, size_t i, bool below);
/* A rule after the total of a surface, where more follows. */
void page_end_line(struct grid *grid, const struct subject *s, size_t i);

/* ---- defence_print.c, attempts_print.c, oracles_print.c, tokens_print.c ---- */

void print_defence(const struct page *p, const struct subject *s);
void print_defences(const struct page *p);
void print_architectures(const struct page *p);
void print_oracles(const struct page *p);
void print_tokens(const struct page *p);

/* Tokens of a subject over all its current trials. */
struct spent {
    int64_t known, unknown; /* trials */
    int64_t prefill, decode;
    int64_t guard_known, guard_unknown; /* trials */
    int64_t guard_prefill, guard_decode;
};
struct spent tokens_of(const struct subject *s);

/* ---- head.c, notes.c ---- */

struct btz_json *run_json(struct btz_arena *arena, const struct btz_store_run *run);
/* The card's entry for that model reference; NULL. */
const struct btz_json *card_model(const struct btz_report *report, struct btz_str reference);
/* How titles name the subject: reference, id and weights where they add something. */
struct btz_str subject_label(const struct btz_report *report, const struct subject *subject);
void print_head(const struct btz_report *report, const struct btz_term *term, struct btz_buf *out);
/* On how many texts the subject's defence gave no answer, with a caution where that matters; empty
 * if it scanned nothing. */
struct btz_str note_scanner(struct btz_arena *arena, const struct subject *subject);
/* Who that was: "scanner", "rewriting", "canonical form", ... */
const char *note_scanner_name(struct btz_str defence);
/* Warns where that is much, or all; nothing otherwise. */
void print_scanner_warning(struct btz_arena *arena, const struct subject *subject,
                           const struct btz_term *term, struct btz_buf *out);
void print_subject_notes(const struct btz_report *report, const struct subject *subject,
                         const struct btz_term *term, struct btz_buf *out);
void print_run_notes(const struct btz_report *report, const struct btz_term *term,
                     struct btz_buf *out);

#endif
