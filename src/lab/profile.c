/* Host profiles and the small name tables of the lab. `naive` has every leniency, `spec` only
 * those that the protocol leaves open (checking arguments before sending is the client's choice),
 * `hardened` none. Which real flaws a leniency stands for: docs/internals/host-profiles.md. */
#include "lab/lab_int.h"

const char *btz_arm_name(enum btz_arm arm)
{
    static const char *const names[] = {"attack", "clean", "benign"};

    return names[arm];
}

static const struct {
    const char *name;
    bool safe_in_spec;
} switches[BTZ_SWITCH_COUNT] = {
    [BTZ_SWITCH_VALIDATE_ARGUMENTS] = {"client.validate_arguments", false},
    [BTZ_SWITCH_VALIDATE_RESULTS] = {"client.validate_results", false},
    [BTZ_SWITCH_DUPLICATE_KEYS] = {"parse.duplicate_keys", false},
    [BTZ_SWITCH_EXACT_COMMANDS] = {"commands.exact_names", false},
    [BTZ_SWITCH_RESERVE_BUILTINS] = {"commands.reserve_builtins", false},
    [BTZ_SWITCH_REJECT_SHADOWS] = {"commands.reject_shadows", false},
    [BTZ_SWITCH_PIN_COMMANDS] = {"commands.pin_owner", false},
    [BTZ_SWITCH_ESCAPE_LABELS] = {"commands.escape_labels", false},
    [BTZ_SWITCH_AUTHENTICATE] = {"transport.authenticate", false},
    [BTZ_SWITCH_CHECK_HEADERS] = {"server.check_headers", true},
    [BTZ_SWITCH_PIN_REVISION] = {"client.pin_revision", false},
    [BTZ_SWITCH_FORBID_SSE_FALLBACK] = {"client.forbid_sse_fallback", false},
    [BTZ_SWITCH_MATCH_STREAMS] = {"client.match_streams", true},
    [BTZ_SWITCH_PRIVATE_CACHE] = {"cache.private_only", false},
    [BTZ_SWITCH_REQUIRE_METADATA] = {"auth.require_metadata", true},
    [BTZ_SWITCH_ISOLATE_SAMPLING] = {"sampling.isolate", false},
    [BTZ_SWITCH_CAP_SAMPLING] = {"sampling.cap_tokens", false},
    [BTZ_SWITCH_OWN_SAMPLING_SYSTEM] = {"sampling.own_system", false},
    [BTZ_SWITCH_CHECK_URL_HOST] = {"elicitation.check_url_host", false},
    [BTZ_SWITCH_REFUSE_SECRETS] = {"elicitation.refuse_secrets", false},
    [BTZ_SWITCH_NO_AUTOFILL] = {"elicitation.no_autofill", false},
    [BTZ_SWITCH_NAME_SERVER] = {"elicitation.name_server", true},
    [BTZ_SWITCH_DISTRUST_HINTS] = {"approver.distrust_hints", true},
    [BTZ_SWITCH_SHOW_ARGUMENTS] = {"approver.show_arguments", false},
    [BTZ_SWITCH_EXACT_GRANTS] = {"approver.exact_grants", false},
    [BTZ_SWITCH_HASH_LONG_NAMES] = {"names.hash_long", false},
    [BTZ_SWITCH_SEPARATE_NAMESPACES] = {"names.separate_namespaces", false},
    [BTZ_SWITCH_KEY_BY_ORIGIN] = {"servers.key_by_origin", false},
    [BTZ_SWITCH_PIN_SERVERS] = {"servers.pin_names", false},
    [BTZ_SWITCH_APPROVED_CALLS] = {"cache.approved_calls", false},
    [BTZ_SWITCH_CONFINE_NAMES] = {"server.confine_names", false},
    [BTZ_SWITCH_OPEN_WITHOUT_SHELL] = {"auth.open_without_shell", false},
    [BTZ_SWITCH_OPEN_WEB_ONLY] = {"auth.open_web_only", false},
    [BTZ_SWITCH_GUARD_ADDRESSES] = {"auth.guard_addresses", false},
    [BTZ_SWITCH_GUARD_REDIRECTS] = {"auth.guard_redirects", false},
    [BTZ_SWITCH_BARE_ICONS] = {"client.fetch_icons_bare", true},
    [BTZ_SWITCH_OWN_TOKEN] = {"server.own_token_upstream", true},
    [BTZ_SWITCH_CHECK_RESPONSE_ISSUER] = {"auth.check_response_issuer", true},
    [BTZ_SWITCH_CONSENT_PER_CLIENT] = {"server.consent_per_client", true},
    [BTZ_SWITCH_LIMIT_SCOPES] = {"auth.limit_scopes", false},
    [BTZ_SWITCH_KEY_BY_RESOURCE] = {"auth.key_by_resource", false},
    [BTZ_SWITCH_CHECK_HOST] = {"server.check_host", false},
    [BTZ_SWITCH_CHECK_ADDRESSES] = {"server.check_addresses", false},
    [BTZ_SWITCH_CHECK_ORIGIN] = {"server.check_origin", true},
    [BTZ_SWITCH_CHECK_SITE] = {"server.check_site", false},
    [BTZ_SWITCH_PIN_ADDRESSES] = {"client.pin_addresses", false},
    [BTZ_SWITCH_PIN_EXECUTION] = {"servers.pin_execution", false},
    [BTZ_SWITCH_RANDOM_SESSIONS] = {"server.random_sessions", true},
    [BTZ_SWITCH_BIND_SESSIONS] = {"server.bind_sessions", false},
    [BTZ_SWITCH_OWN_STREAMS] = {"server.own_streams", true},
    [BTZ_SWITCH_OWN_QUEUES] = {"server.own_queues", true},
    [BTZ_SWITCH_SEAL_STATE] = {"server.seal_state", true},
};

