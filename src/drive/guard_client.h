/* Asks a guard model, or a model that rewrites definitions, for all runners of a drive. Equal
 * questions are asked once: what another trial was told, or is waiting for, is the answer of this
 * one too (definitions are the same in hundreds of trials). Only verdicts that came are kept, never
 * failures. */
#ifndef BTZ_DRIVE_GUARD_CLIENT_H
#define BTZ_DRIVE_GUARD_CLIENT_H

#include "base/err.h"
#include "base/step.h"
#include "drive/model_client.h"
#include "drive/runner.h"

/* As btz_runner_options of a model that is no reference agent. Free it after the runners and before
 * the drive. */
int btz_drive_guard_new(struct btz_drive *drive, const struct btz_runner_options *options,
                        struct btz_drive_guard **out, struct btz_err *err) BTZ_WARN_UNUSED;
void btz_drive_guard_free(struct btz_drive_guard *guard); /* NULL is allowed */

/* Asks for `asker`, who waits with one `tag` a question. The parts stay valid until the answer is
 * pulled or forgotten. BTZ_EINTERNAL if the request could not be made. */
int btz_drive_guard_ask(struct btz_drive_guard *guard, const void *asker, void *tag,
                        const struct btz_need *need) BTZ_WARN_UNUSED;

/* Lets it know an answer from before: a run that goes on asks nothing that its finished trials were
 * told. The parts and the reply are copied. What it knows already, or has no room for, is left. */
void btz_drive_guard_remember(struct btz_drive_guard *guard, const struct btz_str *parts,
                              size_t part_count, struct btz_str reply, int64_t took_us);

/* The next answered question of `asker`; `*answer` has everything but the need's id, its bytes live
 * until the guard is freed or asked again. `attempts` is 0 and `took_us` that of the first asking
 * where the answer was known. False if there is none now. */
bool btz_drive_guard_next(struct btz_drive_guard *guard, const void *asker, void **tag,
                          struct btz_answer *answer);

/* Why the guard model is of no use: its last words after BTZ_DRIVE_GUARD_FAILURES questions in a
 * row came back without an answer (a refusal of what was asked is one). Empty while it is of use.
 */
enum { BTZ_DRIVE_GUARD_FAILURES = 10 };
struct btz_str btz_drive_guard_down(const struct btz_drive_guard *guard);

/* Drops all questions of `asker`. */
void btz_drive_guard_forget(struct btz_drive_guard *guard, const void *asker);

#endif
