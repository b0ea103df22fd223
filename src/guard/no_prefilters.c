/* In place of saved prefilters: for the tool that makes them, and for builds without. */
#include "guard/guard_int.h"

const struct btz_embedded btz_guard_prefilters[] = {{0}};
const size_t btz_guard_prefilters_count = 0;
