/* The scanning part of the defences: does a text that a model is about to read, or that a model or
 * user wrote, try to steer the model?
 *
 *   struct btz_guard_rules *rules;      once: btz_guard_rules_new(NULL, &rules, &err)
 *   struct btz_guard_scanner *scanner;  once a thread: btz_guard_scanner_new(rules)
 *   btz_guard_scan(scanner, text, BTZ_GUARD_RESULT, field, NULL, arena, &report);
 *   if (report.verdict != BTZ_GUARD_PASS) ...
 *
 * A rule is a pattern (files of rules/, docs/internals/add-a-rule.md) or a coded detector. Each hit
 * is a signal with a weight from 1 to 100; what speaks against it near by is subtracted. The score
 * of a text is the largest sum, over stretches of BTZ_GUARD_STRETCH bytes, of the strongest hit of
 * each kind of signal: hits of one kind say the same thing twice and do not add up, hits of
 * different kinds do. A score at or above the threshold means BLOCK.
 *
 * Equal text, target and rules give equal reports: work is counted, not timed. */
#ifndef BTZ_GUARD_GUARD_H
#define BTZ_GUARD_GUARD_H

#include "base/arena.h"
#include "base/embedded.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/mapping.h"
#include "base/str.h"

/* What a text is to the model. */
enum btz_guard_target {
    BTZ_GUARD_TASK,       /* what the user asks */
    BTZ_GUARD_DEFINITION, /* any field of a tool's definition; a server's instructions */
    BTZ_GUARD_ARGUMENT,   /* what a model sends to a tool */
    BTZ_GUARD_RESULT,     /* what a tool answers, errors too */
    BTZ_GUARD_RESOURCE,   /* the content of a resource */
    BTZ_GUARD_PROMPT,     /* a server's prompt */
    BTZ_GUARD_ASK,        /* a server's elicitation or sampling request */
    BTZ_GUARD_TARGETS
};

/* "task", "definition", ...; never NULL. */
const char *btz_guard_target_name(enum btz_guard_target target);

enum btz_guard_severity { BTZ_GUARD_LOW, BTZ_GUARD_MEDIUM, BTZ_GUARD_HIGH, BTZ_GUARD_CRITICAL };

const char *btz_guard_severity_name(enum btz_guard_severity severity);

enum {
    BTZ_GUARD_THRESHOLD = 60,        /* default score that blocks */
    BTZ_GUARD_STRETCH = 4096,        /* bytes of the text in which signals add up */
    BTZ_GUARD_TEXT_MAX = 1024 * 1024 /* default: bytes of one text */
};

/* ---- rules ---- */

struct btz_guard_rules; /* immutable: threads may share it */

/* Loads the rules of the program, or of all files *.yaml and *.json in folder `dir` instead of
 * them. BTZ_ENOTFOUND (no folder, or no rule file in it), BTZ_EIO, BTZ_EINVAL or BTZ_ELIMIT; `err`
 * names file, line and field. */
int btz_guard_rules_new(const char *dir, struct btz_guard_rules **out,
                        struct btz_err *err) BTZ_WARN_UNUSED;

/* The same from texts in memory; the names serve for messages. They are not kept. */
int btz_guard_rules_parse(const struct btz_embedded *files, size_t count,
                          struct btz_guard_rules **out, struct btz_err *err) BTZ_WARN_UNUSED;
void btz_guard_rules_free(struct btz_guard_rules *rules); /* NULL is allowed */

/* SHA-256 over names and bytes of the files, for the record of a run. */
struct btz_hash btz_guard_rules_hash(const struct btz_guard_rules *rules);

/* One rule, pattern or detector; borrowed from the rules. */
struct btz_guard_rule {
    struct btz_str id;
    struct btz_str title;
    struct btz_str signal; /* the kind of signal; hits of one kind do not add up */
    enum btz_guard_severity severity;
    unsigned weight;  /* 1 to 100; of a detector: the largest it gives */
    unsigned targets; /* bits 1 << enum btz_guard_target */
    const struct btz_mapping *mapping;
    bool coded; /* a detector: it has no patterns and no samples */
};

/* Detectors come after the rules of the files. NULL past the end. */
const struct btz_guard_rule *btz_guard_rule_at(const struct btz_guard_rules *rules, size_t index);

/* Plays every sample of every rule for each of its targets: in a positive sample the rule must be
 * found, in a negative sample it must not, and no negative sample may be blocked. BTZ_OK or
 * BTZ_EINVAL; `err` names file, line, rule and sample of the first that fails. */
int btz_guard_rules_play(const struct btz_guard_rules *rules, size_t *played,
                         struct btz_err *err) BTZ_WARN_UNUSED;

/* ---- scanning ---- */

struct btz_guard_scanner; /* one thread's room to work in; borrows the rules */

struct btz_guard_scanner *btz_guard_scanner_new(const struct btz_guard_rules *rules);
void btz_guard_scanner_free(struct btz_guard_scanner *scanner); /* NULL is allowed */

/* 0 in any member = the default. */
struct btz_guard_options {
    unsigned threshold; /* BTZ_GUARD_THRESHOLD */
    size_t max_bytes;   /* BTZ_GUARD_TEXT_MAX: what lies behind is not scanned */
    uint64_t max_work; /* units of match/regex.h for all patterns together; 500,000 and 32 a byte */
};

enum btz_guard_verdict {
    BTZ_GUARD_PASS,
    BTZ_GUARD_BLOCK,
    /* A limit ended the scan below the threshold: the caller's policy says whether the text goes
     * through (fail open) or not (fail closed). */
    BTZ_GUARD_UNDECIDED
};

const char *btz_guard_verdict_name(enum btz_guard_verdict verdict);

enum { BTZ_GUARD_FINDINGS_MAX = 128, BTZ_GUARD_RULE_FINDINGS_MAX = 8 };

struct btz_guard_finding {
    const struct btz_guard_rule *rule; /* lives as long as the rules */
    unsigned weight;      /* after counter-evidence, 1 to 100; the confidence in percent */
    size_t begin;         /* bytes of the text that was given; for text that was found encoded, */
    size_t end;           /* of the whole encoded run */
    struct btz_str field; /* as given to the scan */
    const char *encoding; /* "" or how the text was hidden: "base64", "hex+base64", "tags" */
};

struct btz_guard_report {
    enum btz_guard_verdict verdict;
    unsigned score;
    unsigned threshold; /* that was applied */
    bool complete;      /* false: a limit kept part of the text or of the rules from being tried */
    size_t count;
    struct btz_guard_finding *findings; /* by begin, then rule; at most BTZ_GUARD_FINDINGS_MAX and
                                         * BTZ_GUARD_RULE_FINDINGS_MAX of one rule */
};

/* Scans `text` (any bytes). `field` says where it stands, such as "tools/3/description"; it is
 * copied into `arena`, where the findings live too. `options` NULL = defaults. Never fails: what
 * could not be done shows as `complete` and UNDECIDED. */
void btz_guard_scan(struct btz_guard_scanner *scanner, struct btz_str text,
                    enum btz_guard_target target, struct btz_str field,
                    const struct btz_guard_options *options, struct btz_arena *arena,
                    struct btz_guard_report *out);

#endif
