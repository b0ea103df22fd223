/* A file that tools/embed has put into the program. */
#ifndef BTZ_BASE_EMBEDDED_H
#define BTZ_BASE_EMBEDDED_H

#include <stddef.h>

struct btz_embedded {
    const char *name; /* path below the folder that was embedded */
    const char *bytes;
    size_t len;
};

#endif
