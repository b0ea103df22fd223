/* How the bytes of an HTTP link get from one end to the other. Both ends are ours, so that the pump
 * knows how many bytes have to arrive and waits for exactly those: what the ends see, and in which
 * order, is the same with and without sockets. */
#include "wire/http_link_int.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CHUNK = 64 * 1024, PATIENCE_MS = 10000 };

static int fault(struct btz_err *err, const char *what)
{
    return btz_err_set(err, BTZ_EIO, "HTTP carrier on 127.0.0.1: %s: %s", what, strerror(errno));
}

static struct sockaddr_in loopback(uint16_t port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

int btz_http_pump_open(struct btz_http_link *link, struct btz_err *err)
{
    struct sockaddr_in address = loopback(0);
    socklen_t len = sizeof(address);

    link->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (link->listener < 0 ||
        bind(link->listener, (struct sockaddr *)&address, sizeof(address)) != 0 ||
        listen(link->listener, 16) != 0 ||
        getsockname(link->listener, (struct sockaddr *)&address, &len) != 0) {
        return fault(err, "no listening socket");
    }
    link->port = ntohs(address.sin_port);
    return BTZ_OK;
}

static int wait_for(int fd, short what)
{
    struct pollfd item = {.fd = fd, .events = what};
    int rc;

    do {
        rc = poll(&item, 1, PATIENCE_MS);
    } while (rc < 0 && errno == EINTR);
    if (rc == 0) {
        errno = ETIMEDOUT;
    }
    return rc > 0 ? BTZ_OK : BTZ_EIO;
}

/* Anybody on this machine can connect to the port: only our own connection is taken. */
static int accept_own(struct btz_http_link *link, uint16_t port)
{
    for (int tries = 0; tries < 100; tries++) {
        struct sockaddr_in peer = {0};
        socklen_t len = sizeof(peer);
        int fd =
            accept4(link->listener, (struct sockaddr *)&peer, &len, SOCK_CLOEXEC | SOCK_NONBLOCK);

        if (fd >= 0 && peer.sin_addr.s_addr == htonl(INADDR_LOOPBACK) &&
            ntohs(peer.sin_port) == port) {
            return fd;
        }
        if (fd >= 0) {
            (void)close(fd);
        } else if (errno == EAGAIN && wait_for(link->listener, POLLIN) != BTZ_OK) {
            return -1;
        } else if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) {
            return -1;
        }
    }
    return -1;
}

int btz_http_pump_connect(struct btz_http_link *link, struct connection *connection,
                          struct btz_err *err)
{
    struct sockaddr_in address = loopback(link->port);
    socklen_t len = sizeof(address);
    int *fds = connection->fds;
    int one = 1;

