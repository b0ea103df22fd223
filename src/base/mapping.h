/* Outside taxonomies: which ids an attack family has. A pack or a rule names a row, never
 * an id. */
#ifndef BTZ_BASE_MAPPING_H
#define BTZ_BASE_MAPPING_H

#include "base/str.h"

struct btz_mapping {
    const char *slug;         /* what attack and rule files write as `mapping` */
    const char *family;       /* the row's title */
    const char *const *owasp; /* "MCP03 Tool Poisoning", ...; ends with NULL, as the next three */
    const char *const *atlas; /* "AML.T0110"; empty = unknown */
    const char *const *cwe;   /* "CWE-1427" */
    const char *const *aisvs; /* "10.4.2"; empty = unknown */
};

/* NULL if there is no such row / past the end. */
const struct btz_mapping *btz_mapping_find(struct btz_str slug);
const struct btz_mapping *btz_mapping_at(size_t index);

#endif
