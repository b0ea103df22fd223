/* Looking at a tool definition: its name as words, its parameters, arguments that fit its schema.
 */
#ifndef BTZ_SIEVE_SHAPE_H
#define BTZ_SIEVE_SHAPE_H

#include "schema/schema.h"
#include "sieve/family.h"

/* Words of an identifier in lower case: parts divided by anything but letters and digits, and by a
 * change from lower to upper case. At most 32. */
struct btz_sieve_words btz_sieve_name_words(struct btz_arena *arena, struct btz_str name);
/* The same, joined by blanks. */
struct btz_str btz_sieve_name_phrase(struct btz_arena *arena, struct btz_str name);
bool btz_sieve_words_meet(const struct btz_sieve_words *a, const struct btz_sieve_words *b);

/* `properties` of the tool's input schema; NULL if there are none. */
const struct btz_json *btz_sieve_properties(const struct btz_json *tool);

/* Whether a parameter's schema takes texts / numbers, and does not fix which. */
bool btz_sieve_takes_text(const struct btz_json *tool, const struct btz_json *parameter);
bool btz_sieve_takes_number(const struct btz_json *tool, const struct btz_json *parameter);

/* Compiles the tool's input schema; NULL if it cannot be (then nothing is known to fit). */
struct btz_schema *btz_sieve_input_schema(const struct btz_json *tool);

/* Arguments with a plain value for each required parameter (if none is required, for the first that
 * takes text), checked against the schema; and, if `extra` is not empty, that parameter with the
 * given value. NULL if none that fit could be made. */
struct btz_json *btz_sieve_arguments(struct btz_arena *arena, const struct btz_json *tool,
                                     const struct btz_schema *schema, struct btz_str extra,
                                     const struct btz_json *value);

/* What stands for the holes of a text: {tool} and so on. */
struct btz_sieve_holes {
    struct btz_str tool, target_tool, malicious_tool, parameter, operand, reason, sibling_tool;
};

/* Puts the parts of a family into a copy of the tool, with its holes filled. NULL if there is
 * no place (no parameter whose description could carry a part). `parameter` chooses that parameter
 * (empty: by `draw`). */
const struct btz_json *btz_sieve_hide(struct btz_arena *arena, const struct btz_json *tool,
                                      const struct btz_sieve_parts *parts,
                                      const struct btz_sieve_holes *holes, struct btz_str parameter,
                                      uint64_t draw);

/* What a user says to get `tool` called with `arguments`. DIRECT names tool and parameters; NATURAL
 * is made of the words of their names. */
struct btz_str btz_sieve_query(struct btz_arena *arena, enum btz_sieve_phrasing phrasing,
                               struct btz_str tool, const struct btz_json *arguments,
                               uint64_t draw);

#endif
