/* Where rule files come from: the program, or a folder. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>

#include "base/file.h"
#include "guard/guard_int.h"

enum { FILES_MAX = 200, FILE_MAX = 1024 * 1024 };

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct btz_embedded *)a)->name, ((const struct btz_embedded *)b)->name);
}

static int slurp(struct btz_arena *arena, const char *path, struct btz_embedded *out,
                 struct btz_err *err)
{
    struct btz_str text;
    int rc = btz_file_read(arena, path, FILE_MAX, &text, err);

    if (rc == BTZ_OK) {
        *out = (struct btz_embedded){path, text.ptr, text.len};
    }
    return rc;
}

static int read_folder(struct btz_arena *arena, const char *dir, struct btz_embedded *files,
                       size_t *count, struct btz_err *err)
{
    DIR *handle = opendir(dir);
    struct dirent *entry;
    int rc = BTZ_OK;

    if (!handle) {
        rc = btz_err_set(err, errno == ENOENT || errno == ENOTDIR ? BTZ_ENOTFOUND : BTZ_EIO,
                         "the folder of rules cannot be read: %s", strerror(errno));
        btz_err_at(err, dir, 0, 0);
        return rc;
    }
    while (rc == BTZ_OK && (entry = readdir(handle))) {
        struct btz_str name = btz_str_of(entry->d_name);

        if (name.ptr[0] == '.' ||
            !(btz_str_ends(name, BTZ_STR(".yaml")) || btz_str_ends(name, BTZ_STR(".json")))) {
            continue;
        }
        if (*count == FILES_MAX) {
            rc = btz_err_set(err, BTZ_ELIMIT, "a folder of rules has at most %d files", FILES_MAX);
            btz_err_at(err, dir, 0, 0);
            break;
        }
        rc = slurp(arena, btz_arena_printf(arena, "%s/%s", dir, entry->d_name).ptr, &files[*count],
                   err);
        *count += rc == BTZ_OK;
    }
    (void)closedir(handle);
    qsort(files, *count, sizeof(*files), by_name);
    if (rc == BTZ_OK && *count == 0) {
        rc = btz_err_set(err, BTZ_ENOTFOUND, "the folder holds no rule file (*.yaml or *.json)");
        btz_err_at(err, dir, 0, 0);
    }
    return rc;
}

int btz_guard_rules_new(const char *dir, struct btz_guard_rules **out, struct btz_err *err)
{
    struct btz_arena *arena;
    struct btz_embedded *files;
    size_t count = 0;
    int rc;

    if (!dir) {
        return btz_guard_rules_parse(btz_guard_rule_files, btz_guard_rule_files_count, out, err);
    }
    arena = btz_arena_new();
    files = btz_arena_array(arena, FILES_MAX, sizeof(*files));
    rc = read_folder(arena, dir, files, &count, err);
    if (rc == BTZ_OK) {
        rc = btz_guard_rules_parse(files, count, out, err);
    }
    btz_arena_free(arena);
    return rc;
}
