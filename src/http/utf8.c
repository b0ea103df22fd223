#include "http/sse_int.h"

bool btz_http_utf8_step(struct btz_http_utf8 *state, unsigned char c)
{
    if (state->more) {
        if (c < state->low || c > state->high) {
            return false;
        }
        state->more--;
        state->low = 0x80;
        state->high = 0xbf;
        return true;
    }
    if (c < 0x80) {
        return true;
    }
    if (c < 0xc2 || c > 0xf4) {
        return false;
    }
    state->more = c < 0xe0 ? 1 : c < 0xf0 ? 2 : 3;
    state->low = c == 0xe0 ? 0xa0 : c == 0xf0 ? 0x90 : 0x80;
    state->high = c == 0xed ? 0x9f : c == 0xf4 ? 0x8f : 0xbf;
    return true;
}

bool btz_http_utf8_is(struct btz_str s)
{
    struct btz_http_utf8 state = {0};

    for (size_t i = 0; i < s.len; i++) {
        if (!btz_http_utf8_step(&state, (unsigned char)s.ptr[i])) {
            return false;
        }
    }
    return state.more == 0;
}
