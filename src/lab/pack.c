/* Finds the files of packs: those that are embedded, and folders that are read whole before any
 * script runs, so that loading order and hash depend on names and bytes alone. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/file.h"
#include "lab/embedded.h"
#include "lab/lab_int.h"

enum { FILES_MAX = 2000 };

static const char *const folders[] = {"attacks/cl", "attacks/ma", "attacks/st",
                                      "attacks/tr", "lib",        "servers"};

struct listing {
    struct btz_lab *lab;
    struct pack *pack;
    size_t cap;
};

static void add_file(struct listing *l, struct btz_str name, struct btz_str shown,
                     struct btz_str bytes)
{
    struct pack *pack = l->pack;

    pack->files =
        btz_arena_grow(l->lab->arena, pack->files, pack->count, &l->cap, sizeof(*pack->files));
    pack->files[pack->count++] = (struct pack_file){name, shown, bytes, BTZ_LUA_NONE, false};
}

static int by_name(const void *a, const void *b)
{
    return btz_str_cmp(((const struct pack_file *)a)->name, ((const struct pack_file *)b)->name);
}

static int read_folder(struct listing *l, const char *dir, const char *folder, struct btz_err *err)
{
    struct btz_arena *arena = l->lab->arena;
    struct btz_arena *scratch;
    struct btz_str path = btz_arena_printf(arena, "%s/%s", dir, folder);
    DIR *handle = opendir(path.ptr);
    struct dirent *entry;
    int code = BTZ_OK;

    if (!handle) { /* a pack need not have every folder */
        if (errno == ENOENT) {
            return BTZ_OK;
        }
        (void)btz_err_set(err, BTZ_EIO, "the folder cannot be read: %s", strerror(errno));
        btz_err_at(err, path.ptr, 0, 0);
        return BTZ_EIO;
    }
    scratch = btz_arena_new();
    while (code == BTZ_OK && (entry = readdir(handle))) {
        struct btz_str file = btz_str_of(entry->d_name);
        struct btz_str bytes;
        struct btz_str shown;

        if (!btz_str_ends(file, BTZ_STR(".lua")) || file.ptr[0] == '.') {
            continue;
        }
        if (l->pack->count == FILES_MAX) {
            code = btz_err_set(err, BTZ_ELIMIT, "a pack has at most %d files", FILES_MAX);
            btz_err_at(err, path.ptr, 0, 0);
            break;
        }
        shown = btz_arena_printf(arena, "%s/%s", path.ptr, file.ptr);
        code = btz_file_read(scratch, shown.ptr, BTZ_LUA_SOURCE_MAX, &bytes, err);
        if (code == BTZ_OK) {
            add_file(l, btz_arena_printf(arena, "%s/%s", folder, file.ptr), shown,
                     btz_arena_dup(arena, bytes));
        }
        btz_arena_reset(scratch);
    }
    btz_arena_free(scratch);
    (void)closedir(handle);
    return code;
}

static int open_dir(struct listing *l, const char *dir, struct btz_err *err)
{
    struct stat st;
    int code = BTZ_OK;

    if (stat(dir, &st) != 0 || !S_ISDIR(st.st_mode)) {
        (void)btz_err_set(err, BTZ_ENOTFOUND,
                          "there is no such pack folder; a pack holds servers/, attacks/ and lib/");
        btz_err_at(err, dir, 0, 0);
        return BTZ_ENOTFOUND;
    }
    for (size_t i = 0; code == BTZ_OK && i < sizeof(folders) / sizeof(*folders); i++) {
        code = read_folder(l, dir, folders[i], err);
    }
    if (code == BTZ_OK && l->pack->count == 0) {
        code =
            btz_err_set(err, BTZ_ENOTFOUND,
                        "the pack holds no .lua file under servers/, attacks/<surface>/ or lib/");
        btz_err_at(err, dir, 0, 0);
    }
    return code;
}

static void open_embedded(struct listing *l, const char *folder, const struct btz_embedded *files,
                          size_t count)
{
    for (size_t i = 0; i < count; i++) {
        add_file(l, btz_str_of(files[i].name),
                 btz_arena_printf(l->lab->arena, "%s/%s", folder, files[i].name),
                 (struct btz_str){files[i].bytes, files[i].len});
    }
}

/* Packs in the program that are loaded only where they are asked for, by their names. */
static const struct builtin {
    const char *name, *folder;
    const struct btz_embedded *files;
    const size_t *count;
} builtins[] = {
    {"extended", "packs/extended", btz_lab_extended_pack, &btz_lab_extended_pack_count},
};

static const struct builtin *builtin_of(const char *name)
{
    for (size_t i = 0; i < sizeof(builtins) / sizeof(*builtins); i++) {
        if (strcmp(builtins[i].name, name) == 0) {
            return &builtins[i];
        }
    }
    return NULL;
}

const char *btz_lab_pack_builtin(size_t index)
{
    return index < sizeof(builtins) / sizeof(*builtins) ? builtins[index].name : NULL;
}

bool btz_lab_pack_is_builtin(const char *name)
{
    return builtin_of(name) != NULL;
}

static int open_named(struct listing *l, const char *name, struct btz_err *err)
{
    const struct builtin *builtin = builtin_of(name);

    if (!builtin) {
        return open_dir(l, name, err);
    }
    l->pack->builtin = builtin->name;
    open_embedded(l, builtin->folder, builtin->files, *builtin->count);
    return BTZ_OK;
}

bool btz_lab_has_pack(const struct btz_lab *lab, struct btz_str name)
{
    for (size_t i = 0; i < lab->pack_count; i++) {
        if (lab->packs[i].builtin && btz_str_is(name, lab->packs[i].builtin)) {
            return true;
        }
    }
    return false;
}

int btz_lab_packs_open(struct btz_lab *lab, const struct btz_lab_options *options,
                       const struct btz_embedded *given, size_t given_count, struct btz_err *err)
{
    struct btz_hasher *hasher = btz_hasher_new();
    size_t first = options->without_core ? 1 : 0;
    size_t total = 1 + options->pack_dir_count;
    int code = BTZ_OK;

    lab->packs = btz_arena_array(lab->arena, total, sizeof(*lab->packs));
    for (size_t i = first; code == BTZ_OK && i < total; i++) {
        struct pack *pack = &lab->packs[lab->pack_count++];
        struct listing listing = {lab, pack, 0};

        if (i == 0) {
            open_embedded(&listing, given ? "given" : "packs/core",
                          given ? given : btz_lab_core_pack,
                          given ? given_count : btz_lab_core_pack_count);
        } else {
            code = open_named(&listing, options->pack_dirs[i - 1], err);
        }
        if (code != BTZ_OK) {
            break;
        }
        if (pack->count > 0) {
            qsort(pack->files, pack->count, sizeof(*pack->files), by_name);
        }
        for (size_t f = 0; f < pack->count; f++) {
            btz_hasher_add_part(hasher, pack->files[f].name);
            btz_hasher_add_part(hasher, pack->files[f].bytes);
        }
    }
    lab->hash = btz_hasher_end(hasher);
    btz_hasher_free(hasher);
    return code;
}
