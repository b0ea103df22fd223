/* OWASP MCP Top 10 (2025, beta; repository state 2026-04), MITRE ATLAS (data of 2026-05-05), CWE,
 * and OWASP AISVS chapter C10. Other numberings of the Top 10 are about: id and name go together.
 */
#include "base/mapping.h"

#define MCP01 "MCP01 Token Mismanagement & Secret Exposure"
#define MCP02 "MCP02 Privilege Escalation via Scope Creep"
#define MCP03 "MCP03 Tool Poisoning"
#define MCP04 "MCP04 Software Supply Chain Attacks & Dependency Tampering"
#define MCP05 "MCP05 Command Injection & Execution"
#define MCP06 "MCP06 Intent Flow Subversion"
#define MCP07 "MCP07 Insufficient Authentication & Authorization"
#define MCP08 "MCP08 Lack of Audit and Telemetry"
#define MCP09 "MCP09 Shadow MCP Servers"
#define MCP10 "MCP10 Context Injection & Over-Sharing"

#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})
#define UNKNOWN ((const char *const[]){NULL})

static const struct btz_mapping rows[] = {
    {"definition-poisoning", "definition, schema, instructions poisoning", LIST(MCP03),
     LIST("AML.T0110", "AML.T0011.002", "AML.T0104"), LIST("CWE-1427", "CWE-94"), LIST("10.4.2")},
    {"rug-pull", "rug pull, drift", LIST(MCP03, MCP04), LIST("AML.T0109"),
     LIST("CWE-494", "CWE-353"), LIST("10.4.8")},
    {"shadowing", "shadowing, look-alike names", LIST(MCP03, MCP09), LIST("AML.T0110"),
     LIST("CWE-1007", "CWE-290"), LIST("10.1.2")},
    {"hidden-text", "hidden text, ANSI, homoglyph", LIST(MCP03), LIST("AML.T0051.001"),
     LIST("CWE-1007", "CWE-150"), LIST("10.4.2")},
    {"direct-injection", "direct prompt injection, memory", LIST(MCP06),
     LIST("AML.T0051", "AML.T0080"), LIST("CWE-1427", "CWE-74"), LIST("10.4.1")},
    {"indirect-injection", "result, resource, prompt injection", LIST(MCP06, MCP10),
     LIST("AML.T0051.001", "AML.T0099", "AML.T0080"), LIST("CWE-1427", "CWE-74"),
     LIST("10.4.1", "10.4.2")},
    {"exfiltration", "exfiltration through arguments", LIST(MCP10, MCP01), LIST("AML.T0086"),
     LIST("CWE-200", "CWE-201"), LIST("10.2.5")},
    {"credentials", "secrets in config, arguments, results; credential confusion",
     LIST(MCP01, MCP07), LIST("AML.T0083", "AML.T0098", "AML.T0055"),
     LIST("CWE-798", "CWE-522", "CWE-532"), LIST("10.2.3")},
    {"argument-injection", "argument injection (shell, SQL, path, SSRF), sandbox escape",
     LIST(MCP05), LIST("AML.T0053"),
     LIST("CWE-78", "CWE-88", "CWE-89", "CWE-22", "CWE-59", "CWE-918"), LIST("10.4.3", "10.4.4")},
    {"confused-agent", "destructive or over-privileged tool, confused agent", LIST(MCP02),
     LIST("AML.T0101"), LIST("CWE-250", "CWE-269"), LIST("10.2.4", "10.2.5")},
    {"transport", "transport: Origin/Host, session, smuggling, version", LIST(MCP07), UNKNOWN,
     LIST("CWE-346", "CWE-350", "CWE-384", "CWE-436", "CWE-178", "CWE-757"),
     LIST("10.3.3", "10.3.4")},
    {"supply-chain", "unpinned package, launch command, config change, vulnerable client",
     LIST(MCP04, MCP09), LIST("AML.T0010.005", "AML.T0081"), LIST("CWE-829", "CWE-1357", "CWE-94"),
     LIST("10.1.1", "10.1.2", "10.1.3", "10.4.7")},
    {"amplification", "resource amplification, loops", LIST(MCP06), LIST("AML.T0034.002"),
     LIST("CWE-770", "CWE-400"), LIST("10.4.5")},
    {"consent", "sampling and elicitation abuse, consent", LIST(MCP06, MCP01), LIST("AML.T0051"),
     LIST("CWE-1021", "CWE-451"), LIST("10.4.7")},
    {"audit", "audit gaps, tampering", LIST(MCP08), UNKNOWN, LIST("CWE-778", "CWE-117"), UNKNOWN},
};

const struct btz_mapping *btz_mapping_at(size_t index)
{
    return index < sizeof(rows) / sizeof(*rows) ? &rows[index] : NULL;
}

const struct btz_mapping *btz_mapping_find(struct btz_str slug)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        if (btz_str_is(slug, rows[i].slug)) {
            return &rows[i];
        }
    }
    return NULL;
}
