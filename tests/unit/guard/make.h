/* Definitions for the tests of canonicalisation, and their canonical form. */
#ifndef BTZ_TEST_GUARD_MAKE_H
#define BTZ_TEST_GUARD_MAKE_H

#include "guard/canon.h"

/* Of the test under way: set_up makes it, tear_down frees it. */
extern struct btz_arena *arena;

int set_up(void **state);
int tear_down(void **state);

/* The test fails if `text` is no JSON. */
const struct btz_json *parse(const char *text);
/* The canonical form with its spans; the test fails if it is not its own canonical form. */
struct btz_canon_result canon(const struct btz_json *tool);
/* A tool with this name and description; properties as JSON, or NULL. */
const struct btz_json *tool_of(const char *name, const char *description, const char *properties);

#endif