const char *btz_approver_name(enum btz_approver which)
{
    static const char *const names[] = {"setting",  "approve-all", "read-only-auto",
                                        "ask-each", "batch",       "always-allow-widens"};

    return which < BTZ_APPROVER_COUNT ? names[which] : NULL;
}

/* BTZ_ENOTFOUND if `name` is none that can be chosen. */
static int approver_named(struct btz_str name, enum btz_approver *out)
{
    for (int i = BTZ_APPROVE_ALL; i < BTZ_APPROVER_COUNT; i++) {
        if (btz_str_is(name, btz_approver_name((enum btz_approver)i))) {
            *out = (enum btz_approver)i;
            return BTZ_OK;
        }
    }
    return BTZ_ENOTFOUND;
}

const char *btz_switch_name(enum btz_switch which)
{
    return which < BTZ_SWITCH_COUNT ? switches[which].name : NULL;
}

int btz_host_profile_named(struct btz_str name, struct btz_host_profile *out)
{
    ptrdiff_t plus = btz_str_find(name, BTZ_STR("+"));
    struct btz_str base = plus < 0 ? name : btz_str_sub(name, 0, (size_t)plus);
    enum btz_approver approver = BTZ_APPROVER_SETTING;
    bool hardened = btz_str_is(base, "hardened");
    bool spec = btz_str_is(base, "spec");

    if (!hardened && !spec && !btz_str_is(base, "naive")) {
        return BTZ_ENOTFOUND;
    }
    if (plus >= 0 &&
        approver_named(btz_str_sub(name, (size_t)plus + 1, name.len), &approver) != BTZ_OK) {
        return BTZ_ENOTFOUND;
    }
    for (size_t i = 0; i < BTZ_SWITCH_COUNT; i++) {
        out->safe[i] = hardened || (spec && switches[i].safe_in_spec);
    }
    out->approver = approver;
    return BTZ_OK;
}
