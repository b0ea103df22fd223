/* Lines of a JSONL file, from a file or from memory. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "sieve/sieve_int.h"

enum { CHUNK = 256 * 1024 };

struct btz_sieve_reader {
    char *name;
    int fd;              /* -1: from memory */
    struct btz_str rest; /* of memory */
    struct btz_buf buf;  /* bytes read; those before `at` were given out */
    size_t at;
    bool ended;
    unsigned line;
};

static struct btz_sieve_reader *reader_new(const char *name)
{
    struct btz_sieve_reader *reader = calloc(1, sizeof(*reader));

    if (!reader || !(reader->name = strdup(name))) {
        btz_panic("out of memory");
    }
    reader->fd = -1;
    btz_buf_init(&reader->buf, BTZ_SIEVE_LINE_MAX + 2 * (size_t)CHUNK);
    return reader;
}

int btz_sieve_reader_open(const char *path, struct btz_sieve_reader **out, struct btz_err *err)
{
    int fd;
    int rc = btz_sieve_frozen_check(path, err);

    if (rc == BTZ_OK) {
        rc = btz_file_open(path, &fd, err);
    }
    if (rc == BTZ_OK) {
        *out = reader_new(path);
        (*out)->fd = fd;
    }
    return rc;
}

struct btz_sieve_reader *btz_sieve_reader_of(struct btz_str text, const char *name)
{
    struct btz_sieve_reader *reader = reader_new(name);

    reader->rest = text;
    return reader;
}

void btz_sieve_reader_free(struct btz_sieve_reader *reader)
{
    if (reader) {
        if (reader->fd >= 0) {
            (void)close(reader->fd);
        }
        btz_buf_fini(&reader->buf);
        free(reader->name);
        free(reader);
    }
}

const char *btz_sieve_reader_name(const struct btz_sieve_reader *reader)
{
    return reader->name;
}

/* More bytes of the file into the buffer. */
static int fill(struct btz_sieve_reader *reader, struct btz_err *err)
{
    char *room;
    ssize_t got;

    btz_buf_consume(&reader->buf, reader->at);
    reader->at = 0;
    room = btz_buf_room(&reader->buf, CHUNK);
    if (!room) {
        return btz_err_set(err, BTZ_ELIMIT, "a line has at most %d bytes", BTZ_SIEVE_LINE_MAX);
    }
    do {
        got = read(reader->fd, room, CHUNK);
    } while (got < 0 && errno == EINTR);
    if (got < 0) {
        return btz_err_set(err, BTZ_EIO, "reading failed: %s", strerror(errno));
    }
    btz_buf_grow_by(&reader->buf, (size_t)got);
    reader->ended = got == 0;
    return BTZ_OK;
}

/* The next line as bytes. BTZ_EAGAIN at the end. */
static int take_line(struct btz_sieve_reader *reader, struct btz_str *out, struct btz_err *err)
{
    size_t scanned = 0;

    if (reader->fd < 0) {
        return btz_str_cut(&reader->rest, '\n', out) ? BTZ_OK : BTZ_EAGAIN;
    }
    for (;;) {
        struct btz_str have = btz_str_sub(btz_buf_view(&reader->buf), reader->at, SIZE_MAX);
        const char *end =
            have.len > scanned ? memchr(have.ptr + scanned, '\n', have.len - scanned) : NULL;
        int rc;

        if (end || (reader->ended && have.len)) {
            out->ptr = have.ptr;
            out->len = end ? (size_t)(end - have.ptr) : have.len;
            reader->at += out->len + (end != NULL);
            return BTZ_OK;
        }
        if (reader->ended) {
            return BTZ_EAGAIN;
        }
        if (have.len > BTZ_SIEVE_LINE_MAX) {
            return btz_err_set(err, BTZ_ELIMIT, "a line has at most %d bytes", BTZ_SIEVE_LINE_MAX);
        }
        scanned = have.len;
        rc = fill(reader, err);
        if (rc != BTZ_OK) {
            return rc;
        }
    }
}

int btz_sieve_reader_next(struct btz_sieve_reader *reader, struct btz_arena *arena,
                          struct btz_sieve_line *line, struct btz_err *err)
{
    static const struct btz_json_limits limits = {.max_bytes = BTZ_SIEVE_LINE_MAX,
                                                  .max_depth = BTZ_SIEVE_DEPTH_MAX};
    const struct btz_json *value = NULL;
    struct btz_str text;
    unsigned column;
    int rc;

    do {
        reader->line++;
        rc = take_line(reader, &text, err);
        if (rc == BTZ_EAGAIN) {
            return rc;
        }
    } while (rc == BTZ_OK && text.len == 0);
    if (rc == BTZ_OK && text.len > BTZ_SIEVE_LINE_MAX) {
        rc = btz_err_set(err, BTZ_ELIMIT, "a line has at most %d bytes", BTZ_SIEVE_LINE_MAX);
    }
    if (rc == BTZ_OK) {
        rc = btz_json_parse(arena, text, &limits, &value, err);
    }
    if (rc == BTZ_OK && !btz_json_is(value, BTZ_JSON_OBJECT)) {
        rc = btz_err_set(err, BTZ_EINVAL, "every line is one JSON object");
    }
    if (rc != BTZ_OK) {
        column = err ? err->column : 0;
        btz_err_at(err, reader->name, reader->line, column);
        return rc;
    }
    *line = (struct btz_sieve_line){reader->line, text, value};
    return BTZ_OK;
}
