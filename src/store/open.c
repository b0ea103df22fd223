/* Opening: what the file is, the lock, the version; making a new one. */
#include "store/store_int.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/rng.h"

enum file_state { FILE_ABSENT, FILE_EMPTY, FILE_STORE };

/* Offsets in the header of a database file ("The Database File Format", section 1.3). */
enum {
    HEADER_SIZE = 100,
    AT_PAGE_SIZE = 16,
    AT_CHANGES = 24,
    AT_PAGES = 28,
    AT_APPLICATION = 68,
    AT_VALID_FOR = 92
};

static uint32_t big_endian(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/* True if the write-ahead log beside the file has anything in it: then pages that the file lacks
 * may be there. */
static bool has_log(const char *path)
{
    struct stat st;
    char *name = NULL;
    bool found;

    if (asprintf(&name, "%s-wal", path) < 0) {
        btz_panic("out of memory");
    }
    found = stat(name, &st) == 0 && st.st_size > 0;
    free(name);
    return found;
}

static int check_header(const char *path, const unsigned char *head, ssize_t len, int64_t size,
                        struct btz_err *err)
{
    uint64_t page;

    if (len < HEADER_SIZE || memcmp(head, "SQLite format 3", 16) != 0) {
        return btz_err_set(err, BTZ_EINVAL,
                           "%s is not a store (and was left as it is); give another file with "
                           "--store",
                           path);
    }
    if (big_endian(head + AT_APPLICATION) != BTZ_STORE_APPLICATION_ID) {
        return btz_err_set(err, BTZ_EINVAL,
                           "%s is a database of another program (and was left as it is); give "
                           "another file with --store",
                           path);
    }
    page = (uint64_t)head[AT_PAGE_SIZE] << 8 | head[AT_PAGE_SIZE + 1];
    page = page == 1 ? 65536 : page;
    if (big_endian(head + AT_CHANGES) == big_endian(head + AT_VALID_FOR) && !has_log(path) &&
        page * big_endian(head + AT_PAGES) > (uint64_t)size) {
        return btz_err_set(err, BTZ_ECORRUPT,
                           "the store %s is cut short: %lld bytes of %llu; get it back from a copy "
                           "(the file was left as it is)",
                           path, (long long)size,
                           (unsigned long long)(page * big_endian(head + AT_PAGES)));
    }
    return BTZ_OK;
}

/* Looks at the file without changing anything. */
static int look(const char *path, enum file_state *state, struct btz_err *err)
{
    unsigned char head[HEADER_SIZE];
    struct stat st;
    ssize_t len;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    int rc;

    if (fd < 0) {
        if (errno == ENOENT) {
            *state = FILE_ABSENT;
            return BTZ_OK;
        }
        return btz_err_set(err, BTZ_EIO, "the store %s cannot be opened: %s", path,
                           strerror(errno));
    }
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        rc = btz_err_set(err, BTZ_EIO,
                         "%s is a %s, expected a file; give a file's path with --store", path,
                         S_ISDIR(st.st_mode) ? "folder" : "special file");
        goto out;
    }
    if (st.st_size == 0) {
        *state = FILE_EMPTY;
        rc = BTZ_OK;
        goto out;
    }
    len = pread(fd, head, sizeof(head), 0);
    if (len < 0) {
        rc = btz_err_set(err, BTZ_EIO, "the store %s cannot be read: %s", path, strerror(errno));
        goto out;
    }
    rc = check_header(path, head, len, st.st_size, err);
    if (rc == BTZ_OK) {
        *state = FILE_STORE;
    }
out:
    close(fd);
    return rc;
}

static int make_folders(char *folder, struct btz_err *err)
{
    for (char *p = folder + 1;; p++) {
        char was = *p;

        if (was != '/' && was != '\0') {
            continue;
        }
        *p = '\0';
        if (mkdir(folder, 0700) != 0 && errno != EEXIST && access(folder, X_OK) != 0) {
            return btz_err_set(err, BTZ_EIO, "the folder %s cannot be made: %s", folder,
                               strerror(errno));
        }
        *p = was;
        if (was == '\0') {
            return BTZ_OK;
        }
    }
}

