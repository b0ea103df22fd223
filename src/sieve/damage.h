/* What of a real definition's structure an arm loses or renames: the part of damage (a parameter,
 * type, required flag, format, allowed value or default is lost, or there is no purpose) that can
 * be counted without reading. */
#ifndef BTZ_SIEVE_DAMAGE_H
#define BTZ_SIEVE_DAMAGE_H

#include "guard/canon.h"
#include "json/json.h"

struct btz_sieve_damage {
    size_t parameters; /* that have another name, at any depth */
    size_t values;     /* of enumerations and constants: renamed or gone */
    size_t defaults;   /* gone */
    size_t forms;      /* patterns, formats, ranges and lengths that are gone */
    size_t required;   /* entries that are gone */
    bool purpose;      /* there was a description, and no purpose is stated */
    bool renamed;      /* the tool has another name; with the map back this alone is no damage */
};

/* Compares `tool` with the arm's result, which has a definition. */
void btz_sieve_damage_of(const struct btz_json *tool, const struct btz_canon_result *result,
                         struct btz_sieve_damage *out);

#endif
