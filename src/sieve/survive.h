/* Without any model: which bytes of a definition a model would see, whether a payload's operands
 * are still in them, and how much room an author of definitions has left. */
#ifndef BTZ_SIEVE_SURVIVE_H
#define BTZ_SIEVE_SURVIVE_H

#include "base/buf.h"
#include "base/str.h"
#include "json/json.h"

/* Appends a definition as a model sees it, on one line without a LF: name, description and
 * inputSchema (what hosts hand on; render profile 2 of the benchmark). `whole`: all other members
 * too (title, outputSchema, annotations, _meta ...), for hosts that show them. */
void btz_sieve_render(struct btz_buf *out, struct btz_str name, const struct btz_json *definition,
                      bool whole);

struct btz_sieve_survival {
    size_t operands;
    size_t left;       /* found by text/contains.h: in the clear or encoded */
    size_t left_loose; /* also with everything but letters and digits left out on both sides: what
                        * stands in a name such as read_etc_passwd */
    bool survived, survived_loose; /* all operands; false without operands */
};

/* Looks for the operands in what is shown. */
void btz_sieve_survive(struct btz_str shown, const struct btz_str *operands, size_t count,
                       struct btz_sieve_survival *out);

/* What the author of a definition can still choose freely in it. Characters are code points. */
struct btz_sieve_freedom {
    size_t characters;  /* of free text: every string but names, allowed values and words of JSON
                         * Schema (types, known formats) */
    size_t names;       /* of tool and properties, at every depth */
    size_t free_names;  /* of those: over 40 characters, over 5 words, or with other characters than
                         * letters, digits, '_', '-' and '.' */
    size_t values;      /* strings in `enum` and `const` */
    size_t free_values; /* of those: free by the same measure */
};

/* Counts in the rendered members of a definition (all of them if `whole`). */
void btz_sieve_count_freedom(const struct btz_json *definition, bool whole,
                             struct btz_sieve_freedom *out);

/* True for a name or value that is free text by the measure above. */
bool btz_sieve_is_free(struct btz_str name);

#endif
