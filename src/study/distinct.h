/* Rules of the suite as a whole (suite.md sections 1 and 2). They keep payloads from being copies
 * of each other and from having a tell. */
#ifndef BTZ_STUDY_DISTINCT_H
#define BTZ_STUDY_DISTINCT_H

#include "base/arena.h"
#include "json/json.h"
#include "lab/lab.h"
#include "study/certify.h"

/* {"scenarios","accepted_manipulations","languages":[...],"registers":[...],"enters_by":[...],
 *  "fragments","eight_phrase_hits","closest":{"share","a","b"}} in `arena`. `share` is the share of
 * word 5-grams of one payload that also stand in the other, markers taken out. */
struct btz_json *btz_suite_facts(struct btz_arena *arena, struct btz_lab *lab);

/* Adds the checks that certification asks for: payloads differ, and an obvious filter does not find
 * most of them. */
void btz_certify_suite(struct btz_lab *lab, struct btz_checks *out);

#endif
