/* Plays tables of tool calls against a stage: shared by the tests of the core pack's servers.
 *
 * A table is JSON, see tests/packs/tools/README.md. Nothing here asserts: a failed expectation is
 * counted and told in `why`, so that a test can also ask that a table fails. */
#ifndef BTZ_TESTS_LAB_PLAY_H
#define BTZ_TESTS_LAB_PLAY_H

#include "lab/lab.h"

struct play {
    struct btz_lab *lab;
    struct btz_arena *arena;
    struct btz_str server;
    struct btz_stage *stage; /* of the running part */
    struct btz_json *kept;   /* name -> text, of the running part */
    uint64_t event;
    size_t calls;
    size_t failures;
    char why[1024]; /* the first failure */
};

struct play play_new(struct btz_lab *lab, struct btz_str server);
void play_free(struct play *play);

/* A fresh world with the entries of `world` ([{path, value}], may be NULL) put into it. */
void play_begin(struct play *play, uint64_t seed, const struct btz_json *world);
void play_end(struct play *play);

/* Makes one call of a table and checks what it expects; returns the result's text. */
struct btz_str play_call(struct play *play, struct btz_str tool, const struct btz_json *call);
void play_calls(struct play *play, struct btz_str tool, const struct btz_json *calls);

/* The whole table of a tool: setup, two, seen, violations, unknown, seeds. */
void play_tool(struct play *play, struct btz_str tool, const struct btz_json *table);
/* Only the part `two`: two arguments give two right results. */
void play_two(struct play *play, struct btz_str tool, const struct btz_json *table);

/* Parses a table; aborts with a message if it is not there or no JSON. */
const struct btz_json *play_load(struct btz_arena *arena, const char *folder, const char *name);

#endif
