/* The arms of canonicalisation as a list for people. */
#include "base/buf.h"
#include "guard/canon.h"

enum { LIST_MAX = 1024 };

struct btz_str btz_canon_arm_list(struct btz_arena *arena)
{
    struct btz_buf out;
    struct btz_str list;

    btz_buf_init(&out, LIST_MAX);
    for (int i = 0; i < BTZ_CANON_ARMS; i++) {
        (void)btz_buf_printf(&out, "%s%s",
                             i == 0                    ? ""
                             : i == BTZ_CANON_ARMS - 1 ? " or "
                                                       : ", ",
                             btz_canon_arm_name((enum btz_canon_arm)i));
    }
    list = btz_arena_dup(arena, btz_buf_view(&out));
    btz_buf_fini(&out);
    return list;
}
