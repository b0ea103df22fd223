#include "proc/words.h"

struct splitter {
    struct btz_arena *arena;
    struct btz_str rest;
    struct btz_buf word;
    bool quoted;
    bool begun; /* '' is a word, too */
};

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* What stands in quotes; `s->rest` begins behind the opening one. */
static int take_quoted(struct splitter *s, char quote, struct btz_err *err)
{
    for (size_t i = 0; i < s->rest.len; i++) {
        char c = s->rest.ptr[i];

        if (c == quote) {
            s->rest = btz_str_sub(s->rest, i + 1, s->rest.len);
            return BTZ_OK;
        }
        if (quote == '"' && c == '\\' && i + 1 < s->rest.len &&
            (s->rest.ptr[i + 1] == '"' || s->rest.ptr[i + 1] == '\\')) {
            c = s->rest.ptr[++i];
        }
        (void)btz_buf_add_byte(&s->word, c);
    }
    return btz_err_set(err, BTZ_EINVAL, "a quote (%c) is not closed", quote);
}

static int take_byte(struct splitter *s, struct btz_err *err)
{
    char c = s->rest.ptr[0];

    s->rest = btz_str_sub(s->rest, 1, s->rest.len);
    s->begun = true;
    if (c == '\0') {
        return btz_err_set(err, BTZ_EINVAL, "a NUL byte is in it");
    }
    if (c == '\'' || c == '"') {
        s->quoted = true;
        return take_quoted(s, c, err);
    }
    if (c == '\\') {
        if (!s->rest.len) {
            return btz_err_set(err, BTZ_EINVAL, "a backslash is its last byte");
        }
        s->quoted = true;
        c = s->rest.ptr[0];
        s->rest = btz_str_sub(s->rest, 1, s->rest.len);
    }
    (void)btz_buf_add_byte(&s->word, c);
    return BTZ_OK;
}

static int take_word(struct splitter *s, struct btz_err *err)
{
    int rc = BTZ_OK;

    btz_buf_reset(&s->word);
    s->quoted = s->begun = false;
    while (s->rest.len && is_space(s->rest.ptr[0])) {
        s->rest = btz_str_sub(s->rest, 1, s->rest.len);
    }
    while (rc == BTZ_OK && s->rest.len && !is_space(s->rest.ptr[0])) {
        rc = take_byte(s, err);
    }
    return rc;
}

int btz_proc_words(struct btz_arena *arena, struct btz_str line, struct btz_proc_word **out,
                   size_t *count, struct btz_err *err)
{
    struct splitter s = {.arena = arena, .rest = line};
    struct btz_proc_word *words = btz_arena_array(arena, BTZ_PROC_MAX_WORDS, sizeof(*words));
    size_t n = 0;
    int rc;

    btz_buf_init(&s.word, line.len + 1);
    while ((rc = take_word(&s, err)) == BTZ_OK && s.begun) {
        if (n == BTZ_PROC_MAX_WORDS) {
            rc = btz_err_set(err, BTZ_ELIMIT, "it has over %d words", BTZ_PROC_MAX_WORDS);
            break;
        }
        words[n++] = (struct btz_proc_word){btz_arena_dup(arena, btz_buf_view(&s.word)), s.quoted};
    }
    btz_buf_fini(&s.word);
    if (rc == BTZ_OK && n == 0) {
        rc = btz_err_set(err, BTZ_EINVAL, "it has no word");
    }
    if (rc != BTZ_OK) {
        return rc;
    }
    *out = words;
    *count = n;
    return BTZ_OK;
}

void btz_proc_quote(struct btz_buf *out, struct btz_str word)
{
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._/:=+,@%";
    bool is_plain = word.len > 0;

    for (size_t i = 0; i < word.len && is_plain; i++) {
        is_plain = word.ptr[i] && strchr(plain, word.ptr[i]);
    }
    if (is_plain) {
        (void)btz_buf_add_str(out, word);
        return;
    }
    (void)btz_buf_add_byte(out, '\'');
    for (size_t i = 0; i < word.len; i++) {
        if (word.ptr[i] == '\'') {
            (void)btz_buf_add_text(out, "'\\''");
        } else {
            (void)btz_buf_add_byte(out, word.ptr[i]);
        }
    }
    (void)btz_buf_add_byte(out, '\'');
}
