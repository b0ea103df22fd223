/* Under which names the model reaches servers and tools: which servers the host keeps, which
 * namespace each has, and how label and tool become one name.
 *
 * The host asks each server for its display name (its label). Where the profile is lenient, the
 * names of two servers can fall into one, as in any table that is filled by assignment: the later
 * one is then called in place of the one that the user has in mind. */
#include "base/hash.h"
#include "trial/trial_int.h"

enum { NAME_MAX_LEN = 64, HASH_DIGITS = 8, JOINT = 2 };

static bool safe(const struct btz_trial *trial, enum btz_switch which)
{
    return trial->options.profile.safe[which];
}

static char safe_char(char c)
{
    bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                c == '_' || c == '-';

    return good ? c : '_';
}

static size_t put_safe(char *out, size_t len, size_t limit, struct btz_str text)
{
    for (size_t i = 0; i < text.len && len < limit; i++) {
        out[len++] = safe_char(text.ptr[i]);
    }
    return len;
}

static size_t put_joint(char *out, size_t len, size_t limit)
{
    for (int i = 0; i < JOINT && len < limit; i++) {
        out[len++] = '_';
    }
    return len;
}

/* Model interfaces allow 64 characters; a longer name keeps its head and gets a hash, so that two
 * long names stay different. */
void btz_trial_tool_name(struct btz_str label, struct btz_str tool, char *out)
{
    size_t full = label.len + JOINT + tool.len;
    size_t keep = full > NAME_MAX_LEN ? NAME_MAX_LEN - HASH_DIGITS - 1 : full;
    size_t len = put_safe(out, 0, keep, label);

    len = put_joint(out, len, keep);
    len = put_safe(out, len, keep, tool);
    if (full > NAME_MAX_LEN) {
        struct btz_hasher *hasher = btz_hasher_new();
        struct btz_hash hash;
        char hex[65];

        btz_hasher_add_part(hasher, label);
        btz_hasher_add_part(hasher, tool);
        hash = btz_hasher_end(hasher);
        btz_hasher_free(hasher);
        out[len++] = '_';
        memcpy(out + len, btz_hash_hex(&hash, hex), HASH_DIGITS);
        len += HASH_DIGITS;
    }
    out[len] = '\0';
}

/* The label loses what is too much, so that the tool's own name stays whole. */
void btz_trial_tool_name_cut(struct btz_str label, struct btz_str tool, char *out)
{
    size_t rest = tool.len + JOINT < NAME_MAX_LEN ? tool.len + JOINT : NAME_MAX_LEN;
    size_t len = put_safe(out, 0, NAME_MAX_LEN - rest, label);

    len = put_joint(out, len, NAME_MAX_LEN);
    out[put_safe(out, len, NAME_MAX_LEN, tool)] = '\0';
}

struct btz_str names_tool(struct btz_trial *trial, const struct conn *conn, struct btz_str tool)
{
    char name[NAME_MAX_LEN + 1];

    if (safe(trial, BTZ_SWITCH_HASH_LONG_NAMES)) {
        btz_trial_tool_name(conn->space, tool, name);
    } else {
        btz_trial_tool_name_cut(conn->space, tool, name);
    }
    return btz_arena_dup(trial->arena, btz_str_of(name));
}

/* Whether labels or, with `folded`, what becomes of them in tool names are the same. */
static bool same(struct btz_str a, struct btz_str b, bool folded)
{
    for (size_t i = 0; a.len == b.len && i < a.len; i++) {
        if (folded ? safe_char(a.ptr[i]) != safe_char(b.ptr[i]) : a.ptr[i] != b.ptr[i]) {
            return false;
        }
    }
    return a.len == b.len;
}

/* Records that a server is left out, and why. */
static void leave_out(struct btz_trial *trial, struct conn *conn, const char *why)
{
    struct btz_json *payload = btz_json_new_object(trial->arena);

    conn->left_out = true;
    btz_json_set_str(trial->arena, payload, "server", conn->server->label);
    btz_json_set_str(trial->arena, payload, "id", conn->server->id);
    btz_json_set_strz(trial->arena, payload, "text", why);
    trial_event_json(trial, BTZ_LAYER_HOST, "left_out", false, payload);
}

static const struct registered *holder_of(const struct btz_trial *trial, struct btz_str label)
{
    for (const struct registered *r = trial->registered; r; r = r->next) {
        if (btz_str_eq(r->label, label)) {
            return r;
        }
    }
    return NULL;
}

/* servers.pin_names: a display name belongs to the server that the user first met under it. */
static void check_pins(struct btz_trial *trial)
{
    for (size_t i = 0; i < trial->conn_count; i++) {
        struct conn *conn = &trial->conns[i];
        const struct registered *holder = holder_of(trial, conn->server->label);

        if (safe(trial, BTZ_SWITCH_PIN_SERVERS) && !conn->left_out && holder &&
            !btz_str_eq(holder->server, conn->server->id)) {
            leave_out(trial, conn, "another server had this display name before");
        }
    }
}

/* servers.key_by_origin: without it a later server of a name takes the entry of the earlier. */
static void fill_table(struct btz_trial *trial)
{
    for (size_t i = 0; i < trial->conn_count; i++) {
        struct conn *conn = &trial->conns[i];
        bool replaced = false;

        for (size_t j = i + 1; j < trial->conn_count; j++) {
            replaced = replaced || (!trial->conns[j].left_out &&
                                    btz_str_eq(trial->conns[j].server->label, conn->server->label));
        }
        if (replaced && !conn->left_out && !safe(trial, BTZ_SWITCH_KEY_BY_ORIGIN)) {
            leave_out(trial, conn, "a later server of the same display name took its entry");
        }
    }
}

static bool space_is_taken(const struct btz_trial *trial, size_t before, struct btz_str space)
{
    bool folded = safe(trial, BTZ_SWITCH_SEPARATE_NAMESPACES);

    for (size_t i = 0; i < before; i++) {
        if (!trial->conns[i].left_out && same(trial->conns[i].space, space, folded)) {
            return true;
        }
    }
    return false;
}

/* The namespace of a server is its label, with a number where an earlier one has it. */
static void give_space(struct btz_trial *trial, size_t index)
{
    struct conn *conn = &trial->conns[index];

    conn->space = conn->server->label;
    for (size_t n = 2; space_is_taken(trial, index, conn->space); n++) {
        conn->space = btz_arena_printf(trial->arena, "%.*s-%zu", BTZ_FMT(conn->server->label), n);
    }
}

void names_build(struct btz_trial *trial)
{
    for (size_t i = 0; i < trial->conn_count; i++) {
        trial->conns[i].left_out = trial->conns[i].unconfigured;
    }
    check_pins(trial);
    fill_table(trial);
    for (size_t i = 0; i < trial->conn_count; i++) {
        struct conn *conn = &trial->conns[i];

        if (conn->left_out) {
            continue;
        }
        give_space(trial, i);
        if (!holder_of(trial, conn->server->label)) {
            struct registered *r = BTZ_NEW(trial->arena, struct registered);

            *r = (struct registered){trial->registered, conn->server->label, conn->server->id};
            trial->registered = r;
        }
    }
}
