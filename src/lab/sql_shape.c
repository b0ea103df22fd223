/* Statements that SQLite should not even compile. A common table expression is expanded anew for
 * each time it is named, so a chain of ten that name each other five times is expanded millions of
 * times before the first step: no budget of steps sees that. */
#include <string.h>

#include "lab/sql.h"

enum { EXPRESSIONS_MAX = 16, REFERENCES_MAX = 24 };

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$' || (unsigned char)c >= 128;
}

static size_t skip_to(struct btz_str text, size_t at, const char *end)
{
    ptrdiff_t found = btz_str_find(btz_str_sub(text, at, SIZE_MAX), btz_str_of(end));

    return found < 0 ? text.len : at + (size_t)found + strlen(end);
}

/* Whether a closing quote stands for itself; there is no such thing for brackets. */
static bool doubled(struct btz_str text, size_t at)
{
    return text.ptr[at] != ']' && at + 1 < text.len && text.ptr[at + 1] == text.ptr[at];
}

/* The next token from `*at` on; without bytes at all (NULL) at the end. Names and texts come
 * without their quotes: SQLite takes either as the name of a table. */
static struct btz_str next_token(struct btz_str text, size_t *at)
{
    size_t from = *at;
    char c;

    for (;;) {
        struct btz_str rest;

        while (from < text.len && is_space(text.ptr[from])) {
            from++;
        }
        rest = btz_str_sub(text, from, SIZE_MAX);
        if (btz_str_starts(rest, BTZ_STR("--"))) {
            from = skip_to(text, from, "\n");
        } else if (btz_str_starts(rest, BTZ_STR("/*"))) {
            from = skip_to(text, from + 2, "*/");
        } else if (btz_str_starts(rest, BTZ_STR("\xef\xbb\xbf"))) {
            from += 3; /* a byte order mark is white space to SQLite */
        } else {
            break;
        }
    }
    *at = from;
    if (from >= text.len) {
        return BTZ_STR_NONE;
    }
    c = text.ptr[from];
    if (c == '\'' || c == '"' || c == '`' || c == '[') {
        char close = c == '[' ? ']' : c;
        size_t end = from + 1;

        while (end < text.len && (text.ptr[end] != close || doubled(text, end))) {
            end += text.ptr[end] == close ? 2 : 1;
        }
        end = end < text.len ? end : text.len;
        *at = end < text.len ? end + 1 : end;
        return btz_str_sub(text, from + 1, end - from - 1);
    }
    (*at)++;
    while (is_word(c) && *at < text.len && is_word(text.ptr[*at])) {
        (*at)++;
    }
    return btz_str_sub(text, from, *at - from);
}

static bool same(struct btz_str a, const char *b)
{
    return a.len == strlen(b) && sqlite3_strnicmp(a.ptr, b, (int)a.len) == 0;
}

/* Whether "AS (" follows, with a list of columns before it or a hint after the AS: then the name
 * before is that of a common table expression. */
static bool is_expression(struct btz_str text, size_t at)
{
    struct btz_str token = next_token(text, &at);

    if (same(token, "(")) {
        do {
            token = next_token(text, &at);
        } while (token.ptr && !same(token, ")") && !same(token, "("));
        token = next_token(text, &at);
    }
    if (!same(token, "AS")) {
        return false;
    }
    token = next_token(text, &at);
    if (same(token, "NOT")) {
        token = next_token(text, &at);
    }
    if (same(token, "MATERIALIZED")) {
        token = next_token(text, &at);
    }
    return same(token, "(");
}

int btz_sql_shape_check(struct btz_str statement, struct btz_err *err)
{
    struct btz_str names[EXPRESSIONS_MAX];
    size_t count = 0;
    size_t named = 0;
    size_t at = 0;
    struct btz_str token;

    if (statement.len > SQL_STATEMENT_MAX) {
        return btz_err_set(err, BTZ_ELIMIT, "the statement is too long: at most %d bytes",
                           SQL_STATEMENT_MAX);
    }
    while (at < statement.len) {
        token = next_token(statement, &at);
        if (!token.ptr || !is_expression(statement, at)) {
            continue;
        }
        /* With a quote in it, a name could be written in ways that do not look alike. */
        for (size_t i = 0; i < token.len; i++) {
            if (strchr("'\"`[]", token.ptr[i])) {
                return btz_err_set(err, BTZ_EDENIED,
                                   "the name of a common table expression has a quote in it");
            }
        }
        if (count == EXPRESSIONS_MAX) {
            return btz_err_set(err, BTZ_ELIMIT, "too many common table expressions: at most %d",
                               EXPRESSIONS_MAX);
        }
        names[count++] = token;
    }
    for (at = 0; count > 0 && at < statement.len;) {
        size_t after;

        token = next_token(statement, &at);
        after = at;
        if (!token.ptr || same(next_token(statement, &after), ".")) {
            continue; /* what stands before a dot only names a column's table */
        }
        for (size_t i = 0; i < count; i++) {
            if (token.len == names[i].len &&
                sqlite3_strnicmp(token.ptr, names[i].ptr, (int)token.len) == 0) {
                named++;
                break;
            }
        }
    }
    if (named > count + REFERENCES_MAX) {
        return btz_err_set(err, BTZ_ELIMIT,
                           "common table expressions are named too often: at most %d times",
                           REFERENCES_MAX);
    }
    return BTZ_OK;
}
