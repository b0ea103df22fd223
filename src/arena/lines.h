/* One server of a play over lines, as hosts start local servers: the stdio transport. */
#ifndef BTZ_ARENA_LINES_H
#define BTZ_ARENA_LINES_H

#include "arena/play.h"

/* Serves server number 0 until `in` ends; its last line needs no newline. `out` gets one message a
 * line and nothing else. Blocks. BTZ_EIO if a file cannot be read or written, BTZ_ELIMIT for a line
 * of over 10 MiB or answers that nobody takes. */
int btz_play_serve_lines(struct btz_play *play, int in, int out, size_t page_size,
                         struct btz_err *err) BTZ_WARN_UNUSED;

#endif
