/* The stdio transport. */
#include "arena/lines.h"

#include <errno.h>
#include <unistd.h>

#include "lab/serve.h"
#include "mcp/frame.h"

struct serving {
    struct btz_play *play;
    struct btz_mcp_server *machine;
    struct btz_mcp_frame frame;
    int in, out;
};

static int write_all(int file, struct btz_str bytes, struct btz_err *err)
{
    while (bytes.len) {
        ssize_t put = write(file, bytes.ptr, bytes.len);

        if (put < 0 && errno != EINTR) {
            return btz_err_set(err, BTZ_EIO, "standard output cannot be written: %s",
                               strerror(errno));
        }
        if (put > 0) {
            bytes = btz_str_sub(bytes, (size_t)put, bytes.len);
        }
    }
    return BTZ_OK;
}

/* What changed by a call is announced behind its answer. */
static void announce(struct serving *s)
{
    const struct btz_stage_server *server = btz_stage_server_at(btz_play_stage(s->play), 0);
    bool changed = btz_play_take_new_world(s->play, 0);

    for (size_t i = 0; changed && i < btz_json_count(server->resources); i++) {
        (void)!btz_mcp_server_resource_updated(
            s->machine, btz_json_str(btz_json_getz(btz_json_at(server->resources, i), "uri")));
    }
}

static int take_lines(struct serving *s, struct btz_err *err)
{
    struct btz_mcp_server_event event;
    struct btz_str line;
    int rc;

    while ((rc = btz_mcp_frame_next(&s->frame, &line)) == BTZ_OK) {
        if ((rc = btz_mcp_server_feed(s->machine, line)) != BTZ_OK) {
            return btz_err_set(err, rc, "the server machine stopped");
        }
        while (btz_mcp_server_next_event(s->machine, &event)) {
            btz_play_serve(s->play, 0, s->machine, &event);
            announce(s);
        }
        while (btz_mcp_server_next_out(s->machine, &line)) {
            if ((rc = write_all(s->out, line, err)) != BTZ_OK ||
                (rc = write_all(s->out, BTZ_STR("\n"), err)) != BTZ_OK) {
                return rc;
            }
        }
    }
    return rc == BTZ_EAGAIN ? BTZ_OK : btz_err_set(err, rc, "a line of over 10 MiB came in");
}

static int serve(struct serving *s, struct btz_err *err)
{
    char chunk[65536];
    ssize_t got;

    while ((got = read(s->in, chunk, sizeof(chunk))) != 0) {
        int rc;

        if (got < 0) {
            if (errno == EINTR) {
                continue;
            }
            return btz_err_set(err, BTZ_EIO, "standard input cannot be read: %s", strerror(errno));
        }
        rc = btz_mcp_frame_feed(&s->frame, (struct btz_str){chunk, (size_t)got});
        if (rc == BTZ_OK) {
            rc = take_lines(s, err);
        } else {
            rc = btz_err_set(err, rc, "a line of over 10 MiB came in");
        }
        if (rc != BTZ_OK) {
            return rc;
        }
    }
    /* The last message may end without a newline. One that was cut short is no JSON, and is
     * answered as such. */
    if (btz_mcp_frame_pending(&s->frame)) {
        int rc = btz_mcp_frame_feed(&s->frame, BTZ_STR("\n"));

        return rc == BTZ_OK ? take_lines(s, err)
                            : btz_err_set(err, rc, "a line of over 10 MiB came in");
    }
    return BTZ_OK;
}

int btz_play_serve_lines(struct btz_play *play, int in, int out, size_t page_size,
                         struct btz_err *err)
{
    struct serving s = {.play = play, .in = in, .out = out};
    struct btz_mcp_server_options options = btz_play_server_options(play, 0, page_size);
    struct btz_arena *arena = btz_arena_new();
    struct btz_mcp_catalogue catalogue =
        btz_stage_catalogue(arena, btz_stage_server_at(btz_play_stage(play), 0));
    int rc;

    btz_mcp_frame_init(&s.frame, 0);
    rc = btz_mcp_server_new(&options, &catalogue, &s.machine, err);
    if (rc == BTZ_OK) {
        rc = serve(&s, err);
    }
    btz_mcp_server_free(s.machine);
    btz_mcp_frame_fini(&s.frame);
    btz_arena_free(arena);
    return rc;
}
