/* Files that people name: opened so that nothing hangs, read up to a limit. */
#ifndef BTZ_BASE_FILE_H
#define BTZ_BASE_FILE_H

#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

/* Opens the regular file `path` for reading; `*fd` is the caller's to close. A folder, pipe or
 * device is refused, and opening a pipe does not wait for its writer. BTZ_ENOTFOUND, BTZ_EINVAL
 * (not a regular file) or BTZ_EIO, with the path as place. */
int btz_file_open(const char *path, int *fd, struct btz_err *err) BTZ_WARN_UNUSED;

/* Reads the whole of the regular file `path` into `arena`; a NUL stands behind it. BTZ_ELIMIT if it
 * has more than `max` bytes, else as btz_file_open. */
int btz_file_read(struct btz_arena *arena, const char *path, size_t max, struct btz_str *out,
                  struct btz_err *err) BTZ_WARN_UNUSED;

#endif
