/* format() and printf() for lab SQL, in the place of SQLite's own: those pad to any width that a
 * statement names, character by character, within one step of the machine. */
#include <stdio.h>
#include <string.h>

#include "lab/sql.h"

enum { WIDTH_DIGITS = 3, PRECISION_DIGITS = 2, SPEC_MAX = 32 };

/* Takes the characters of `set` at `*at`, at most `most` of them, into the specification. */
static bool take(const char **at, const char *set, size_t most, char *spec, size_t *len)
{
    size_t n = strspn(*at, set);

    if (n > most) {
        return false;
    }
    memcpy(spec + *len, *at, n);
    *len += n;
    *at += n;
    return true;
}

/* One directive behind its percent sign; false if it is none of those that are known. */
static bool directive(sqlite3_str *out, const char **at, sqlite3_value *value)
{
    char spec[SPEC_MAX] = "%";
    size_t len = 1;
    const char *text;

    if (!take(at, "-+ 0,", 5, spec, &len) || !take(at, "123456789", 1, spec, &len) ||
        !take(at, "0123456789", WIDTH_DIGITS - 1, spec, &len)) {
        return false;
    }
    if (**at == '.' &&
        (!take(at, ".", 1, spec, &len) || !take(at, "0123456789", PRECISION_DIGITS, spec, &len))) {
        return false;
    }
    switch (*(*at)++) {
    case 'd':
    case 'i':
        memcpy(spec + len, "lld", 4);
        sqlite3_str_appendf(out, spec, value ? sqlite3_value_int64(value) : 0);
        return true;
    case 'f':
    case 'e':
    case 'g':
        spec[len] = (*at)[-1];
        sqlite3_str_appendf(out, spec, value ? sqlite3_value_double(value) : 0.0);
        return true;
    case 's':
        spec[len] = 's';
        text = value ? (const char *)sqlite3_value_text(value) : NULL;
        sqlite3_str_appendf(out, spec, text ? text : "");
        return true;
    default:
        return false;
    }
}

static void format(sqlite3_context *context, int count, sqlite3_value **values)
{
    const char *at = count > 0 ? (const char *)sqlite3_value_text(values[0]) : NULL;
    sqlite3_str *out;
    int used = 1;
    int code;
    char *text;
    int len;

    if (!at) {
        return; /* NULL, as SQLite has it */
    }
    out = sqlite3_str_new(sqlite3_context_db_handle(context));
    while (*at != '\0') {
        size_t plain = strcspn(at, "%");

        sqlite3_str_append(out, at, (int)plain);
        at += plain;
        if (at[0] == '%' && at[1] == '%') {
            sqlite3_str_append(out, at, 1);
            at += 2;
        } else if (*at == '%') {
            at++;
            if (!directive(out, &at, used < count ? values[used] : NULL)) {
                sqlite3_free(sqlite3_str_finish(out));
                sqlite3_result_error(context, "format: only %d %f %e %g %s %%, width below 1000",
                                     -1);
                return;
            }
            used++;
        }
    }
    code = sqlite3_str_errcode(out);
    len = sqlite3_str_length(out);
    text = sqlite3_str_finish(out);
    if (code == SQLITE_TOOBIG) {
        sqlite3_result_error_toobig(context);
    } else {
        sqlite3_result_text(context, text ? text : "", text ? len : 0, SQLITE_TRANSIENT);
    }
    sqlite3_free(text);
}

int btz_sql_format_add(sqlite3 *db)
{
    int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC;
    int rc = sqlite3_create_function_v2(db, "format", -1, flags, NULL, format, NULL, NULL, NULL);

    return rc != SQLITE_OK ? rc
                           : sqlite3_create_function_v2(db, "printf", -1, flags, NULL, format, NULL,
                                                        NULL, NULL);
}
