/* A rule file. Checks that nothing crashes, that a refusal says why, and that what was accepted can
 * be used: its samples are played and a text is scanned. */
#include <stdlib.h>

#include "guard/guard.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct btz_embedded file = {"fuzz.yaml", (const char *)data, size};
    struct btz_guard_rules *rules = NULL;
    struct btz_err err = {0};

    if (btz_guard_rules_parse(&file, 1, &rules, &err) == BTZ_OK) {
        if (!btz_guard_rule_at(rules, 0)) {
            abort();
        }
        if (btz_guard_rules_play(rules, NULL, &err) && err.msg[0] == '\0') {
            abort();
        }
        btz_guard_rules_free(rules);
    } else if (rules || err.msg[0] == '\0' || err.code >= 0) {
        abort();
    }
    return 0;
}
