/* A listener on a loop and raw sockets that talk to it, for the tests of the HTTP listener. */
#ifndef BTZ_TESTS_NET_LISTENER_H
#define BTZ_TESTS_NET_LISTENER_H

#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "net/http_server.h"

#define MS INT64_C(1000)
#define GET "GET /a HTTP/1.1\r\nHost: localhost\r\n\r\n"
#define POST "POST /b HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello"
#define CHUNKED                                                                                    \
    "POST /c HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"                    \
    "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"
#define OK_RESPONSE "HTTP/1.1 200 OK\r\nX-A: 1\r\nContent-Length: 2\r\n\r\nok"

extern struct btz_net_loop *loop;
extern struct btz_net_http_server *server;
extern bool was_reset;
extern const struct btz_http_field field;

void start(struct btz_net_http_server_options options);
int stop(void **state);
int dial(void);
void say(int fd, const char *text, size_t len);
void work(int ms);
bool wait_event(struct btz_net_http_server_event *event);
struct btz_net_http_server_event request(const char *method, const char *target, const char *body);
void no_event(void);
void ok(uint64_t exchange);
const char *hear(int fd, size_t len, bool *closed);
void expect(int fd, const char *want);
void expect_refusal(int fd, int status);
void expect_closed(int fd);

#define SAY(fd, text) say(fd, text, strlen(text))

#endif
