/* Freezing: two passes over the input, so that a corpus need not fit into memory. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sieve/split.h"

enum { LINES_MAX = 5000000 };

struct entry {
    struct btz_str key, stratum, cluster;
};

struct freeze {
    struct btz_arena *arena;
    const struct btz_sieve_freeze_options *options;
    struct btz_sieve_manifest *manifest;
    struct btz_err *err;
    bool items;
    struct entry *entries; /* one a line */
    size_t count;
    struct btz_sieve_unit *units; /* sorted by key */
    size_t unit_count;
    FILE *files[BTZ_SIEVE_SPLITS];
    struct btz_hasher *hashers[BTZ_SIEVE_SPLITS];
    int64_t lines[BTZ_SIEVE_SPLITS];
};

static int bad_file(struct freeze *f, const char *path, const char *what)
{
    int code = errno == EEXIST ? BTZ_EEXISTS : BTZ_EIO;
    int rc = btz_err_set(f->err, code, "%s: %s", what, strerror(errno));

    btz_err_at(f->err, path, 0, 0);
    return rc;
}

/* Items and definitions are told apart by the first line. */
static int next(struct freeze *f, struct btz_sieve_reader *reader, struct btz_arena *arena,
                struct btz_sieve_item *item, struct btz_sieve_definition *definition,
                struct btz_sieve_line *line)
{
    int rc = btz_sieve_reader_next(reader, arena, line, f->err);

    if (rc != BTZ_OK) {
        return rc;
    }
    if (f->count == 0 && !f->entries) {
        f->items = btz_json_getz(line->value, "kind") != NULL;
    }
    rc = f->items ? btz_sieve_item_read(arena, line->value, item, f->err)
                  : btz_sieve_definition_read(arena, line->value, definition, f->err);
    if (rc != BTZ_OK) {
        btz_err_at(f->err, f->options->input, line->number, 0);
    }
    return rc;
}

static int collect(struct freeze *f, struct btz_sieve_reader *reader)
{
    struct btz_arena *arena = btz_arena_new();
    struct btz_sieve_definition definition;
    struct btz_sieve_item item;
    struct btz_sieve_line line;
    size_t cap = 0;
    int rc;

    while ((rc = next(f, reader, arena, &item, &definition, &line)) == BTZ_OK) {
        struct entry *entry;

        if (f->count == LINES_MAX) {
            rc = btz_err_set(f->err, BTZ_ELIMIT, "at most %d lines can be frozen", LINES_MAX);
            break;
        }
        f->entries = btz_arena_grow(f->arena, f->entries, f->count, &cap, sizeof(*f->entries));
        entry = &f->entries[f->count++];
        if (f->items) {
            const char *paradigm = btz_sieve_paradigm_name(item.paradigm);

            entry->key = btz_arena_dup(f->arena, item.pair.len ? item.pair : item.id);
            entry->cluster = btz_arena_dup(f->arena, item.cluster);
            entry->stratum = btz_arena_printf(f->arena, "%s %.*s", paradigm ? paradigm : "negative",
                                              BTZ_FMT(item.cluster));
        } else {
            entry->key = btz_arena_dup(f->arena, definition.id);
            entry->cluster = btz_arena_dup(f->arena, definition.source);
            entry->stratum = entry->cluster;
        }
        btz_arena_reset(arena);
    }
    btz_arena_free(arena);
    return rc == BTZ_EAGAIN ? BTZ_OK : rc;
}

static int entry_by_key(const void *a, const void *b)
{
    return btz_str_cmp(((const struct entry *)a)->key, ((const struct entry *)b)->key);
}

/* The lines of one key are one unit. */
static int make_units(struct freeze *f)
{
    struct entry *sorted = btz_arena_array(f->arena, f->count, sizeof(*sorted));

    if (f->count == 0) {
        int rc = btz_err_set(f->err, BTZ_EINVAL, "there is nothing to freeze in it");

        btz_err_at(f->err, f->options->input, 0, 0);
        return rc;
    }
    memcpy(sorted, f->entries, f->count * sizeof(*sorted));
    qsort(sorted, f->count, sizeof(*sorted), entry_by_key);
    f->units = btz_arena_array(f->arena, f->count, sizeof(*f->units));
    for (size_t i = 0; i < f->count; i++) {
        bool first = i == 0 || !btz_str_eq(sorted[i].key, sorted[i - 1].key);

        if (first) {
            f->units[f->unit_count++] = (struct btz_sieve_unit){
                .key = sorted[i].key, .stratum = sorted[i].stratum, .cluster = sorted[i].cluster};
        } else if (!f->items) {
            return btz_err_set(f->err, BTZ_EINVAL, "definition %.*s stands in it twice",
                               BTZ_FMT(sorted[i].key));
        } else if (!btz_str_eq(sorted[i].cluster, f->units[f->unit_count - 1].cluster)) {
            return btz_err_set(f->err, BTZ_EINVAL, "pair %.*s stands in two clusters",
                               BTZ_FMT(sorted[i].key));
        }
        f->units[f->unit_count - 1].lines++;
    }
    return btz_sieve_split(f->units, f->unit_count, f->options->method, f->options->share,
                           f->options->seed, f->err);
}

