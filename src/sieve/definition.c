/* Definitions: reading, sealing, writing. */
#include "sieve/sieve_int.h"

enum { TEXT_MAX = 4096 };

void btz_sieve_tool_hashes(struct btz_arena *arena, struct btz_str source,
                           const struct btz_json *tool, struct btz_str *id, struct btz_str *hash)
{
    struct btz_hasher *hasher = btz_hasher_new();
    struct btz_buf text;
    struct btz_hash sum;
    char hex[65];

    btz_buf_init(&text, (size_t)64 * 1024 * 1024);
    (void)btz_json_write_canonical(&text, tool);
    sum = btz_hash_of(btz_buf_view(&text));
    *hash = btz_arena_dup(arena, btz_str_of(btz_hash_hex(&sum, hex)));
    btz_hasher_add(hasher, source);
    btz_hasher_add(hasher, (struct btz_str){"\0", 1});
    btz_hasher_add(hasher, btz_buf_view(&text));
    sum = btz_hasher_end(hasher);
    *id = btz_arena_dup(arena, (struct btz_str){btz_hash_hex(&sum, hex), 16});
    btz_hasher_free(hasher);
    btz_buf_fini(&text);
}

static int read_package(const struct fields *f, struct btz_sieve_definition *out)
{
    static const char *const names[] = {"registry", "name", "version", NULL};
    struct fields inner = {NULL, "/package", f->err};
    int rc = btz_sieve_field_object(f, "package", true, &inner.object);

    if (rc != BTZ_OK || !inner.object) {
        return rc;
    }
    rc = btz_sieve_fields_check(&inner, names);
    if (rc == BTZ_OK) {
        rc = btz_sieve_field_text(&inner, "registry", TEXT_MAX, &out->registry);
    }
    if (rc == BTZ_OK) {
        rc = btz_sieve_field_text(&inner, "name", TEXT_MAX, &out->package);
    }
    return rc ? rc : btz_sieve_field_text(&inner, "version", TEXT_MAX, &out->package_version);
}

static int read_server(const struct fields *f, struct btz_sieve_definition *out)
{
    static const char *const names[] = {"name", "version", NULL};
    struct fields inner = {NULL, "/server", f->err};
    int rc = btz_sieve_field_object(f, "server", true, &inner.object);

    if (rc != BTZ_OK || !inner.object) {
        return rc;
    }
    rc = btz_sieve_fields_check(&inner, names);
    if (rc == BTZ_OK) {
        rc = btz_sieve_field_text(&inner, "name", TEXT_MAX, &out->server_name);
    }
    /* A server may have an empty version. */
    if (rc == BTZ_OK && !btz_json_is(btz_json_getz(inner.object, "version"), BTZ_JSON_STRING)) {
        rc = btz_sieve_field_wrong(&inner, "version", "a string is expected");
    }
    if (rc == BTZ_OK) {
        out->server_version = btz_json_str(btz_json_getz(inner.object, "version"));
    }
    return rc;
}

int btz_sieve_definition_read(struct btz_arena *arena, const struct btz_json *value,
                              struct btz_sieve_definition *out, struct btz_err *err)
{
    static const char *const names[] = {"id",        "source", "package", "server", "revision",
                                        "collected", "hash",   "tool",    NULL};
    const struct fields f = {value, "", err};
    struct btz_sieve_definition d = {0};
    struct btz_str id, hash;
    int rc = btz_sieve_fields_check(&f, names);

