/* Grammar and insides shared by the files of room http. */
#ifndef BTZ_HTTP_HTTP_INT_H
#define BTZ_HTTP_HTTP_INT_H

#include "http/http.h"

/* -- grammar.c: RFC 9110 and RFC 3986, byte for byte ------------------------------------------- */

/* `a` equals the NUL-terminated `text`, ASCII case ignored. */
bool btz_http_same_name(struct btz_str a, const char *text);
bool btz_http_is_token(struct btz_str s); /* RFC 9110 section 5.6.2; not empty */
/* A byte that may stand in a field value: HTAB, SP, VCHAR, obs-text (RFC 9110 section 5.5). */
bool btz_http_is_text_byte(unsigned char c);
bool btz_http_is_value(struct btz_str s);  /* a field value without white space at its ends */
bool btz_http_is_method(struct btz_str s); /* of RFC 9110 and RFC 5789, but CONNECT */
bool btz_http_is_target(struct btz_str s); /* origin-form, RFC 9112 section 3.2.1 */
/* Host: a name, an IPv4 address or an IPv6 address in brackets, and a port or none. */
bool btz_http_is_host(struct btz_str s);
struct btz_str btz_http_trim(struct btz_str s); /* without SP and HTAB at its ends */
/* The list of tokens of a Connection field: false if it is none. `close` and `upgrade` become true
 * where the list names them and stay as they are otherwise. */
bool btz_http_read_connection(struct btz_str value, bool *close, bool *upgrade);
/* A response of this status never has a body (RFC 9112 section 6.3). */
bool btz_http_is_bodiless(int status);

/* -- the parser -------------------------------------------------------------------------------- */

enum parser_state {
    STATE_START,      /* in the start line */
    STATE_FIELDS,     /* in the field lines */
    STATE_LENGTH,     /* in a body of `left` more bytes */
    STATE_UNTIL_EOF,  /* in a body that ends with the connection */
    STATE_CHUNK_SIZE, /* in the digits of a chunk's size */
    STATE_CHUNK_SIZE_LF,
    STATE_CHUNK_DATA,
    STATE_CHUNK_CR, /* behind the data of a chunk */
    STATE_CHUNK_LF,
    STATE_LAST_CR, /* behind the line of the last chunk */
    STATE_LAST_LF,
    STATE_END,    /* END is due */
    STATE_CLOSED, /* no message may follow */
    STATE_FAILED,
};

/* A field line as offsets, since the text may still move. */
struct field_span {
    size_t name, name_len, value, value_len;
};

struct btz_http_parser {
    enum btz_http_side side;
    struct btz_http_limits limits;
    enum parser_state state;
    bool expect_head;    /* see btz_http_parser_expect_head */
    bool old_version;    /* a response of HTTP/1.0 */
    bool after_cr;       /* the last byte of the head was CR */
    bool has_head;       /* `head` is valid */
    bool ended;          /* END was given: the next call begins anew */
    struct btz_buf text; /* the lines of the head without their ends */
    size_t line;         /* where the current one begins */
    size_t head_bytes;   /* of the head so far, as received */
    struct btz_http_head head;
    struct btz_http_field *fields;
    struct field_span *spans;
    size_t span_count, span_cap;
    uint64_t left;   /* of the body or chunk */
    uint64_t body;   /* decoded so far; with chunks, counted when their size is known */
    unsigned digits; /* of the chunk size */
    int status;      /* why it failed, for the peer */
    struct btz_err err;
};

/* Makes the parser fail for good; returns `code`. */
int btz_http_refuse(struct btz_http_parser *parser, int code, int status, const char *fmt, ...)
    BTZ_PRINTF(4, 5);

/* head.c: one whole line of the head (not the empty one), and its end. The latter fills `head` and
 * sets the state for what follows. */
int btz_http_read_line(struct btz_http_parser *parser, struct btz_str line);
int btz_http_finish_head(struct btz_http_parser *parser);

/* body.c: bytes of the body, from any of its states. */
int btz_http_read_body(struct btz_http_parser *parser, struct btz_str *input,
                       enum btz_http_event *event, struct btz_str *body);

#endif
