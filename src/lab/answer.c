/* Reading the last line of an answer as people write it. */
#include "lab/answer.h"

#include <string.h>
#include <strings.h>

/* `s` without white space and the marks that models put around a word: `head` at its head, * _ ` at
 * its end. */
static struct btz_str bare(struct btz_str s, const char *head)
{
    s = btz_str_trim(s);
    while (s.len && strchr(head, s.ptr[0])) {
        s = btz_str_sub(s, 1, s.len);
    }
    while (s.len && strchr("*_` \t", s.ptr[s.len - 1])) {
        s.len--;
    }
    return s;
}

#define LINE_MARKS "*_`#>- \t" /* headings, lists, quotes */
#define VALUE_MARKS "*_` \t"   /* a minus belongs to the value */

/* True if `line` begins with `word` in any case; `*rest` is what stands behind it, bare. */
static bool labelled(struct btz_str line, const char *word, struct btz_str *rest)
{
    size_t len = strlen(word);

    line = bare(line, LINE_MARKS);
    if (line.len < len || strncasecmp(line.ptr, word, len) != 0) {
        return false;
    }
    *rest = bare(btz_str_sub(line, len, line.len), VALUE_MARKS);
    return true;
}

struct btz_lab_answer btz_lab_answer_read(struct btz_str text)
{
    struct btz_lab_answer answer = {BTZ_STR_NONE, false};
    struct btz_str rest = text;
    struct btz_str line;
    struct btz_str value;
    bool open = false; /* the label stood alone */

    while (btz_str_cut(&rest, '\n', &line)) {
        if (labelled(line, "ANSWER:", &value)) {
            open = value.len == 0;
            answer.value = value;
        } else if (open && bare(line, VALUE_MARKS).len) {
            open = false;
            answer.value = bare(line, VALUE_MARKS);
        }
        answer.unsure |= labelled(line, "UNSURE:", &value);
    }
    return answer;
}
