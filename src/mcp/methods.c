#include "mcp/methods.h"

#define CLIENT BTZ_MCP_FROM_CLIENT
#define SERVER BTZ_MCP_FROM_SERVER
#define BOTH (CLIENT | SERVER)

/* Columns: legacy senders, modern senders, first revision. A request that modern servers make only
 * as an entry of inputRequests (sampling, elicitation, roots) has no modern sender. Tasks exist in
 * the core of 2025-11-25 only; later they are an extension. */
static const struct btz_mcp_method methods[BTZ_MCP_METHOD_COUNT] = {
    [BTZ_MCP_M_INITIALIZE] = {.name = "initialize",
                              .legacy_from = CLIENT,
                              .first = BTZ_MCP_2024_11_05,
                              .offered = true},
    [BTZ_MCP_M_DISCOVER] = {.name = "server/discover",
                            .modern_from = CLIENT,
                            .first = BTZ_MCP_2026_07_28,
                            .cacheable = true,
                            .offered = true},
    [BTZ_MCP_M_PING] = {.name = "ping",
                        .legacy_from = BOTH,
                        .first = BTZ_MCP_2024_11_05,
                        .offered = true},
    [BTZ_MCP_M_TOOLS_LIST] = {.name = "tools/list",
                              .legacy_from = CLIENT,
                              .modern_from = CLIENT,
                              .first = BTZ_MCP_2024_11_05,
                              .cacheable = true,
                              .list_key = "tools",
                              .capability = "tools",
                              .offered = true},
    [BTZ_MCP_M_TOOLS_CALL] = {.name = "tools/call",
                              .legacy_from = CLIENT,
                              .modern_from = CLIENT,
                              .first = BTZ_MCP_2024_11_05,
                              .capability = "tools",
                              .header_name = "name",
                              .offered = true},
    [BTZ_MCP_M_RESOURCES_LIST] = {.name = "resources/list",
                                  .legacy_from = CLIENT,
                                  .modern_from = CLIENT,
                                  .first = BTZ_MCP_2024_11_05,
                                  .cacheable = true,
                                  .list_key = "resources",
                                  .capability = "resources",
                                  .offered = true},
    [BTZ_MCP_M_TEMPLATES_LIST] = {.name = "resources/templates/list",
                                  .legacy_from = CLIENT,
                                  .modern_from = CLIENT,
                                  .first = BTZ_MCP_2024_11_05,
                                  .cacheable = true,
                                  .list_key = "resourceTemplates",
                                  .capability = "resources",
                                  .offered = true},
    [BTZ_MCP_M_RESOURCES_READ] = {.name = "resources/read",
                                  .legacy_from = CLIENT,
                                  .modern_from = CLIENT,
                                  .first = BTZ_MCP_2024_11_05,
                                  .cacheable = true,
                                  .capability = "resources",
                                  .header_name = "uri",
                                  .offered = true},
    [BTZ_MCP_M_RESOURCES_SUBSCRIBE] = {.name = "resources/subscribe",
                                       .legacy_from = CLIENT,
                                       .first = BTZ_MCP_2024_11_05,
                                       .capability = "resources",
                                       .offered = true},
    [BTZ_MCP_M_RESOURCES_UNSUBSCRIBE] = {.name = "resources/unsubscribe",
                                         .legacy_from = CLIENT,
                                         .first = BTZ_MCP_2024_11_05,
                                         .capability = "resources",
                                         .offered = true},
    [BTZ_MCP_M_PROMPTS_LIST] = {.name = "prompts/list",
                                .legacy_from = CLIENT,
                                .modern_from = CLIENT,
                                .first = BTZ_MCP_2024_11_05,
                                .cacheable = true,
                                .list_key = "prompts",
                                .capability = "prompts",
                                .offered = true},
    [BTZ_MCP_M_PROMPTS_GET] = {.name = "prompts/get",
                               .legacy_from = CLIENT,
                               .modern_from = CLIENT,
                               .first = BTZ_MCP_2024_11_05,
                               .capability = "prompts",
                               .header_name = "name",
                               .offered = true},
    [BTZ_MCP_M_COMPLETE] = {.name = "completion/complete",
                            .legacy_from = CLIENT,
                            .modern_from = CLIENT,
                            .first = BTZ_MCP_2024_11_05,
                            .capability = "completions",
                            .offered = true},
    [BTZ_MCP_M_SET_LEVEL] = {.name = "logging/setLevel",
                             .legacy_from = CLIENT,
                             .first = BTZ_MCP_2024_11_05,
                             .capability = "logging",
                             .offered = true},
    [BTZ_MCP_M_LISTEN] = {.name = "subscriptions/listen",
                          .modern_from = CLIENT,
                          .first = BTZ_MCP_2026_07_28,
                          .offered = true},
    [BTZ_MCP_M_SAMPLING] = {.name = "sampling/createMessage",
                            .legacy_from = SERVER,
                            .first = BTZ_MCP_2024_11_05},
    [BTZ_MCP_M_ELICITATION] = {.name = "elicitation/create",
                               .legacy_from = SERVER,
                               .first = BTZ_MCP_2025_06_18},
    [BTZ_MCP_M_ROOTS_LIST] = {.name = "roots/list",
                              .legacy_from = SERVER,
                              .first = BTZ_MCP_2024_11_05},
    [BTZ_MCP_M_TASKS_GET] = {.name = "tasks/get", .legacy_from = BOTH, .first = BTZ_MCP_2025_11_25},
    [BTZ_MCP_M_TASKS_RESULT] = {.name = "tasks/result",
                                .legacy_from = BOTH,
                                .first = BTZ_MCP_2025_11_25},
    [BTZ_MCP_M_TASKS_LIST] = {.name = "tasks/list",
                              .legacy_from = BOTH,
                              .first = BTZ_MCP_2025_11_25,
                              .list_key = "tasks"},
    [BTZ_MCP_M_TASKS_CANCEL] = {.name = "tasks/cancel",
                                .legacy_from = BOTH,
                                .first = BTZ_MCP_2025_11_25},
    [BTZ_MCP_N_INITIALIZED] = {.name = "notifications/initialized",
                               .notification = true,
                               .legacy_from = CLIENT,
                               .first = BTZ_MCP_2024_11_05,
                               .offered = true},
    [BTZ_MCP_N_CANCELLED] = {.name = "notifications/cancelled",
                             .notification = true,
                             .legacy_from = BOTH,
                             .modern_from = BOTH,
                             .first = BTZ_MCP_2024_11_05,
                             .offered = true},
    [BTZ_MCP_N_PROGRESS] = {.name = "notifications/progress",
                            .notification = true,
                            .legacy_from = BOTH,
                            .modern_from = SERVER,
                            .first = BTZ_MCP_2024_11_05,
                            .offered = true},
    [BTZ_MCP_N_MESSAGE] = {.name = "notifications/message",
                           .notification = true,
                           .legacy_from = SERVER,
                           .modern_from = SERVER,
                           .first = BTZ_MCP_2024_11_05,
                           .offered = true},
    [BTZ_MCP_N_TOOLS_CHANGED] = {.name = "notifications/tools/list_changed",
                                 .notification = true,
                                 .legacy_from = SERVER,
                                 .modern_from = SERVER,
                                 .first = BTZ_MCP_2024_11_05,
                                 .offered = true},
    [BTZ_MCP_N_PROMPTS_CHANGED] = {.name = "notifications/prompts/list_changed",
                                   .notification = true,
                                   .legacy_from = SERVER,
                                   .modern_from = SERVER,
                                   .first = BTZ_MCP_2024_11_05,
                                   .offered = true},
    [BTZ_MCP_N_RESOURCES_CHANGED] = {.name = "notifications/resources/list_changed",
                                     .notification = true,
                                     .legacy_from = SERVER,
                                     .modern_from = SERVER,
                                     .first = BTZ_MCP_2024_11_05,
                                     .offered = true},
    [BTZ_MCP_N_RESOURCE_UPDATED] = {.name = "notifications/resources/updated",
                                    .notification = true,
                                    .legacy_from = SERVER,
                                    .modern_from = SERVER,
                                    .first = BTZ_MCP_2024_11_05,
                                    .offered = true},
    [BTZ_MCP_N_ACKNOWLEDGED] = {.name = "notifications/subscriptions/acknowledged",
                                .notification = true,
                                .modern_from = SERVER,
                                .first = BTZ_MCP_2026_07_28,
                                .offered = true},
    [BTZ_MCP_N_ROOTS_CHANGED] = {.name = "notifications/roots/list_changed",
                                 .notification = true,
                                 .legacy_from = CLIENT,
                                 .first = BTZ_MCP_2024_11_05,
                                 .offered = true},
    [BTZ_MCP_N_ELICITATION_COMPLETE] = {.name = "notifications/elicitation/complete",
                                        .notification = true,
                                        .legacy_from = SERVER,
                                        .first = BTZ_MCP_2025_11_25},
    [BTZ_MCP_N_TASK_STATUS] = {.name = "notifications/tasks/status",
                               .notification = true,
                               .legacy_from = BOTH,
                               .first = BTZ_MCP_2025_11_25},
};

