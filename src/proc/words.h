/* A command line as words, split as a shell does it with quotes, but nothing is expanded and no
 * shell runs: white space separates; '...' is literal; in "..." a backslash takes the next `"` or
 * backslash literally; elsewhere a backslash takes the next byte literally. */
#ifndef BTZ_PROC_WORDS_H
#define BTZ_PROC_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

enum { BTZ_PROC_MAX_WORDS = 256 };

struct btz_proc_word {
    struct btz_str text; /* in the arena */
    bool quoted;         /* some of it stood in quotes or behind a backslash */
};

/* BTZ_EINVAL with the reason for a quote that is not closed, a backslash at the end, a NUL byte or
 * no word at all; BTZ_ELIMIT for over BTZ_PROC_MAX_WORDS words. */
int btz_proc_words(struct btz_arena *arena, struct btz_str line, struct btz_proc_word **out,
                   size_t *count, struct btz_err *err) BTZ_WARN_UNUSED;

/* Adds `word` so that a shell, and btz_proc_words, reads it as one word. */
void btz_proc_quote(struct btz_buf *out, struct btz_str word);

#endif
