/* A page about one attack, made from its card: for the terminal, or as Markdown (docs/attacks). */
#ifndef BTZ_REPORT_ATTACK_PAGE_H
#define BTZ_REPORT_ATTACK_PAGE_H

#include "base/buf.h"
#include "base/err.h"
#include "base/term.h"
#include "json/json.h"

/* `attack` is what `bartizan list attacks ID --json` prints: {id, card, mapping: {family, owasp,
 * atlas, cwe, aisvs}, variants: [{id, revisions, card}]}, where the cards are the data parts of the
 * pack file (schemas/attack.json). Payload texts are not printed: a page that is read by models
 * should not hold them. BTZ_ELIMIT if `out` is too small. */
int btz_attack_page(const struct btz_json *attack, bool markdown, const struct btz_term *term,
                    struct btz_buf *out, struct btz_err *err) BTZ_WARN_UNUSED;

#endif