/* Absolute path without links, so that every name of one file means one lock. A file that does not
 * exist is looked up by its folder, which is made if `make`. */
static int resolve(const char *path, bool make, char **out, struct btz_err *err)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    char *folder = NULL;
    char *real = realpath(path, NULL);
    int rc = BTZ_OK;

    if (real) {
        *out = real;
        return BTZ_OK;
    }
    if (*name == '\0' || strlen(path) > 3000) {
        return btz_err_set(err, BTZ_EIO,
                           "\"%.80s\" is not the path of a file; give one with "
                           "--store",
                           path);
    }
    folder = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
    if (!folder) {
        btz_panic("out of memory");
    }
    if (make) {
        rc = make_folders(folder, err);
        if (rc != BTZ_OK) {
            goto out;
        }
    }
    real = realpath(folder, NULL);
    if (!real) {
        rc = btz_err_set(err, errno == ENOENT ? BTZ_ENOTFOUND : BTZ_EIO,
                         "the folder of the store %s cannot be opened: %s", path, strerror(errno));
        goto out;
    }
    if (asprintf(out, "%s/%s", strcmp(real, "/") == 0 ? "" : real, name) < 0) {
        btz_panic("out of memory");
    }
out:
    free(real);
    free(folder);
    return rc;
}

/* What every connection gets: no trust in what the file brings along, bounds on values. */
static int configure(sqlite3 *db)
{
    sqlite3_busy_timeout(db, 10000);
    sqlite3_extended_result_codes(db, 1);
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, BTZ_STORE_MAX_CONTENT + 65536);
    sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    return sqlite3_exec(db,
                        "PRAGMA cell_size_check = ON; PRAGMA temp_store = MEMORY;"
                        "PRAGMA cache_size = -16384",
                        NULL, NULL, NULL);
}

/* So that loss of power cannot take the new name away from under commits that came later. */
static int sync_folder(const char *path)
{
    char *folder = strndup(path, (size_t)(strrchr(path, '/') - path) + 1);
    int fd;
    int rc;

    if (!folder) {
        btz_panic("out of memory");
    }
    fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    rc = fd < 0 ? -1 : fsync(fd);
    if (fd >= 0) {
        close(fd);
    }
    free(folder);
    return rc;
}

/* The file appears under its name only when it is complete: kill -9 leaves at worst a stray
 * `.new` file, which the next attempt removes. The caller holds the lock. */
int btz_store_create(const char *path, struct btz_err *err)
{
    char mark[64];
    char *name = NULL;
    sqlite3 *db = NULL;
    int fd;
    int rc;

    if (asprintf(&name, "%s.new", path) < 0) {
        btz_panic("out of memory");
    }
    unlink(name);
    fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) {
        rc = btz_err_set(err, BTZ_EIO,
                         "the store %s cannot be made: %s; give a place that can be "
                         "written with --store",
                         path, strerror(errno));
        goto out;
    }
    close(fd);
    snprintf(mark, sizeof(mark), "PRAGMA application_id = %d", BTZ_STORE_APPLICATION_ID);
    if (sqlite3_open_v2(name, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) !=
            SQLITE_OK ||
        configure(db) != SQLITE_OK || sqlite3_exec(db, mark, NULL, NULL, NULL) != SQLITE_OK) {
        rc = btz_err_set(err, BTZ_EIO, "the store %s cannot be made: %s", path,
                         db ? sqlite3_errmsg(db) : "out of memory");
        goto out;
    }
    rc = btz_store_migrate(db, 0, err);
    if (rc != BTZ_OK) {
        goto out;
    }
    sqlite3_close(db);
    db = NULL;
    if (rename(name, path) != 0 || sync_folder(path) != 0) {
        rc = btz_err_set(err, BTZ_EIO, "the store %s cannot be made: %s", path, strerror(errno));
    }
