#include "mcp/endpoint_int.h"

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

bool btz_mcp_same_word(struct btz_str a, struct btz_str b)
{
    if (a.len != b.len) {
        return false;
    }
    for (size_t i = 0; i < a.len; i++) {
        if (lower(a.ptr[i]) != lower(b.ptr[i])) {
            return false;
        }
    }
    return true;
}

static bool all_digits(struct btz_str s)
{
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] < '0' || s.ptr[i] > '9') {
            return false;
        }
    }
    return s.len > 0 && s.len <= 5;
}

/* "name", "name:port" or "[address]:port" without its port; false if it has another form. */
static bool host_name(struct btz_str authority, struct btz_str *name)
{
    size_t end = 0;

    if (authority.len && authority.ptr[0] == '[') {
        while (end < authority.len && authority.ptr[end] != ']') {
            end++;
        }
        end++;
    } else {
        while (end < authority.len && authority.ptr[end] != ':') {
            end++;
        }
    }
    if (end > authority.len || !end) {
        return false;
    }
    *name = btz_str_sub(authority, 0, end);
    return end == authority.len || (authority.ptr[end] == ':' &&
                                    all_digits(btz_str_sub(authority, end + 1, authority.len)));
}

static bool served_host(const struct btz_mcp_endpoint *endpoint, struct btz_str authority)
{
    static const struct btz_str local[] = {{"localhost", 9}, {"127.0.0.1", 9}, {"[::1]", 5}};
    const struct btz_mcp_endpoint_options *options = &endpoint->options;
    const struct btz_str *hosts = options->hosts ? options->hosts : local;
    size_t count = options->hosts ? options->host_count : sizeof(local) / sizeof(local[0]);
    struct btz_str name;

    if (!host_name(authority, &name)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (btz_mcp_same_word(hosts[i], name) || btz_mcp_same_word(hosts[i], authority)) {
            return true;
        }
    }
    return false;
}

/* "[...]", or a name whose last label begins with a digit: some reader takes it for an address. */
static bool is_address(struct btz_str authority)
{
    struct btz_str name;
    size_t begin;

    if (!host_name(authority, &name)) {
        return false;
    }
    for (begin = name.len; begin > 0 && name.ptr[begin - 1] != '.'; begin--) {
    }
    return name.ptr[0] == '[' ||
           (begin < name.len && name.ptr[begin] >= '0' && name.ptr[begin] <= '9');
}

bool btz_mcp_endpoint_host_ok(const struct btz_mcp_endpoint *endpoint,
                              const struct btz_http_head *head)
{
    const struct btz_mcp_endpoint_switches *switches = &endpoint->options.switches;
    struct btz_str host = btz_http_field_get(head, "Host", NULL);

    return (is_address(host) ? switches->any_address : switches->any_host) ||
           served_host(endpoint, host);
}

bool btz_mcp_endpoint_site_ok(const struct btz_mcp_endpoint *endpoint,
                              const struct btz_http_head *head)
{
    struct btz_str site = btz_http_field_get(head, "Sec-Fetch-Site", NULL);
    size_t origins = 0;

    (void)btz_http_field_get(head, "Origin", &origins);
    return origins || endpoint->options.switches.any_site ||
           !(btz_str_is(site, "cross-site") || btz_str_is(site, "same-site"));
}

bool btz_mcp_endpoint_origin_ok(const struct btz_mcp_endpoint *endpoint,
                                const struct btz_http_head *head)
{
    const struct btz_mcp_endpoint_options *options = &endpoint->options;
    size_t count = 0;
    struct btz_str origin = btz_http_field_get(head, "Origin", &count);

    if (!count || options->switches.any_origin) {
        return true;
    }
    if (count > 1) {
        return false;
    }
    if (options->origins) {
        for (size_t i = 0; i < options->origin_count; i++) {
            if (btz_str_eq(options->origins[i], origin)) {
                return true;
            }
        }
        return false;
    }
    if (btz_str_starts(origin, BTZ_STR("http://"))) {
        return served_host(endpoint, btz_str_sub(origin, 7, origin.len));
    }
    return btz_str_starts(origin, BTZ_STR("https://")) &&
           served_host(endpoint, btz_str_sub(origin, 8, origin.len));
}

