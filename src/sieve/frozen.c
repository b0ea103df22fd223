/* Frozen files: the manifest beside them, and whether they are still what was frozen. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "sieve/sieve_int.h"

enum { FILE_MAX = 16 * 1024 * 1024, CHUNK = 256 * 1024 };

int btz_sieve_manifest_load(struct btz_arena *arena, const char *path,
                            struct btz_sieve_manifest *out, struct btz_err *err)
{
    struct btz_str text;
    int rc = btz_file_read(arena, path, FILE_MAX, &text, err);

    return rc ? rc : btz_sieve_manifest_parse(arena, text, path, out, err);
}

int btz_sieve_file_hash(const char *path, struct btz_hash *out, struct btz_err *err)
{
    struct btz_hasher *hasher;
    char *chunk;
    ssize_t got;
    int fd;
    int rc = btz_file_open(path, &fd, err);

    if (rc != BTZ_OK) {
        return rc;
    }
    chunk = malloc(CHUNK);
    if (!chunk) {
        btz_panic("out of memory");
    }
    hasher = btz_hasher_new();
    while ((got = read(fd, chunk, CHUNK)) > 0 || (got < 0 && errno == EINTR)) {
        btz_hasher_add(hasher, (struct btz_str){chunk, got > 0 ? (size_t)got : 0});
    }
    if (got < 0) {
        rc = btz_err_set(err, BTZ_EIO, "reading failed: %s", strerror(errno));
        btz_err_at(err, path, 0, 0);
    } else {
        *out = btz_hasher_end(hasher);
    }
    btz_hasher_free(hasher);
    free(chunk);
    (void)close(fd);
    return rc;
}

/* The manifest beside `path`, if `path` is one side of a frozen set; empty if not. */
static struct btz_str manifest_beside(const char *path, struct btz_arena *arena, bool *test)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    struct btz_str beside;

    *test = strcmp(base, "test.jsonl") == 0;
    if (!*test && strcmp(base, "dev.jsonl") != 0) {
        return BTZ_STR_NONE;
    }
    beside = btz_arena_printf(arena, "%.*smanifest.json", (int)(base - path), path);
    return access(beside.ptr, F_OK) == 0 ? beside : BTZ_STR_NONE;
}

static int compare(const char *path, const char *beside, bool test, struct btz_arena *arena,
                   struct btz_err *err)
{
    struct btz_sieve_manifest manifest;
    struct btz_hash hash;
    char hex[65];
    int rc = btz_sieve_manifest_load(arena, beside, &manifest, err);

    rc = rc ? rc : btz_sieve_file_hash(path, &hash, err);
    if (rc == BTZ_OK &&
        !btz_str_is(test ? manifest.test.sha256 : manifest.dev.sha256, btz_hash_hex(&hash, hex))) {
        rc = btz_err_set(err, BTZ_ECORRUPT,
                         "the file is not the one that was frozen: its SHA-256 is %.12s..., that "
                         "of the manifest beside it another; a frozen set is never edited, freeze "
                         "a new one into another folder",
                         hex);
        btz_err_at(err, path, 0, 0);
    }
    return rc;
}

int btz_sieve_frozen_check(const char *path, struct btz_err *err)
{
    struct btz_arena *arena = btz_arena_new();
    bool test = false;
    struct btz_str beside = manifest_beside(path, arena, &test);
    int rc = beside.len ? compare(path, beside.ptr, test, arena, err) : BTZ_OK;

    btz_arena_free(arena);
    return rc;
}

int btz_sieve_frozen_keep(const char *path, struct btz_err *err)
{
    struct btz_arena *arena = btz_arena_new();
    bool test = false;
    bool frozen = manifest_beside(path, arena, &test).len > 0;

    btz_arena_free(arena);
    return frozen ? btz_err_set(err, BTZ_EUSAGE,
                                "%s belongs to a frozen set, to which nothing is added: name "
                                "another file",
                                path)
                  : BTZ_OK;
}
