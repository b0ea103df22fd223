/* Asks one model about items of the sieve. Equal requests that are under way are asked once: arms
 * often leave the same bytes. The caller keeps what came (store/sieve.h) and looks there first. */
#ifndef BTZ_DRIVE_SIEVE_CLIENT_H
#define BTZ_DRIVE_SIEVE_CLIENT_H

#include "base/hash.h"
#include "drive/model_client.h"

struct btz_drive_sieve;

/* As btz_drive_model_client_new. */
int btz_drive_sieve_new(struct btz_net_loop *loop, const struct btz_llm_model *model,
                        const struct btz_drive_model_options *options, struct btz_drive_sieve **out,
                        struct btz_err *err) BTZ_WARN_UNUSED;
void btz_drive_sieve_free(struct btz_drive_sieve *sieve); /* NULL is allowed */

/* What a request is known by: SHA-256 over its parts. */
struct btz_hash btz_drive_sieve_request(const struct btz_str *parts, size_t count);

/* Asks; the parts are copied. Every accepted ask comes back once with its `id`. BTZ_EINTERNAL if
 * the request could not be made. */
int btz_drive_sieve_ask(struct btz_drive_sieve *sieve, uint64_t id, const struct btz_str *parts,
                        size_t count) BTZ_WARN_UNUSED;

struct btz_drive_sieve_answer {
    uint64_t id;
    struct btz_hash request;
    enum btz_llm_status status; /* OK: `bytes` is a body that btz_llm_reply_parse accepts (for
                                 * embeddings, btz_llm_embeddings_parse);
                                 * REJECTED: `bytes` are the provider's words */
    struct btz_str bytes, text; /* until the next call */
    int64_t took_us;
    uint32_t attempts; /* 0: another ask of the same request made them */
};

/* The next answer, or false if there is none now. Call it until then before each wait. */
bool btz_drive_sieve_next(struct btz_drive_sieve *sieve, struct btz_drive_sieve_answer *out);

/* Asks that did not come back yet; different requests among them. */
size_t btz_drive_sieve_pending(const struct btz_drive_sieve *sieve);
size_t btz_drive_sieve_requests(const struct btz_drive_sieve *sieve);

/* Requests in a row that ended in a fault: the model may not be there. */
unsigned btz_drive_sieve_failures(const struct btz_drive_sieve *sieve);

#endif
