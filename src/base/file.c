#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/str.h"

enum { CHUNK = 64 * 1024 };

int btz_file_open(const char *path, int *fd, struct btz_err *err)
{
    /* Without O_NONBLOCK a named pipe would keep the program waiting for ever. */
    int got = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat about;
    int rc = BTZ_OK;

    if (got < 0 || fstat(got, &about) != 0) {
        rc = btz_err_set(err, errno == ENOENT || errno == ENOTDIR ? BTZ_ENOTFOUND : BTZ_EIO,
                         "the file cannot be opened: %s", strerror(errno));
    } else if (!S_ISREG(about.st_mode)) {
        rc = btz_err_set(err, BTZ_EINVAL, "the file cannot be opened: a %s is not a regular file",
                         S_ISDIR(about.st_mode) ? "folder" : "pipe or device");
    }
    if (rc != BTZ_OK) {
        btz_err_at(err, path, 0, 0);
        if (got >= 0) {
            (void)close(got);
        }
        return rc;
    }
    *fd = got;
    return BTZ_OK;
}

/* The size that the file tells is not believed: it may grow, or be none at all, as under /proc. */
static int read_all(int fd, struct btz_buf *buf, size_t max, struct btz_err *err)
{
    for (;;) {
        char *room = btz_buf_room(buf, CHUNK);
        ssize_t got = read(fd, room, CHUNK);

        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return btz_err_set(err, BTZ_EIO, "reading failed: %s", strerror(errno));
        }
        if (got == 0) {
            return BTZ_OK;
        }
        btz_buf_grow_by(buf, (size_t)got);
        if (buf->len > max) {
            return btz_err_set(err, BTZ_ELIMIT, "it is longer than %zu bytes", max);
        }
    }
}

int btz_file_read(struct btz_arena *arena, const char *path, size_t max, struct btz_str *out,
                  struct btz_err *err)
{
    struct btz_buf buf;
    int fd = -1;
    int rc = btz_file_open(path, &fd, err);

    if (rc != BTZ_OK) {
        return rc;
    }
    btz_buf_init(&buf, max + 2 * (size_t)CHUNK);
    rc = read_all(fd, &buf, max, err);
    (void)close(fd);
    if (rc == BTZ_OK) {
        *out = btz_arena_dup(arena, btz_buf_view(&buf));
    } else {
        btz_err_at(err, path, 0, 0);
    }
    btz_buf_fini(&buf);
    return rc;
}

static int cannot(const char *path, const char *what, struct btz_err *err)
{
    int code = errno == EEXIST ? BTZ_EEXISTS : BTZ_EIO;

    (void)btz_err_set(err, code, "the file cannot be %s: %s", what, strerror(errno));
    btz_err_at(err, path, 0, 0);
    return code;
}

int btz_file_new(const char *path, FILE **out, struct btz_err *err)
{
    const char *slash = strrchr(path, '/');
    char folder[PATH_MAX] = ".";
    struct stat about;
    int fd;

    if (lstat(path, &about) == 0) {
        errno = EEXIST;
        return cannot(path, "made", err);
    }
    if (slash && snprintf(folder, sizeof(folder), "%.*s", (int)(slash - path + 1), path) >=
                     (int)sizeof(folder)) {
        errno = ENAMETOOLONG;
        return cannot(path, "made", err);
    }
    fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0644);
    if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)) {
        fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    }
    if (fd < 0) {
        return cannot(path, "made", err);
    }
    *out = fdopen(fd, "wb");
    if (!*out) {
        btz_panic("out of memory");
    }
    return BTZ_OK;
}

int btz_file_publish(FILE *file, const char *path, bool keep, struct btz_err *err)
{
    struct stat about = {0};
    int rc = BTZ_OK;

    if (keep && (fflush(file) != 0 || ferror(file))) {
        rc = cannot(path, "written", err);
    }
    if (fstat(fileno(file), &about) == 0 && about.st_nlink == 0) {
        char name[64];

        (void)snprintf(name, sizeof(name), "/proc/self/fd/%d", fileno(file));
        if (keep && rc == BTZ_OK &&
            linkat(AT_FDCWD, name, AT_FDCWD, path, AT_SYMLINK_FOLLOW) != 0) {
            rc = cannot(path, "made", err);
        }
    } else if (!keep || rc != BTZ_OK) {
        (void)unlink(path);
    }
    if (fclose(file) != 0 && keep && rc == BTZ_OK) {
        rc = cannot(path, "written", err);
        (void)unlink(path);
    }
    return rc;
}