    if (rc == BTZ_OK) {
        rc = btz_sieve_field_hex(&f, "id", 16, &d.id);
    }
    if (rc == BTZ_OK) {
        rc = btz_sieve_field_text(&f, "source", TEXT_MAX, &d.source);
    }
    if (rc == BTZ_OK) {
        rc = read_package(&f, &d);
    }
    if (rc == BTZ_OK) {
        rc = read_server(&f, &d);
    }
    if (rc == BTZ_OK) {
        rc = btz_sieve_field_text_or_null(&f, "revision", 64, &d.revision);
    }
    if (rc == BTZ_OK) {
        rc = btz_sieve_field_date(&f, "collected", &d.collected);
    }
    if (rc == BTZ_OK) {
        rc = btz_sieve_field_hex(&f, "hash", 64, &d.hash);
    }
    if (rc == BTZ_OK) {
        rc = btz_sieve_field_tool(&f, "tool", &d.tool);
    }
    if (rc != BTZ_OK) {
        return rc;
    }
    btz_sieve_tool_hashes(arena, d.source, d.tool, &id, &hash);
    if (!btz_str_eq(hash, d.hash)) {
        return btz_sieve_field_wrong(&f, "hash",
                                     "is not that of the tool (%.12s...): it was "
                                     "changed after it was collected",
                                     hash.ptr);
    }
    if (!btz_str_eq(id, d.id)) {
        return btz_sieve_field_wrong(&f, "id", "is not that of source and tool (%s)", id.ptr);
    }
    *out = d;
    return BTZ_OK;
}

static const struct btz_json *as_json(struct btz_arena *arena, const struct btz_sieve_definition *d)
{
    struct btz_json *out = btz_json_new_object(arena);
    struct btz_json *inner;

    btz_json_set_str(arena, out, "id", d->id);
    btz_json_set_str(arena, out, "source", d->source);
    inner = btz_json_null(arena);
    if (d->package.len) {
        inner = btz_json_new_object(arena);
        btz_json_set_str(arena, inner, "registry", d->registry);
        btz_json_set_str(arena, inner, "name", d->package);
        btz_json_set_str(arena, inner, "version", d->package_version);
    }
    btz_json_setz(arena, out, "package", inner);
    inner = btz_json_null(arena);
    if (d->server_name.len) {
        inner = btz_json_new_object(arena);
        btz_json_set_str(arena, inner, "name", d->server_name);
        btz_json_set_str(arena, inner, "version", d->server_version);
    }
    btz_json_setz(arena, out, "server", inner);
    btz_json_setz(arena, out, "revision",
                  d->revision.len ? btz_json_new_str(arena, d->revision) : btz_json_null(arena));
    btz_json_set_str(arena, out, "collected", d->collected);
    btz_json_set_str(arena, out, "hash", d->hash);
    btz_json_setz(arena, out, "tool", d->tool);
    return out;
}

int btz_sieve_definition_seal(struct btz_arena *arena, struct btz_sieve_definition *definition,
                              struct btz_err *err)
{
    struct btz_sieve_definition sealed = *definition;
    struct btz_sieve_definition again;
    int rc;

    if (!btz_json_is(sealed.tool, BTZ_JSON_OBJECT)) {
        return btz_err_set(err, BTZ_EINVAL, "a definition is an object");
    }
    btz_sieve_tool_hashes(arena, sealed.source, sealed.tool, &sealed.id, &sealed.hash);
    rc = btz_sieve_definition_read(arena, as_json(arena, &sealed), &again, err);
    if (rc == BTZ_OK) {
        *definition = sealed;
    }
    return rc;
}

int btz_sieve_definition_next(struct btz_sieve_reader *reader, struct btz_arena *arena,
                              struct btz_sieve_definition *out, struct btz_err *err)
{
    struct btz_sieve_line line;
    int rc = btz_sieve_reader_next(reader, arena, &line, err);

    if (rc != BTZ_OK) {
        return rc;
    }
    rc = btz_sieve_definition_read(arena, line.value, out, err);
    if (rc != BTZ_OK) {
        btz_err_at(err, btz_sieve_reader_name(reader), line.number, 0);
    }
    return rc;
}

void btz_sieve_definition_write(struct btz_buf *out, const struct btz_sieve_definition *definition)
{
    struct btz_arena *arena = btz_arena_new();

    (void)btz_json_write(out, as_json(arena, definition));
    (void)btz_buf_add_byte(out, '\n');
    btz_arena_free(arena);
}
