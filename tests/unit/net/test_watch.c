#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "net/watch.h"

enum { LONG_US = 10000000, SHORT_US = 30000 };

struct room {
    struct btz_net_loop *loop;
    int fds[2];
};

static struct room open_room(void)
{
    struct room room = {0};

    assert_int_equal(btz_net_loop_new(&room.loop, NULL), BTZ_OK);
    assert_int_equal(pipe(room.fds), 0);
    return room;
}

static void close_room(struct room *room)
{
    close(room->fds[0]);
    close(room->fds[1]);
    btz_net_loop_free(room->loop);
}

/* Whether a wait comes back long before its end. */
static bool wakes(struct room *room, int64_t timeout_us)
{
    int64_t begun = btz_net_loop_now(room->loop);

    btz_net_loop_wait(room->loop, timeout_us);
    return btz_net_loop_now(room->loop) - begun < timeout_us / 2;
}

static void bytes_and_ends_wake(void **state)
{
    struct room room = open_room();
    struct btz_net_watch *watch = NULL;
    char byte;

    (void)state;
    assert_int_equal(btz_net_watch_new(room.loop, room.fds[0], &watch, NULL), BTZ_OK);
    assert_int_equal(write(room.fds[1], "x", 1), 1);
    assert_false(wakes(&room, SHORT_US)); /* nobody asked */
    btz_net_watch_set(watch, true, false);
    assert_true(wakes(&room, LONG_US));
    assert_true(wakes(&room, LONG_US)); /* it is there still */
    assert_int_equal(read(room.fds[0], &byte, 1), 1);
    assert_false(wakes(&room, SHORT_US));
    assert_int_equal(write(room.fds[1], "x", 1), 1);
    btz_net_watch_set(watch, false, false);
    assert_false(wakes(&room, SHORT_US));
    assert_int_equal(read(room.fds[0], &byte, 1), 1);
    btz_net_watch_set(watch, true, false);
    close(room.fds[1]);
    assert_true(wakes(&room, LONG_US));
    btz_net_watch_free(watch);
    btz_net_loop_wait(room.loop, 0); /* its own end wakes, too */
    assert_false(wakes(&room, SHORT_US));
    room.fds[1] = dup(room.fds[0]);
    close_room(&room);
}

static void room_to_write_wakes(void **state)
{
    struct room room = open_room();
    struct btz_net_watch *watch = NULL;
    static char much[1 << 20];

    (void)state;
    assert_int_equal(btz_net_watch_new(room.loop, room.fds[1], &watch, NULL), BTZ_OK);
    assert_true(fcntl(room.fds[1], F_GETFL) & O_NONBLOCK);
    btz_net_watch_set(watch, false, true);
    assert_true(wakes(&room, LONG_US));
    while (write(room.fds[1], much, sizeof(much)) > 0) {
    }
    assert_false(wakes(&room, SHORT_US));
    assert_true(read(room.fds[0], much, sizeof(much)) > 0);
    assert_true(wakes(&room, LONG_US));
    btz_net_watch_free(watch);
    btz_net_watch_free(NULL);
    close_room(&room);
}

/* The number of a closed file may be given out again: the old watch must not answer for it. */
static void a_number_is_used_again(void **state)
{
    struct room room = open_room();
    struct btz_net_watch *watch = NULL;
    struct btz_net_watch *next = NULL;
    int other[2];

    (void)state;
    assert_int_equal(btz_net_watch_new(room.loop, room.fds[0], &watch, NULL), BTZ_OK);
    btz_net_watch_set(watch, true, false);
    btz_net_watch_free(watch);
    close(room.fds[0]);
    assert_int_equal(pipe(other), 0);
    assert_int_equal(other[0], room.fds[0]);
    assert_int_equal(btz_net_watch_new(room.loop, other[0], &next, NULL), BTZ_OK);
    btz_net_watch_set(next, true, false);
    btz_net_loop_wait(room.loop, 0);
    assert_false(wakes(&room, SHORT_US));
    assert_int_equal(write(other[1], "x", 1), 1);
    assert_true(wakes(&room, LONG_US));
    btz_net_watch_free(next);
    close(other[1]);
    close_room(&room);
}

static void a_plain_file_is_refused(void **state)
{
    struct room room = open_room();
    struct btz_net_watch *watch = NULL;
    struct btz_err err;
    int file = open(BTZ_SOURCE_DIR "/meson.build", O_RDONLY);

    (void)state;
    assert_true(file >= 0);
    assert_int_equal(btz_net_watch_new(room.loop, file, &watch, &err), BTZ_EIO);
    assert_null(watch);
    close(file);
    close_room(&room);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_and_ends_wake),
        cmocka_unit_test(room_to_write_wakes),
        cmocka_unit_test(a_number_is_used_again),
        cmocka_unit_test(a_plain_file_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
