/* canon: the arms in which a model rewrites definitions, and what its input should be. */
#ifndef BTZ_CMD_CANON_H
#define BTZ_CMD_CANON_H

#include "cmd/cmd.h"
#include "guard/canon.h"

/* canon_members.c. The error of a value that holds no definition: names the member that is of a
 * wrong type, if one is. */
int canon_no_definition(const struct btz_json *value, struct btz_err *err) BTZ_WARN_UNUSED;
/* Notes on stderr which members of a definition are of a wrong type: in canonical form they go. */
void canon_note_members(const struct btz_context *context, const struct btz_json *tool);

/* For a text that was refused because of a limit: if it is the one of depth, says in `err` which
 * definition is too deep. */
void canon_name_deep(struct btz_str text, struct btz_arena *arena, struct btz_err *err);

struct canon_rewriter;

/* The model of --rewrite-model. */
int canon_rewriter_new(struct btz_context *context, enum btz_canon_arm arm,
                       struct canon_rewriter **out, struct btz_err *err) BTZ_WARN_UNUSED;
void canon_rewriter_free(struct canon_rewriter *rewriter); /* NULL is allowed */

/* Rewrites the definitions `tools`; `results` holds what btz_canon_arm_before made of them, and
 * then what the model wrote, under the same names. A definition that was refused, or whose reply is
 * malformed, is withheld: its result has no definition and `why` (of as many) says the reason.
 * Equal definitions are asked about once. BTZ_EMISSING: the model gave no answer. */
int canon_rewrite(struct canon_rewriter *rewriter, const struct btz_json *tools,
                  const struct btz_canon_options *options, struct btz_arena *arena,
                  struct btz_canon_result *results, struct btz_str *why,
                  struct btz_err *err) BTZ_WARN_UNUSED;

#endif
