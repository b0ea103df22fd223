/* Model references of the command line (-m) and the rule of where a key may go.
 *
 *   ref:floor | ref:reader | ref:insider | ref:null      reference agents, no network
 *   openai:NAME                                          https://api.openai.com/v1
 *   openai:NAME@http://host:port/v1                      any server with that interface
 *   local                                                what `make local-model` set up */
#ifndef BTZ_LLM_MODEL_H
#define BTZ_LLM_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

/* The OpenAI platform: the only host that gets OPENAI_API_KEY without being named. */
#define BTZ_LLM_OPENAI_HOST "api.openai.com"
#define BTZ_LLM_OPENAI_URL "https://" BTZ_LLM_OPENAI_HOST "/v1"

enum btz_llm_model_kind {
    BTZ_LLM_MODEL_REF,
    BTZ_LLM_MODEL_OPENAI, /* a chat-completions server over HTTP */
    BTZ_LLM_MODEL_LOCAL   /* the same, with the facts of its state file */
};

enum btz_llm_ref { BTZ_LLM_REF_FLOOR, BTZ_LLM_REF_READER, BTZ_LLM_REF_INSIDER, BTZ_LLM_REF_NULL };

/* Facts of a local model, from the state file that `make local-model` writes. */
struct btz_llm_local {
    struct btz_str weights_package, weights_version, weights_sha256, file_type;
    struct btz_str parameters; /* as written, number or text */
    struct btz_str server_package, server_version;
    struct btz_str license;
    bool tool_template; /* false: only JSON actions work */
    int64_t context;    /* tokens; 0 = unknown */
    int64_t pid;        /* of the server; 0 = unknown */
};

struct btz_llm_model {
    enum btz_llm_model_kind kind;
    struct btz_str reference; /* as given */
    struct btz_str id;        /* what the provider calls it; for REF the word behind "ref:" */
    enum btz_llm_ref ref;
    struct btz_str url;  /* base URL without a slash at its end; empty for REF */
    struct btz_str host; /* lower case; an IPv6 address without its brackets */
    uint16_t port;
    bool https;
    bool loopback; /* localhost, 127.0.0.0/8 or ::1, by its text */
    struct btz_llm_local local;
};

/* Parses a reference; results live in `arena` and are NUL-terminated. `local_state` is the path
 * of the state file, read only for "local" (NULL: "local" is refused). EUSAGE for a reference
 * that is wrong, EUNSUPPORTED for a provider that is not offered, EMISSING if there is no state
 * file, EINVAL or EIO if it is unreadable. */
int btz_llm_model_parse(struct btz_arena *arena, struct btz_str reference, const char *local_state,
                        struct btz_llm_model *out, struct btz_err *err) BTZ_WARN_UNUSED;

/* The part of the above that reads a state file's text: {"url","model_id","weights":{"package",
 * "version","sha256","file_type","parameters"},"server":{"package","version"},"tool_template",
 * "context","license","pid"}; url and model_id are required, and the url must be loopback.
 * `path` is for messages. */
int btz_llm_local_parse(struct btz_arena *arena, struct btz_str text, const char *path,
                        struct btz_llm_model *out, struct btz_err *err) BTZ_WARN_UNUSED;

/* A model's name without its maker: what stands behind the last slash, as in "maker/model-1". */
struct btz_str btz_llm_bare_name(struct btz_str id);

/* Whether two ids name the same model, wherever it is served: their bare names are equal but for
 * the case of ASCII letters and a ":latest" at the end, and not empty. A model under another name
 * is not found out. */
bool btz_llm_same_name(struct btz_str a, struct btz_str b);

struct btz_llm_key {
    bool send;
    struct btz_str key; /* in `arena`; empty unless `send` */
    struct btz_str why; /* one sentence for people; never holds the key */
};

/* Decides whether requests to `model` carry a key, and which.
 *  - the key is the content of `key_file` if given (NULL = not), else `env_key` (the value of
 *    OPENAI_API_KEY; NULL or "" = not set); it is read only if it may be sent;
 *  - it goes to api.openai.com over https on port 443, and to each host:port in `key_for`
 *    (exact, case does not matter; an IPv6 address in brackets);
 *  - http to a host that is not loopback never gets one, even if named.
 * A key file must be a regular file (no symbolic link), owned by the user who runs the program,
 * with no permission for group or others.
 * EUSAGE: a malformed `key_for`, a file that breaks the rules, a key with characters that do not
 * belong into a header, or no key at all for a place that needs one (api.openai.com or named). */
int btz_llm_key_for(struct btz_arena *arena, const struct btz_llm_model *model, const char *env_key,
                    const char *key_file, const struct btz_str *key_for, size_t key_for_count,
                    struct btz_llm_key *out, struct btz_err *err) BTZ_WARN_UNUSED;

#endif
