/* Does a text tell an operand of a payload? As contains.h says, and an amount such as 2682.76 also
 * with the other marks that people write between its digits: 2,682.76, 2.682,76, 2'682.76, 2682,76.
 */
#ifndef BTZ_TEXT_OPERAND_H
#define BTZ_TEXT_OPERAND_H

#include "text/contains.h"

bool btz_text_operand(struct btz_str text, struct btz_str operand);

/* The same for several operands in one text. */
bool btz_text_index_operand(struct btz_text_index *index, struct btz_str operand);

#endif