static const char *const revisions[] = {
    [BTZ_MCP_REVISION_NONE] = "",        [BTZ_MCP_2024_11_05] = "2024-11-05",
    [BTZ_MCP_2025_03_26] = "2025-03-26", [BTZ_MCP_2025_06_18] = "2025-06-18",
    [BTZ_MCP_2025_11_25] = "2025-11-25", [BTZ_MCP_2026_07_28] = "2026-07-28",
};

enum btz_mcp_era btz_mcp_era_of(enum btz_mcp_revision revision)
{
    return revision >= BTZ_MCP_MODERN_FIRST ? BTZ_MCP_MODERN : BTZ_MCP_LEGACY;
}

const char *btz_mcp_revision_text(enum btz_mcp_revision revision)
{
    return revision <= BTZ_MCP_REVISION_LAST ? revisions[revision] : "";
}

enum btz_mcp_revision btz_mcp_revision_parse(struct btz_str text)
{
    for (unsigned i = BTZ_MCP_2024_11_05; i <= BTZ_MCP_REVISION_LAST; i++) {
        if (btz_str_is(text, revisions[i])) {
            return (enum btz_mcp_revision)i;
        }
    }
    return BTZ_MCP_REVISION_NONE;
}

enum btz_mcp_revision btz_mcp_revision_newest(unsigned set)
{
    for (unsigned i = BTZ_MCP_REVISION_LAST; i >= BTZ_MCP_2024_11_05; i--) {
        if (set & BTZ_MCP_SET(i)) {
            return (enum btz_mcp_revision)i;
        }
    }
    return BTZ_MCP_REVISION_NONE;
}

const struct btz_mcp_method *btz_mcp_method_at(enum btz_mcp_method_id id)
{
    return (unsigned)id < BTZ_MCP_METHOD_COUNT ? &methods[id] : NULL;
}

const struct btz_mcp_method *btz_mcp_method_find(struct btz_str name)
{
    for (size_t i = 0; i < BTZ_MCP_METHOD_COUNT; i++) {
        if (btz_str_is(name, methods[i].name)) {
            return &methods[i];
        }
    }
    return NULL;
}

enum btz_mcp_method_id btz_mcp_method_id(const struct btz_mcp_method *method)
{
    return (enum btz_mcp_method_id)(method - methods);
}

bool btz_mcp_method_allowed(const struct btz_mcp_method *method, unsigned from,
                            enum btz_mcp_revision revision)
{
    unsigned senders =
        btz_mcp_era_of(revision) == BTZ_MCP_MODERN ? method->modern_from : method->legacy_from;

    return revision != BTZ_MCP_REVISION_NONE && (senders & from) && revision >= method->first;
}