/* Cuts "type;parameter;..." at the first ';' and trims both. */
static struct btz_str cut_parameters(struct btz_str item, struct btz_str *parameters)
{
    struct btz_str type = BTZ_STR_NONE;

    *parameters = item;
    btz_str_cut(parameters, ';', &type);
    return btz_str_trim(type);
}

/* Value of parameter `name`, without quotes; BTZ_STR_NONE if it is absent. */
static struct btz_str parameter(struct btz_str parameters, const char *name)
{
    struct btz_str one;

    while (btz_str_cut(&parameters, ';', &one)) {
        struct btz_str key = BTZ_STR_NONE;
        struct btz_str value = one;

        btz_str_cut(&value, '=', &key);
        value = btz_str_trim(value);
        if (btz_mcp_same_word(btz_str_trim(key), btz_str_of(name)) && value.ptr) {
            bool quoted = value.len >= 2 && value.ptr[0] == '"' && value.ptr[value.len - 1] == '"';

            return quoted ? btz_str_sub(value, 1, value.len - 2) : value;
        }
    }
    return BTZ_STR_NONE;
}

/* A weight of zero means "not this one" (RFC 9110, 12.4.2). */
static bool is_zero(struct btz_str weight)
{
    if (!weight.len || weight.ptr[0] != '0') {
        return false;
    }
    for (size_t i = 1; i < weight.len; i++) {
        if (weight.ptr[i] != '0' && weight.ptr[i] != '.') {
            return false;
        }
    }
    return true;
}

/* How exactly `range` names `type`: 3 itself, 2 "x/" and a star, 1 two stars, 0 not at all. */
static int match_range(struct btz_str range, struct btz_str type)
{
    ptrdiff_t slash = btz_str_find(type, BTZ_STR("/"));
    struct btz_str family = btz_str_sub(type, 0, (size_t)slash + 1);

    if (btz_mcp_same_word(range, type)) {
        return 3;
    }
    if (range.len == family.len + 1 && range.ptr[range.len - 1] == '*' &&
        btz_mcp_same_word(btz_str_sub(range, 0, family.len), family)) {
        return 2;
    }
    return btz_str_is(range, "*/*") ? 1 : 0;
}

bool btz_mcp_accepts(const struct btz_http_head *head, const char *type)
{
    bool accepted = false;
    int best = 0;

    for (size_t i = 0; i < head->field_count; i++) {
        struct btz_str rest = head->fields[i].value;
        struct btz_str item;

        if (!btz_mcp_same_word(head->fields[i].name, BTZ_STR("Accept"))) {
            continue;
        }
        while (btz_str_cut(&rest, ',', &item)) {
            struct btz_str parameters;
            int match = match_range(cut_parameters(item, &parameters), btz_str_of(type));

            if (match > best) { /* the most exact range decides */
                best = match;
                accepted = !is_zero(parameter(parameters, "q"));
            }
        }
    }
    return accepted;
}

bool btz_mcp_is_json(const struct btz_http_head *head)
{
    struct btz_str parameters;
    struct btz_str type =
        cut_parameters(btz_http_field_get(head, "Content-Type", NULL), &parameters);
    struct btz_str charset = parameter(parameters, "charset");

    return btz_mcp_same_word(type, BTZ_STR("application/json")) &&
           (!charset.ptr || btz_mcp_same_word(charset, BTZ_STR("utf-8")) ||
            btz_mcp_same_word(charset, BTZ_STR("us-ascii")));
}

bool btz_mcp_is_encoded(const struct btz_http_head *head)
{
    size_t count = 0;
    struct btz_str coding = btz_http_field_get(head, "Content-Encoding", &count);

    return count && !btz_mcp_same_word(coding, BTZ_STR("identity"));
}

struct btz_str btz_mcp_query(struct btz_str target, const char *name)
{
    struct btz_str part;

    if (!btz_str_cut(&target, '?', &part)) {
        return BTZ_STR_NONE;
    }
    while (btz_str_cut(&target, '&', &part)) {
        struct btz_str key = BTZ_STR_NONE;

        btz_str_cut(&part, '=', &key);
        if (btz_str_is(key, name) && part.ptr) {
            return part;
        }
    }
    return BTZ_STR_NONE;
}