out:
    sqlite3_close(db);
    if (rc != BTZ_OK && fd >= 0) {
        unlink(name);
    }
    free(name);
    return rc;
}

/* First column of the only row of constant SQL, as a number or compared with "wal". */
static int ask(struct btz_store *store, const char *sql, int64_t *number, bool *is_wal,
               struct btz_err *err)
{
    sqlite3_stmt *stmt = NULL;
    int rc = BTZ_OK;

    if (sqlite3_prepare_v2(store->db, sql, -1, &stmt, NULL) != SQLITE_OK ||
        sqlite3_step(stmt) != SQLITE_ROW) {
        rc = btz_store_sql_error(store, "the store cannot be opened", err);
        goto out;
    }
    if (number) {
        *number = sqlite3_column_int64(stmt, 0);
    }
    if (is_wal) {
        *is_wal = btz_str_is(btz_store_col_text(stmt, 0), "wal");
    }
out:
    sqlite3_finalize(stmt);
    return rc;
}

static int check_version(struct btz_store *store, struct btz_err *err)
{
    int64_t version = 0;
    int64_t tables = 0;
    int rc = ask(store, "PRAGMA user_version", &version, NULL, err);

    if (rc != BTZ_OK) {
        return rc;
    }
    if (version > btz_store_schema_version()) {
        return btz_err_set(err, BTZ_EUNSUPPORTED,
                           "the store %s has schema version %lld, this program knows up to %d: use "
                           "the newer bartizan that made it, or give another file with --store",
                           store->path, (long long)version, btz_store_schema_version());
    }
    if (version < 1) {
        return btz_err_set(err, BTZ_ECORRUPT, "the store %s has no schema version", store->path);
    }
    if (version < BTZ_STORE_OLDEST_READ && store->mode == BTZ_STORE_READ) {
        return btz_err_set(err, BTZ_EUNSUPPORTED,
                           "the store %s has schema version %lld, this program reads from %d on: "
                           "run a command that writes, such as `bartizan selftest`, to bring it "
                           "forward",
                           store->path, (long long)version, BTZ_STORE_OLDEST_READ);
    }
    if (store->mode == BTZ_STORE_WRITE) {
        rc = btz_store_migrate(store->db, (int)version, err);
    } else if (version < btz_store_schema_version()) {
        rc = btz_store_read_older(store->db, err);
    }
    if (rc != BTZ_OK) {
        return rc;
    }
    rc = ask(store,
             "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN ('blob', 'run',"
             " 'cell', 'trial', 'event', 'exchange', 'verdict', 'finding', 'certification',"
             " 'sieve_run', 'sieve_row', 'sieve_reply')",
             &tables, NULL, err);
    if (rc == BTZ_OK && tables != 12) {
        rc = btz_err_set(err, BTZ_ECORRUPT, "the store %s lacks tables (%lld of 12 are there)",
                         store->path, (long long)tables);
    }
    return rc;
}

static int set_writing(struct btz_store *store, struct btz_err *err)
{
    bool is_wal = false;
    int rc = ask(store, "PRAGMA journal_mode = WAL", NULL, &is_wal, err);

    if (rc != BTZ_OK) {
        return rc;
    }
    if (!is_wal) {
        return btz_err_set(err, BTZ_EIO,
                           "the file system of the store %s does not allow a write-ahead log; give "
                           "a place on a local file system with --store",
                           store->path);
    }
    return btz_store_exec(store,
                          "PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 2000;"
                          "PRAGMA journal_size_limit = 67108864",
                          err);
}

static int64_t new_session(void)
{
    int64_t parts[3] = {getpid(), btz_clock_wall_us(), btz_clock_mono_us()};
    struct btz_str bytes = {(const char *)parts, sizeof(parts)};

    return (int64_t)(btz_rng_key(&bytes, 1) >> 1) | 1;
}

