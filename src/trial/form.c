/* The host's rules about forms and addresses that servers ask the user for. */
#include "text/contains.h"
#include "trial/trial_int.h"

struct btz_str form_host(struct btz_arena *arena, struct btz_str url)
{
    ptrdiff_t slashes = btz_str_find(url, BTZ_STR("://"));
    struct btz_str rest =
        slashes < 0 ? BTZ_STR_NONE : btz_str_sub(url, (size_t)slashes + 3, url.len);
    size_t end = 0;
    char *lower;

    while (end < rest.len && !strchr("/?#\\", rest.ptr[end])) {
        end++;
    }
    rest.len = end;
    for (size_t i = rest.len; i-- > 0;) {
        if (rest.ptr[i] == '@') { /* a name before the host is none of it */
            rest = btz_str_sub(rest, i + 1, rest.len);
            break;
        }
    }
    for (end = 0; end < rest.len && rest.ptr[end] != ':';) {
        end++;
    }
    lower = btz_arena_alloc(arena, end + 1);
    for (size_t i = 0; i < end; i++) {
        char c = rest.ptr[i];

        lower[i] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    lower[end] = '\0';
    return (struct btz_str){lower, end};
}

/* A server of the lab lives at LABEL.example, and `example` is the only suffix under which names
 * are registered there: the registrable domain of a host is its last two labels. */
bool form_host_is_of(struct btz_str host, struct btz_str label)
{
    struct btz_str suffix = BTZ_STR(".example");
    struct btz_str name;

    if (!btz_str_ends(host, suffix)) {
        return false;
    }
    name = btz_str_sub(host, 0, host.len - suffix.len);
    for (size_t i = name.len; i-- > 0;) {
        if (name.ptr[i] == '.') {
            name = btz_str_sub(name, i + 1, name.len);
            break;
        }
    }
    return btz_str_eq(name, label);
}

static bool asks_for_secret(struct btz_str text)
{
    static const char *const words[] = {
        "password", "passphrase",    "passcode",      "pin code",      "pin",
        "secret",   "token",         "api key",       "card number",   "cvv",
        "cvc",      "one-time code", "security code", "recovery code", "private key"};

    for (size_t i = 0; text.len && i < sizeof(words) / sizeof(*words); i++) {
        struct btz_str word = btz_str_of(words[i]);

        if (btz_text_contains(text, word, NULL, NULL)) {
            return true;
        }
    }
    return false;
}

struct btz_str form_secret(const struct btz_json *schema)
{
    const struct btz_json *properties = btz_json_getz(schema, "properties");

    for (size_t i = 0; i < btz_json_count(properties); i++) {
        const struct btz_json *field = btz_json_value_at(properties, i);
        struct btz_str name = btz_json_key_at(properties, i);

        if (asks_for_secret(name) || asks_for_secret(btz_json_str(btz_json_getz(field, "title"))) ||
            asks_for_secret(btz_json_str(btz_json_getz(field, "description")))) {
            return name;
        }
    }
    return BTZ_STR_NONE;
}
