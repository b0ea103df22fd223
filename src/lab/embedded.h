/* Files that tools/embed has put into the program. */
#ifndef BTZ_LAB_EMBEDDED_H
#define BTZ_LAB_EMBEDDED_H

#include "base/embedded.h"

extern const struct btz_embedded btz_lab_core_pack[]; /* packs/core, as its MANIFEST lists */
extern const size_t btz_lab_core_pack_count;
extern const struct btz_embedded btz_lab_extended_pack[]; /* packs/extended, likewise */
extern const size_t btz_lab_extended_pack_count;
extern const struct btz_embedded btz_lab_schemas[]; /* schemas/attack.json, schemas/server.json */
extern const size_t btz_lab_schemas_count;

#endif
