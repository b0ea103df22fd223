/* What our parser makes of the bytes of a connection, for comparison with another one. The input is
 * cases, each a line "KIND LENGTH" and that many bytes; KIND is Q (requests), R (responses) or H (a
 * response to HEAD). The answer is a line of JSON for each: the messages that were whole, and
 * whether everything was taken. All bytes are shown in hex. */
#include <stdio.h>
#include <stdlib.h>

#include "http/http.h"

#define MAX_CASE ((size_t)64 * 1024 * 1024)

static void print_hex(const char *key, struct btz_str s)
{
    printf("\"%s\":\"", key);
    for (size_t i = 0; i < s.len; i++) {
        printf("%02x", (unsigned char)s.ptr[i]);
    }
    printf("\"");
}

static void print_message(const struct btz_http_head *head, struct btz_str body, bool first)
{
    printf("%s{\"status\":%d,", first ? "" : ",", head->status);
    print_hex("method", head->method);
    printf(",");
    print_hex("target", head->target);
    printf(",");
    print_hex("reason", head->reason);
    printf(",\"close\":%s,\"fields\":[", head->close ? "true" : "false");
    for (size_t i = 0; i < head->field_count; i++) {
        printf("%s{", i ? "," : "");
        print_hex("name", head->fields[i].name);
        printf(",");
        print_hex("value", head->fields[i].value);
        printf("}");
    }
    printf("],");
    print_hex("body", body);
    printf("}");
}

static void answer(char kind, struct btz_str input)
{
    struct btz_http_parser *parser =
        btz_http_parser_new(kind == 'Q' ? BTZ_HTTP_REQUESTS : BTZ_HTTP_RESPONSES, NULL);
    enum btz_http_event event = BTZ_HTTP_HEAD;
    struct btz_buf body;
    struct btz_str run;
    struct btz_err err = {0};
    bool first = true;
    bool ended = false;
    int rc = BTZ_OK;

    btz_buf_init(&body, MAX_CASE);
    if (kind == 'H') {
        btz_http_parser_expect_head(parser);
    }
    printf("{\"messages\":[");
    while (rc == BTZ_OK && event != BTZ_HTTP_MORE) {
        rc = btz_http_parser_next(parser, &input, &event, &run, &err);
        if (rc == BTZ_OK && event == BTZ_HTTP_HEAD) {
            btz_buf_reset(&body);
        } else if (rc == BTZ_OK && event == BTZ_HTTP_BODY) {
            btz_buf_add_str(&body, run);
        } else if (rc == BTZ_OK && event == BTZ_HTTP_END) {
            print_message(btz_http_parser_head(parser), btz_buf_view(&body), first);
            first = false;
        }
    }
    if (rc == BTZ_OK) {
        rc = btz_http_parser_eof(parser, &ended, &err);
    }
    if (rc == BTZ_OK && ended) {
        print_message(btz_http_parser_head(parser), btz_buf_view(&body), first);
    }
    printf("],\"ok\":%s,", rc == BTZ_OK ? "true" : "false");
    print_hex("why", btz_str_of(rc == BTZ_OK ? "" : err.msg));
    printf("}\n");
    btz_buf_fini(&body);
    btz_http_parser_free(parser);
}

int main(void)
{
    size_t len;
    char kind;

    while (scanf("%c %zu", &kind, &len) == 2 && getchar() == '\n' && len <= MAX_CASE) {
        char *bytes = malloc(len + 1);

        if (!bytes || fread(bytes, 1, len, stdin) != len) {
            fprintf(stderr, "a case is shorter than its length\n");
            free(bytes);
            return 2;
        }
        answer(kind, (struct btz_str){bytes, len});
        free(bytes);
    }
    if (!feof(stdin)) {
        fprintf(stderr, "expected \"KIND LENGTH\" and a line end\n");
        return 2;
    }
    return 0;
}