    if (link->listener < 0) {
        return BTZ_OK;
    }
    fds[END_CLIENT] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fds[END_CLIENT] < 0) {
        return fault(err, "no socket");
    }
    if (connect(fds[END_CLIENT], (struct sockaddr *)&address, sizeof(address)) != 0 &&
        errno != EINPROGRESS) {
        return fault(err, "cannot connect");
    }
    if (getsockname(fds[END_CLIENT], (struct sockaddr *)&address, &len) != 0) {
        return fault(err, "no local address");
    }
    fds[END_SERVER] = accept_own(link, ntohs(address.sin_port));
    if (fds[END_SERVER] < 0 || wait_for(fds[END_CLIENT], POLLOUT) != BTZ_OK) {
        return fault(err, "the connection was not accepted");
    }
    (void)setsockopt(fds[END_CLIENT], IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    (void)setsockopt(fds[END_SERVER], IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    return BTZ_OK;
}

static void record(struct btz_http_link *link, const struct connection *connection, enum end end,
                   struct btz_str bytes, bool closed)
{
    char sign = end == END_SERVER ? '>' : '<'; /* `end` is where it arrives */

    if (!link->options.keep_transcript || connection->own) {
        return;
    }
    if (closed) {
        btz_buf_printf(&link->transcript, "%c %llu close\n", sign,
                       (unsigned long long)connection->number);
    } else {
        btz_buf_printf(&link->transcript, "%c %llu %zu\n", sign,
                       (unsigned long long)connection->number, bytes.len);
        btz_buf_add_str(&link->transcript, bytes);
        btz_buf_add_byte(&link->transcript, '\n');
    }
}

/* Sends and receives in turn until everything that was sent has arrived. */
static int move_by_socket(struct btz_http_link *link, struct connection *connection, enum end end,
                          struct btz_err *err)
{
    struct btz_buf *lane = &connection->lanes[end];
    int from = connection->fds[end == END_SERVER ? END_CLIENT : END_SERVER];
    int to = connection->fds[end];
    size_t sent = 0;

    btz_buf_reset(&link->arrived);
    while (link->arrived.len < lane->len) {
        size_t left = lane->len - sent;
        ssize_t put = left ? send(from, lane->ptr + sent, left, MSG_NOSIGNAL) : 0;
        char *room = btz_buf_room(&link->arrived, CHUNK);
        ssize_t got;

        if (put < 0 && errno != EAGAIN && errno != EINTR) {
            return fault(err, "sending failed");
        }
        sent += put > 0 ? (size_t)put : 0;
        if (!room) {
            return btz_err_set(err, BTZ_ELIMIT, "the HTTP carrier holds too many bytes");
        }
        got = recv(to, room, CHUNK, 0);
        if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) {
            return fault(err, "receiving failed");
        }
        if (got > 0) {
            btz_buf_grow_by(&link->arrived, (size_t)got);
        } else if (put <= 0 && wait_for(to, POLLIN) != BTZ_OK) {
            return fault(err, "bytes that were sent did not arrive");
        }
    }
    return BTZ_OK;
}

int btz_http_pump_move(struct btz_http_link *link, struct connection *connection, enum end end,
                       struct btz_str *arrived, struct btz_err *err)
{
    struct btz_buf *lane = &connection->lanes[end];
    int rc;

    if (connection->fds[end] < 0) {
        btz_buf_reset(&link->arrived);
        if (btz_buf_add_str(&link->arrived, btz_buf_view(lane)) != BTZ_OK) {
            return btz_err_set(err, BTZ_ELIMIT, "the HTTP carrier holds too many bytes");
        }
    } else if ((rc = move_by_socket(link, connection, end, err)) != BTZ_OK) {
        return rc;
    }
    btz_buf_reset(lane);
    *arrived = btz_buf_view(&link->arrived);
    record(link, connection, end, *arrived, false);
    return BTZ_OK;
}

int btz_http_pump_close(struct btz_http_link *link, struct connection *connection, enum end end,
                        struct btz_err *err)
{
    enum end other = end == END_SERVER ? END_CLIENT : END_SERVER;
    char scrap[4096];
    ssize_t got = 1;

    record(link, connection, other, BTZ_STR_NONE, true);
    if (connection->fds[end] < 0) {
        return BTZ_OK;
    }
    (void)close(connection->fds[end]);
    connection->fds[end] = -1;
    while (got != 0) {
        got = recv(connection->fds[other], scrap, sizeof(scrap), 0);
        if (got < 0 && errno == ECONNRESET) {
            break;
        }
        if (got < 0 && ((errno != EAGAIN && errno != EINTR) ||
                        (errno == EAGAIN && wait_for(connection->fds[other], POLLIN) != BTZ_OK))) {
            return fault(err, "the end of a connection did not arrive");
        }
    }
    return BTZ_OK;
}

void btz_http_pump_fini(struct connection *connection)
{
    for (int end = 0; end < 2; end++) {
        if (connection->fds[end] >= 0) {
            (void)close(connection->fds[end]);
        }
        connection->fds[end] = -1;
    }
}
