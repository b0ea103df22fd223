/* Files that people name: opened so that nothing hangs, read up to a limit. */
#ifndef BTZ_BASE_FILE_H
#define BTZ_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

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

/* Opens a new file for writing that has no name yet, so that a program that is stopped leaves
 * nothing behind; btz_file_publish names it. (Where the file system cannot do that, it has its name
 * from the start.) BTZ_EEXISTS if there is something of that name, or BTZ_EIO. */
int btz_file_new(const char *path, FILE **out, struct btz_err *err) BTZ_WARN_UNUSED;

/* Closes a file of btz_file_new: with `keep` it appears, whole, under `path`, which must still be
 * free; without it, or when writing failed, there is no such file. BTZ_EEXISTS, BTZ_EIO. */
int btz_file_publish(FILE *file, const char *path, bool keep, struct btz_err *err) BTZ_WARN_UNUSED;

#endif
