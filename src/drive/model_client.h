/* Performs MODEL needs: asks one model server over HTTP by the policy of llm/endpoint.h.
 *
 * Ask as often as wanted (thousands may wait; in_flight bounds what runs), wait on the loop, and
 * pull answers. Every accepted ask is answered exactly once, and never before the call that
 * started it returned. Call btz_drive_model_client_next until it has no more before each wait: it
 * is what moves requests along, and it tells the loop when to wake up.
 *
 *     while (btz_drive_model_client_pending(client)) {
 *         while (btz_drive_model_client_next(client, &answer)) { ... }
 *         btz_net_loop_wait(loop, -1);
 *     }
 */
#ifndef BTZ_DRIVE_MODEL_CLIENT_H
#define BTZ_DRIVE_MODEL_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "llm/endpoint.h"
#include "llm/model.h"
#include "net/loop.h"

struct btz_drive_model_client;

struct btz_drive_model_options {
    struct btz_llm_endpoint_options policy; /* in_flight, retries, times, seed, reply limits */
    const struct btz_llm_key *key; /* from btz_llm_key_for; NULL = none. Copied, and wiped at the
                                    * end. */
    size_t max_request_bytes;      /* 0 = 16 MiB */
    int64_t connect_timeout_us;    /* 0 = 10 s */
};

struct btz_drive_model_answer {
    uint64_t id;
    enum btz_llm_status status;
    struct btz_str bytes; /* the last response body: for OK what btz_llm_reply_parse reads, for
                           * REJECTED and FAILED the provider's words, if any came */
    struct btz_str text;  /* for people; empty for OK */
    uint32_t attempts;    /* requests made; 0 = none was sent */
    int http_status;      /* of the last response; 0 = none */
    int64_t latency_us;   /* of the last attempt, from its start to its end; 0 = none ended */
    int64_t total_us;     /* from ask to answer: waiting, all attempts and the delays between */
};

/* For models of kind OPENAI and LOCAL; EUNSUPPORTED for others. `model` may go away. */
int btz_drive_model_client_new(struct btz_net_loop *loop, const struct btz_llm_model *model,
                               const struct btz_drive_model_options *options,
                               struct btz_drive_model_client **out,
                               struct btz_err *err) BTZ_WARN_UNUSED;

/* Breaks off what is under way, without answers. To be called before the loop is freed. NULL is
 * allowed. */
void btz_drive_model_client_free(struct btz_drive_model_client *client);

/* Asks. `parts` as llm/request.h says (for embeddings, llm/embeddings.h); the array and all bytes
 * stay valid until the answer is pulled. `deadline_us` is monotonic, 0 = none. EEXISTS if `id` has
 * no answer yet. Parts that are wrong give an answer FAILED. */
int btz_drive_model_client_ask(struct btz_drive_model_client *client, uint64_t id,
                               const struct btz_str *parts, size_t count,
                               int64_t deadline_us) BTZ_WARN_UNUSED;

/* Gives an ask up: its answer will be CANCELLED. Asking twice does no harm; ENOTFOUND if `id` was
 * never asked or its answer was pulled. */
int btz_drive_model_client_cancel(struct btz_drive_model_client *client, uint64_t id);

/* Moves requests along; true and the next answer (bytes and text valid until the next call), or
 * false when there is none now. */
bool btz_drive_model_client_next(struct btz_drive_model_client *client,
                                 struct btz_drive_model_answer *out);

/* Asks without a pulled answer; those of them with a request on the wire. */
size_t btz_drive_model_client_pending(const struct btz_drive_model_client *client);
size_t btz_drive_model_client_running(const struct btz_drive_model_client *client);

#endif