static int unit_by_key(const void *key, const void *unit)
{
    return btz_str_cmp(*(const struct btz_str *)key, ((const struct btz_sieve_unit *)unit)->key);
}

static int write_line(struct freeze *f, enum btz_sieve_split side, struct btz_str text)
{
    if (fwrite(text.ptr, 1, text.len, f->files[side]) != text.len) {
        return btz_err_set(f->err, BTZ_EIO, "writing failed: %s", strerror(errno));
    }
    btz_hasher_add(f->hashers[side], text);
    f->lines[side]++;
    return BTZ_OK;
}

static int distribute(struct freeze *f, struct btz_sieve_reader *reader)
{
    struct btz_arena *arena = btz_arena_new();
    struct btz_sieve_definition definition;
    struct btz_sieve_item item;
    struct btz_sieve_line line;
    struct btz_buf out;
    int rc;

    btz_buf_init(&out, 4 * (size_t)BTZ_SIEVE_LINE_MAX);
    while ((rc = next(f, reader, arena, &item, &definition, &line)) == BTZ_OK) {
        struct btz_str key = !f->items ? definition.id : item.pair.len ? item.pair : item.id;
        const struct btz_sieve_unit *unit =
            bsearch(&key, f->units, f->unit_count, sizeof(*f->units), unit_by_key);

        if (!unit) {
            rc = btz_err_set(f->err, BTZ_EIO, "the input changed while it was read");
            break;
        }
        btz_buf_reset(&out);
        if (f->items) {
            item.split = unit->test ? BTZ_SIEVE_TEST : BTZ_SIEVE_DEV;
            item.held_out |= unit->test && f->options->method == BTZ_SIEVE_GROUPED;
            btz_sieve_item_write(&out, &item);
        } else {
            btz_sieve_definition_write(&out, &definition);
        }
        rc = btz_buf_status(&out)
                 ? btz_err_set(f->err, BTZ_ELIMIT, "a line has become too long")
                 : write_line(f, unit->test ? BTZ_SIEVE_TEST : BTZ_SIEVE_DEV, btz_buf_view(&out));
        if (rc != BTZ_OK) {
            break;
        }
        btz_arena_reset(arena);
    }
    btz_buf_fini(&out);
    btz_arena_free(arena);
    return rc == BTZ_EAGAIN ? BTZ_OK : rc;
}

static int unit_by_group(const void *a, const void *b)
{
    const struct btz_sieve_unit *x = *(const struct btz_sieve_unit *const *)a;
    const struct btz_sieve_unit *y = *(const struct btz_sieve_unit *const *)b;

    return btz_str_cmp(x->stratum, y->stratum);
}

static void count_strata(struct freeze *f)
{
    const struct btz_sieve_unit **order =
        btz_arena_array(f->arena, f->unit_count, sizeof(const struct btz_sieve_unit *));
    struct btz_sieve_manifest *m = f->manifest;

    for (size_t i = 0; i < f->unit_count; i++) {
        order[i] = &f->units[i];
    }
    qsort(order, f->unit_count, sizeof(const struct btz_sieve_unit *), unit_by_group);
    m->strata = btz_arena_array(f->arena, f->unit_count, sizeof(*m->strata));
    for (size_t i = 0; i < f->unit_count; i++) {
        struct btz_sieve_stratum *stratum;

        if (i == 0 || !btz_str_eq(order[i]->stratum, order[i - 1]->stratum)) {
            m->strata[m->stratum_count++].name = order[i]->stratum;
        }
        stratum = &m->strata[m->stratum_count - 1];
        *(order[i]->test ? &stratum->test : &stratum->dev) += order[i]->lines;
    }
}

static const char *in_folder(struct freeze *f, const char *name)
{
    return btz_arena_printf(f->arena, "%s/%s", f->options->folder, name).ptr;
}

