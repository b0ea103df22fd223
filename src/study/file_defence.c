/* Names of defences in a study file. */
#include "study/file_int.h"

static bool cut_end(struct btz_str *name, struct btz_str end)
{
    if (!btz_str_ends(*name, end)) {
        return false;
    }
    *name = btz_str_sub(*name, 0, name->len - end.len);
    return true;
}

/* A mode, then "+rescan" where definitions are scanned at all, then "+closed"; or "proxy:" and what
 * stands in between. */
bool file_defence_known(struct btz_str name)
{
    bool closed;
    bool rescan;

    if (btz_str_starts(name, BTZ_STR("proxy:"))) {
        return name.len > strlen("proxy:");
    }
    closed = cut_end(&name, BTZ_STR("+closed"));
    rescan = cut_end(&name, BTZ_STR("+rescan"));
    return btz_str_is(name, "context") || btz_str_is(name, "combined") ||
           (btz_str_is(name, "input") && !rescan) ||
           (btz_str_is(name, "none") && !rescan && !closed);
}