static struct btz_store *new_store(enum btz_store_mode mode)
{
    struct btz_store *store = calloc(1, sizeof(*store));

    if (!store) {
        btz_panic("out of memory");
    }
    store->mode = mode;
    store->lock_fd = -1;
    store->session = new_session();
    store->group_trials = 256;
    store->group_age_us = 250 * 1000;
    store->arena = btz_arena_new();
    btz_buf_init(&store->bytes, (size_t)BTZ_STORE_MAX_CONTENT + 1024 * 1024);
    return store;
}

int btz_store_open(const char *path, enum btz_store_mode mode, struct btz_store **out,
                   struct btz_err *err)
{
    struct btz_store *store = new_store(mode);
    enum file_state state = FILE_ABSENT;
    int flags = SQLITE_OPEN_NOMUTEX;
    int rc = resolve(path, mode == BTZ_STORE_WRITE, &store->path, err);

    if (rc == BTZ_OK) {
        rc = look(store->path, &state, err);
    }
    if (rc == BTZ_OK && mode == BTZ_STORE_WRITE) {
        rc = btz_store_lock(store->path, store->session, &store->lock_fd, err);
        if (rc == BTZ_OK) {
            rc = look(store->path, &state, err); /* again: another one may just have made it */
        }
        if (rc == BTZ_OK && state != FILE_STORE) {
            rc = btz_store_create(store->path, err);
        }
    } else if (rc == BTZ_OK && state != FILE_STORE) {
        rc = btz_err_set(err, BTZ_ENOTFOUND,
                         "there is no store at %s yet; `bartizan run` makes it, or give another "
                         "file with --store",
                         path);
    }
    if (rc != BTZ_OK) {
        goto out;
    }
    flags |= mode == BTZ_STORE_WRITE ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY;
    if (sqlite3_open_v2(store->path, &store->db, flags, NULL) != SQLITE_OK ||
        configure(store->db) != SQLITE_OK) {
        rc = btz_store_sql_error(store, "the store cannot be opened", err);
        goto out;
    }
    rc = check_version(store, err);
    if (rc == BTZ_OK && mode == BTZ_STORE_WRITE) {
        rc = set_writing(store, err);
    }
out:
    if (rc == BTZ_OK) {
        *out = store;
    } else {
        btz_store_close(store);
    }
    return rc;
}

void btz_store_close(struct btz_store *store)
{
    if (!store) {
        return;
    }
    if (store->db && store->mode == BTZ_STORE_WRITE) {
        int rc = btz_store_commit(store, NULL);

        (void)rc; /* documented: flush first where it matters */
    }
    btz_store_finalize(store);
    if (sqlite3_close(store->db) != SQLITE_OK) {
        btz_panic("a store was closed while rows of it were open");
    }
    btz_store_unlock(store->lock_fd);
    ZSTD_freeCCtx(store->zip);
    ZSTD_freeDCtx(store->unzip);
    btz_buf_fini(&store->bytes);
    btz_arena_free(store->arena);
    free(store->known);
    free(store->known_turn);
    free(store->path);
    free(store);
}

const char *btz_store_path(const struct btz_store *store)
{
    return store->path;
}

int btz_store_default_path(char *out, size_t size, struct btz_err *err)
{
    const char *state = getenv("XDG_STATE_HOME");
    const char *home = getenv("HOME");
    int len;

    /* The base directory specification: a relative path there is to be ignored. */
    if (state && state[0] == '/') {
        len = snprintf(out, size, "%s/bartizan/store.db", state);
    } else if (home && home[0] == '/') {
        len = snprintf(out, size, "%s/.local/state/bartizan/store.db", home);
    } else {
        return btz_err_set(err, BTZ_EMISSING,
                           "neither XDG_STATE_HOME nor HOME names a folder: give the store's file "
                           "with --store");
    }
    if (len < 0 || (size_t)len >= size) {
        return btz_err_set(err, BTZ_ELIMIT, "the path of the default store is too long");
    }
    return BTZ_OK;
}