static int create(struct freeze *f, const char *name, FILE **out)
{
    const char *path = in_folder(f, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

    if (fd < 0) {
        return bad_file(f, path,
                        errno == EEXIST ? "a frozen set is never written anew; take another folder"
                                        : "the file cannot be made");
    }
    *out = fdopen(fd, "wb");
    if (!*out) {
        btz_panic("out of memory");
    }
    return BTZ_OK;
}

/* Flushes to the disk; `frozen` takes away the right to write. */
static int finish(struct freeze *f, FILE **file, bool frozen)
{
    int fd = fileno(*file);
    bool fine = fflush(*file) == 0 && fsync(fd) == 0 && (!frozen || fchmod(fd, 0444) == 0);

    fine &= fclose(*file) == 0;
    *file = NULL;
    return fine ? BTZ_OK : btz_err_set(f->err, BTZ_EIO, "writing failed: %s", strerror(errno));
}

static int write_manifest(struct freeze *f)
{
    struct btz_buf text;
    FILE *file = NULL;
    int rc = create(f, "manifest.json", &file);

    if (rc != BTZ_OK) {
        return rc;
    }
    btz_buf_init(&text, 16 * (size_t)1024 * 1024);
    btz_sieve_manifest_write(&text, f->manifest);
    if (btz_buf_status(&text) != BTZ_OK) {
        rc = btz_err_set(f->err, BTZ_ELIMIT, "there are too many strata for a manifest");
    } else if (fwrite(text.ptr, 1, text.len, file) != text.len) {
        rc = btz_err_set(f->err, BTZ_EIO, "writing failed: %s", strerror(errno));
    }
    btz_buf_fini(&text);
    if (rc != BTZ_OK) {
        (void)fclose(file);
    } else {
        rc = finish(f, &file, true);
    }
    if (rc != BTZ_OK) {
        (void)unlink(in_folder(f, "manifest.json"));
    }
    return rc;
}

static struct btz_str hex_of(struct freeze *f, const struct btz_hash *hash)
{
    char hex[65];

    return btz_arena_dup(f->arena, btz_str_of(btz_hash_hex(hash, hex)));
}

static int both_passes(struct freeze *f)
{
    struct btz_sieve_reader *reader = NULL;
    int rc = btz_sieve_reader_open(f->options->input, &reader, f->err);

    if (rc == BTZ_OK) {
        rc = collect(f, reader);
    }
    btz_sieve_reader_free(reader);
    reader = NULL;
    if (rc == BTZ_OK) {
        rc = make_units(f);
    }
    if (rc == BTZ_OK) {
        rc = btz_sieve_reader_open(f->options->input, &reader, f->err);
    }
    if (rc == BTZ_OK) {
        rc = distribute(f, reader);
    }
    btz_sieve_reader_free(reader);
    return rc;
}

static int seal(struct freeze *f)
{
    struct btz_sieve_manifest *m = f->manifest;
    struct btz_sieve_side *sides[BTZ_SIEVE_SPLITS] = {&m->dev, &m->test};
    int rc = BTZ_OK;

    for (int i = 0; rc == BTZ_OK && i < BTZ_SIEVE_SPLITS; i++) {
        struct btz_hash hash = btz_hasher_end(f->hashers[i]);

        *sides[i] = (struct btz_sieve_side){f->lines[i], hex_of(f, &hash)};
        rc = finish(f, &f->files[i], i == BTZ_SIEVE_TEST);
    }
    if (rc == BTZ_OK) {
        m->input.count = m->dev.count + m->test.count;
        count_strata(f);
        rc = write_manifest(f);
    }
    return rc;
}

static const char *const file_names[BTZ_SIEVE_SPLITS] = {"dev.jsonl", "test.jsonl"};

int btz_sieve_freeze(struct btz_arena *arena, const struct btz_sieve_freeze_options *options,
                     struct btz_sieve_manifest *out, struct btz_err *err)
{
    struct btz_sieve_manifest manifest = {.version = 1,
                                          .created = options->created,
                                          .method = options->method,
                                          .seed = (int64_t)options->seed,
                                          .share = options->share,
                                          .input_path = btz_str_of(options->input),
                                          .rules_commit = options->rules_commit,
                                          .rules_sha256 = options->rules_sha256};
    struct freeze f = {.arena = arena, .options = options, .manifest = &manifest, .err = err};
    struct btz_hash hash;
    bool folder = false;
    int made = 0;
    int rc = btz_sieve_file_hash(options->input, &hash, err);

    if (rc == BTZ_OK) {
        folder = mkdir(options->folder, 0777) == 0;
        rc = folder || errno == EEXIST ? BTZ_OK
                                       : bad_file(&f, options->folder, "the folder cannot be made");
    }
    if (rc == BTZ_OK && access(in_folder(&f, "manifest.json"), F_OK) == 0) {
        errno = EEXIST;
        rc = bad_file(&f, in_folder(&f, "manifest.json"),
                      "a frozen set is never written anew; take another folder");
    }
    for (; rc == BTZ_OK && made < BTZ_SIEVE_SPLITS; made += rc == BTZ_OK) {
        rc = create(&f, file_names[made], &f.files[made]);
    }
    for (int i = 0; i < BTZ_SIEVE_SPLITS; i++) {
        f.hashers[i] = btz_hasher_new();
    }
    if (rc == BTZ_OK) {
        manifest.input.sha256 = hex_of(&f, &hash);
        rc = both_passes(&f);
    }
    if (rc == BTZ_OK) {
        rc = seal(&f);
    }
    for (int i = 0; i < BTZ_SIEVE_SPLITS; i++) {
        if (f.files[i]) {
            (void)fclose(f.files[i]);
        }
        if (rc != BTZ_OK && i < made) {
            (void)unlink(in_folder(&f, file_names[i]));
        }
        btz_hasher_free(f.hashers[i]);
    }
    if (rc != BTZ_OK && folder) {
        (void)rmdir(options->folder);
    }
    if (rc == BTZ_OK) {
        *out = manifest;
    }
    return rc;
}
