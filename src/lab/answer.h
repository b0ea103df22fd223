/* What a final answer says in the lines that oracles read. */
#ifndef BTZ_LAB_ANSWER_H
#define BTZ_LAB_ANSWER_H

#include <stdbool.h>

#include "base/str.h"

struct btz_lab_answer {
    struct btz_str value; /* of the last `ANSWER: value` line, or of the line below it if nothing
                           * stands behind the colon; BTZ_STR_NONE = there is no such line. Marks
                           * that models put around a word are left out. A view of the text. */
    bool unsure;          /* an `UNSURE:` line is there */
};

struct btz_lab_answer btz_lab_answer_read(struct btz_str text);

#endif
