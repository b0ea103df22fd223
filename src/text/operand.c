#include "text/operand.h"

#include <stdio.h>

enum { GROUP = 3, CENTS = 3 /* a point and two digits */, AMOUNT_MAX = 40 };

static bool is_amount(struct btz_str operand)
{
    for (size_t i = 0; i < operand.len; i++) {
        bool point = i + CENTS == operand.len;

        if (point ? operand.ptr[i] != '.' : operand.ptr[i] < '0' || operand.ptr[i] > '9') {
            return false;
        }
    }
    return operand.len > GROUP + CENTS && operand.len <= AMOUNT_MAX;
}

bool btz_text_index_operand(struct btz_text_index *index, struct btz_str operand)
{
    static const struct {
        const char *mark;
        char point;
    } forms[] = {{",", '.'}, {".", ','}, {"'", '.'}, {"", ','}};
    char form[AMOUNT_MAX + 2];

    if (btz_text_index_find(index, operand, NULL) == BTZ_OK) {
        return true;
    }
    for (size_t i = 0; is_amount(operand) && i < sizeof(forms) / sizeof(forms[0]); i++) {
        size_t whole = operand.len - CENTS;

        (void)snprintf(form, sizeof(form), "%.*s%s%.*s%c%.*s", (int)(whole - GROUP), operand.ptr,
                       forms[i].mark, GROUP, operand.ptr + whole - GROUP, forms[i].point, CENTS - 1,
                       operand.ptr + whole + 1);
        if (btz_text_index_find(index, btz_str_of(form), NULL) == BTZ_OK) {
            return true;
        }
    }
    return false;
}

bool btz_text_operand(struct btz_str text, struct btz_str operand)
{
    struct btz_text_index *index = btz_text_index_new(text, NULL);
    bool found = btz_text_index_operand(index, operand);

    btz_text_index_free(index);
    return found;
}
