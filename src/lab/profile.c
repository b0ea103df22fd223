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
    [BTZ_SWITCH_HASH_LONG_NAMES] = {"names.hash_long", false},
    [BTZ_SWITCH_SEPARATE_NAMESPACES] = {"names.separate_namespaces", false},
    [BTZ_SWITCH_KEY_BY_ORIGIN] = {"servers.key_by_origin", false},
    [BTZ_SWITCH_PIN_SERVERS] = {"servers.pin_names", false},
    [BTZ_SWITCH_APPROVED_CALLS] = {"cache.approved_calls", false},
    [BTZ_SWITCH_CONFINE_NAMES] = {"server.confine_names", false},
    [BTZ_SWITCH_PIN_EXECUTION] = {"servers.pin_execution", false},
    [BTZ_SWITCH_RANDOM_SESSIONS] = {"server.random_sessions", true},
    [BTZ_SWITCH_BIND_SESSIONS] = {"server.bind_sessions", false},
    [BTZ_SWITCH_OWN_STREAMS] = {"server.own_streams", true},
    [BTZ_SWITCH_OWN_QUEUES] = {"server.own_queues", true},
    [BTZ_SWITCH_SEAL_STATE] = {"server.seal_state", true},
};

const char *btz_switch_name(enum btz_switch which)
{
    return which < BTZ_SWITCH_COUNT ? switches[which].name : NULL;
}

int btz_host_profile_named(struct btz_str name, struct btz_host_profile *out)
{
    bool hardened = btz_str_is(name, "hardened");
    bool spec = btz_str_is(name, "spec");

    if (!hardened && !spec && !btz_str_is(name, "naive")) {
        return BTZ_ENOTFOUND;
    }
    for (size_t i = 0; i < BTZ_SWITCH_COUNT; i++) {
        out->safe[i] = hardened || (spec && switches[i].safe_in_spec);
    }
    return BTZ_OK;
}
