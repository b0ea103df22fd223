/* UTF-8: what is well-formed is Table 3-7 of the Unicode Standard, version 15. */
#include "json/json_int.h"

static inline bool in(const char *p, unsigned low, unsigned high)
{
    unsigned char c = (unsigned char)*p;

    return c >= low && c <= high;
}

size_t btz_json_utf8_len(const char *p, size_t len, size_t *bad)
{
    unsigned lead = len ? (unsigned char)*p : 0xff;
    unsigned low = 0x80;
    unsigned high = 0xbf;
    size_t want;
    size_t have = 1;

    if (lead < 0x80) {
        return 1;
    }
    if (lead >= 0xc2 && lead <= 0xdf) {
        want = 2;
    } else if (lead >= 0xe0 && lead <= 0xef) {
        want = 3;
        low = lead == 0xe0 ? 0xa0 : 0x80;
        high = lead == 0xed ? 0x9f : 0xbf;
    } else if (lead >= 0xf0 && lead <= 0xf4) {
        want = 4;
        low = lead == 0xf0 ? 0x90 : 0x80;
        high = lead == 0xf4 ? 0x8f : 0xbf;
    } else {
        want = 0;
    }
    if (want && len > 1 && in(p + 1, low, high)) {
        have = 2;
        while (have < want && have < len && in(p + have, 0x80, 0xbf)) {
            have++;
        }
    }
    if (have == want) {
        return want;
    }
    if (bad) {
        *bad = have;
    }
    return 0;
}

const char *btz_json_utf8_reason(const char *p, size_t len)
{
    unsigned lead = (unsigned char)*p;
    unsigned next = len > 1 ? (unsigned char)p[1] : 0;

    if (lead < 0xc0) {
        return "a continuation byte without a lead byte";
    }
    if (lead < 0xc2 || (lead == 0xe0 && next >= 0x80 && next < 0xa0) ||
        (lead == 0xf0 && next >= 0x80 && next < 0x90)) {
        return "an overlong form";
    }
    if (lead == 0xed && next >= 0xa0 && next < 0xc0) {
        return "a surrogate";
    }
    if (lead > 0xf4 || (lead == 0xf4 && next >= 0x90 && next < 0xc0)) {
        return "a value above U+10FFFF";
    }
    return "a sequence that is cut short";
}

/* Length of the run from `p` on that is ASCII without NUL, as far as eight bytes at a time show. */
static size_t plain_length(const char *p, size_t len)
{
    size_t i = 0;

    while (i + sizeof(uint64_t) <= len) {
        uint64_t word;

        memcpy(&word, p + i, sizeof(word));
        /* A byte of zero borrows from its top bit; bytes of ASCII alone never do. */
        if ((word | (word - 0x0101010101010101U)) & 0x8080808080808080U) {
            break;
        }
        i += sizeof(word);
    }
    return i;
}

struct btz_str btz_json_clean(struct btz_str s, struct btz_buf *scratch)
{
    size_t bad = 0;
    size_t kept = 0;
    size_t i = 0;

    while (i < s.len) {
        size_t len = plain_length(s.ptr + i, s.len - i);

        if (len == 0) {
            len = s.ptr[i] ? btz_json_utf8_len(s.ptr + i, s.len - i, &bad) : 0;
        }
        if (len) {
            i += len;
            continue;
        }
        (void)btz_buf_add(scratch, s.ptr + kept, i - kept);
        (void)btz_buf_add(scratch, "\xef\xbf\xbd", 3);
        i += s.ptr[i] ? bad : 1;
        kept = i;
    }
    if (kept == 0) {
        return s;
    }
    (void)btz_buf_add(scratch, s.ptr + kept, s.len - kept);
    if (btz_buf_status(scratch) != BTZ_OK) {
        btz_panic("a string of %zu bytes is too long for a JSON value", s.len);
    }
    return btz_buf_view(scratch);
}
