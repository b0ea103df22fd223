/* One tiny pack per loading rule: each must be refused with file, line, field and reason. They are
 * loaded behind the unit pack, whose servers they use. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "lab/lab.h"

#define PACKS BTZ_SOURCE_DIR "/tests/packs"

struct broken {
    const char *pack;
    const char *file;
    unsigned line;       /* of the nearest constructor, or of the script error */
    const char *message; /* its beginning: field and reason */
};

static const struct broken cases[] = {
    {"address-field", "attacks/st/broken.lua", 13,
     "variants[1].payload[1].at: there is no such field"},
    {"address-server", "attacks/st/broken.lua", 13,
     "variants[1].payload[1].at: server must name one of setting.servers"},
    {"address-tool", "attacks/st/broken.lua", 13,
     "variants[1].payload[1].at: the server has no such tool"},
    {"address-turn", "attacks/st/broken.lua", 13,
     "variants[1].payload[1].at: a turn address has no server and names"},
    {"address-two-kinds", "attacks/st/broken.lua", 13,
     "variants[1].payload[1].at: an address has exactly one of tool,"},
    {"bad-call", "attacks/st/broken.lua", 19, "call needs \"server.tool\" as its first item"},
    {"bad-guid", "attacks/st/broken.lua", 1, "guid: expected a string that matches"},
    {"bad-schema", "servers/shelf.lua", 1,
     "tools[1].input: not a JSON Schema that can be used: schema at"},
    {"base-is-text", "servers/shelf.lua", 1,
     "base: must return a table of named parts, got string"},
    {"bytecode", "servers/shelf.lua", 1,
     "the file is compiled bytecode; only Lua source text is accepted"},
    {"duplicate-id", "attacks/st/broken.lua", 1, "id: there is an attack tiny already"},
    {"duplicate-server", "servers/shelf.lua", 1, "id: there is a server desk already"},
    {"duplicate-tool", "servers/shelf.lua", 1, "tools[2]: the server has two tools named look"},
    {"duplicate-variant", "attacks/st/broken.lua", 29, "variants[2]: there are two variants v1"},
    {"choices-beyond", "attacks/st/broken.lua", 6,
     "variants[1].setting.choices: must be a whole number from 2 to"},
    {"choices-elsewhere", "attacks/st/broken.lua", 6,
     "variants[1].setting.choices: only an attack that hopes for a wrong"},
    {"empty-pack", "", 0, "the pack holds no .lua file under servers/, attacks/<surface>/ or"},
    {"endless-memory", "servers/shelf.lua", 0, "the script used up its budget of bytes"},
    {"fragment-twice", "attacks/st/broken.lua", 15,
     "variants[1].payload[2]: two fragments are named \"one\""},
    {"function-for-data", "attacks/st/broken.lua", 1,
     "capability: a function stands where data is expected, or the"},
    {"function-is-text", "attacks/st/broken.lua", 6,
     "variants[1].oracle: expected a function, got string"},
    {"function-missing", "attacks/st/broken.lua", 6,
     "variants[1].oracle: expected function oracle(trajectory, journal,"},
    {"global-write", "servers/shelf.lua", 1,
     "write to global 'counter': scripts hold no globals; declare it"},
    {"handler-is-number", "servers/shelf.lua", 1,
     "tools[1].handler: expected a function, got number"},
    {"handler-missing", "servers/shelf.lua", 1,
     "tools[1].handler: expected function(w, args, ctx)"},
    {"infinite-base", "servers/shelf.lua", 3,
     "base: the script used up its budget of instructions"},
    {"infinite-loop", "servers/shelf.lua", 1, "the script used up its budget of instructions"},
    {"list-with-hole", "attacks/st/broken.lua", 6,
     "variants[1].setting.turns: positions and names are mixed in one"},
    {"missing-field", "attacks/st/broken.lua", 6, "variants[1]: expected property \"success\""},
    {"missing-list", "attacks/st/broken.lua", 6, "variants[1]: expected property \"switches\""},
    {"names-env", "servers/shelf.lua", 1, "a script must not name _ENV"},
    {"no-input", "servers/shelf.lua", 1, "tools[1]: expected property \"input\""},
    {"no-return", "attacks/st/broken.lua", 1, "the file must return one attack { ... }"},
    {"no-route", "attacks/st/broken.lua", 6,
     "variants[1]: expected either routes = { call {...}, ... } or"},
    {"not-an-attack", "attacks/st/broken.lua", 1, "the file must return one attack { ... }"},
    {"nul-byte", "servers/shelf.lua", 1, "the file holds a NUL byte; it must be plain text"},
    {"plan-server", "attacks/st/broken.lua", 22,
     "variants[1].plan.obey.insert_before_answer[1]: the setting has no"},
    {"plan-tool", "attacks/st/broken.lua", 22,
     "variants[1].plan.obey.insert_before_answer[1]: server post has no"},
    {"prompts-absent", "servers/shelf.lua", 1, "expected property \"prompts\""},
    {"replaces-nothing", "attacks/st/broken.lua", 1,
     "replaces: there is no attack broken to replace"},
    {"require-cycle", "lib/b.lua", 1,
     "the file lib/a.lua requires itself, directly or through others"},
    {"require-missing", "servers/shelf.lua", 1, "the pack has no file lib/nothing.lua"},
    {"require-no-table", "servers/shelf.lua", 1, "the file lib/a.lua must return a table"},
    {"require-outside", "servers/shelf.lua", 1,
     "require finds \"lib.name\" only: the file lib/name.lua of the pack"},
    {"reserved-id", "servers/shelf.lua", 1,
     "id: sinks, user, content and wire are taken; choose another id"},
    {"resource-without-read", "servers/shelf.lua", 1,
     "resources[1].read: expected function(w, ctx)"},
    {"runtime-error", "attacks/st/broken.lua", 10, "attempt to perform arithmetic on a nil value"},
    {"state-in-load", "servers/shelf.lua", 1,
     "a function changed the variable 'n' of its file: scripts hold no"},
    {"surface-in-turns", "attacks/st/broken.lua", 6,
     "variants[1].payload: surface st is servers and tools, but every fragment"},
    {"surface-of-another-folder", "attacks/st/broken.lua", 1,
     "surface: the file is in attacks/st/, so its surface must be \"st\""},
    {"surface-without-relay", "attacks/tr/broken.lua", 6,
     "variants[1]: surface tr is the wire: the variant must have a"},
    {"surface-without-turn", "attacks/ma/broken.lua", 6,
     "variants[1].payload: surface ma is the user's task: a fragment must"},
    {"syntax-error", "attacks/st/broken.lua", 16, "unexpected symbol near '='"},
    {"trigger-tool", "attacks/st/broken.lua", 6,
     "variants[1].trigger: server post has no tool \"burn_card\""},
    {"twin-fragment", "attacks/st/broken.lua", 6,
     "variants[1].twins.benign.texts: there is no fragment \"two\""},
    {"two-routes", "attacks/st/broken.lua", 6,
     "variants[1]: expected either routes = { call {...}, ... } or"},
    {"unknown-annotation", "servers/shelf.lua", 1,
     "tools[1].annotations.safeHint: property \"safeHint\" is not"},
    {"unknown-attacker", "attacks/st/broken.lua", 6,
     "variants[1].setting.attacker: must be one of setting.servers,"},
    {"unknown-boundary", "attacks/st/broken.lua", 6,
     "variants[1].boundary: expected one of \"V\", \"B\""},
    {"unknown-carrier", "attacks/st/broken.lua", 6,
     "variants[1].carriers[1]: expected one of \"memory\", \"stdio\""},
    {"unknown-cross-fire", "attacks/st/broken.lua", 6,
     "variants[1].cross_fires[1]: there is no attack of that name"},
    {"unknown-field", "attacks/st/broken.lua", 6,
     "variants[1].colour: property \"colour\" is not allowed; remove it"},
    {"unknown-fragment-field", "attacks/st/broken.lua", 13,
     "variants[1].payload[1].tongue: property \"tongue\" is not allowed;"},
    {"unknown-global", "servers/shelf.lua", 1,
     "there is no global 'io'; see docs/packs/script-api.md"},
    {"unknown-mapping", "attacks/st/broken.lua", 1,
     "mapping: there is no such row of outside taxonomies;"},
    {"unknown-marker-kind", "attacks/st/broken.lua", 6,
     "variants[1].markers.friend: expected one of \"address\","},
    {"unknown-marker-operand", "attacks/st/broken.lua", 13,
     "variants[1].payload[1].operands[1]: {fiend} is no marker of this"},
    {"unknown-marker-plan", "attacks/st/broken.lua", 22,
     "variants[1].plan.obey.insert_before_answer[1].call.args.text:"},
    {"unknown-marker-text", "attacks/st/broken.lua", 13,
     "variants[1].payload[1].text: {fiend} is no marker of this"},
    {"unknown-marker-turn", "attacks/st/broken.lua", 6,
     "variants[1].setting.turns[1]: {fiend} is no marker of this"},
    {"unknown-marker-twin", "attacks/st/broken.lua", 6,
     "variants[1].twins.benign.texts.one: {fiend} is no marker of this"},
    {"unknown-oracle-kind", "attacks/st/broken.lua", 1,
     "oracle_kind: expected one of \"deterministic\", \"semantic\""},
    {"unknown-payload-id", "attacks/st/broken.lua", 6,
     "variants[1].setting.turns[1]: {payload.two} is no marker of this"},
    {"unknown-resource", "attacks/st/broken.lua", 6,
     "variants[1].setting.resources[1]: no server of the setting has a"},
    {"unknown-revision", "attacks/st/broken.lua", 6,
     "variants[1].revisions[1]: expected one of \"legacy\", \"modern\""},
    {"unknown-server", "attacks/st/broken.lua", 6,
     "variants[1].setting.servers[3]: there is no server \"attic\" in the"},
    {"unknown-surface", "attacks/st/broken.lua", 1,
     "surface: expected one of \"ma\", \"cl\", \"st\", \"tr\""},
    {"unknown-switch", "attacks/st/broken.lua", 6,
     "variants[1].switches[1]: there is no host-profile switch of that"},
    {"unknown-tool-field", "servers/shelf.lua", 1,
     "tools[1].colour: property \"colour\" is not allowed; remove it"},
    {"unknown-trigger", "attacks/st/broken.lua", 6,
     "variants[1].trigger.on: expected one of \"definition\","},
    {"unknown-violation", "attacks/st/broken.lua", 6,
     "variants[1].violation: expected one of \"unsafe-call\","},
    {"upvalue-metatable", "attacks/st/broken.lua", 0,
     "a table with a metatable is kept by the file; make it where it is"},
    {"wrong-type", "attacks/st/broken.lua", 6,
     "variants[1].setting.budget: expected integer, got \"eight\""},
    {"prompt-without-get", "servers/shelf.lua", 1,
     "prompts[1].get: expected function(w, args, ctx)"},
    {"prompt-get-is-text", "servers/shelf.lua", 1,
     "prompts[1].get: expected a function, got string"},
    {"prompt-without-arguments", "servers/shelf.lua", 1,
     "prompts[1]: expected property \"arguments\""},
    {"unknown-prompt-field", "servers/shelf.lua", 1,
     "prompts[1].colour: property \"colour\" is not allowed; remove it"},
    {"duplicate-prompt", "servers/shelf.lua", 1,
     "prompts[2]: the server has two prompts named tidy"},
    {"duplicate-argument", "servers/shelf.lua", 1,
     "prompts[1].arguments[2]: the prompt has two arguments named row"},
    {"argument-complete-is-list", "servers/shelf.lua", 1,
     "prompts[1].arguments[1].complete: expected a function, got array"},
    {"template-without-read", "servers/shelf.lua", 1,
     "templates[1].read: expected function(w, vars, ctx)"},
    {"template-without-variable", "servers/shelf.lua", 1,
     "templates[1].uri: a template has at least one {variable}; a fixed"},
    {"template-operator", "servers/shelf.lua", 1,
     "templates[1].uri: a variable is {name}, of letters, digits and"},
    {"template-two-variables", "servers/shelf.lua", 1,
     "templates[1].uri: only one variable can stand between two"},
    {"template-variable-twice", "servers/shelf.lua", 1,
     "templates[1].uri: a variable can stand in a template once"},
    {"template-brace", "servers/shelf.lua", 1,
     "templates[1].uri: a closing brace without an opening one"},
    {"template-complete-unknown", "servers/shelf.lua", 1,
     "templates[1].complete.place: the template has no such variable"},
    {"template-complete-is-text", "servers/shelf.lua", 1,
     "templates[1].complete.row: expected a function, got string"},
    {"duplicate-template", "servers/shelf.lua", 1,
     "templates[2]: the server has two templates shelf://rows/{row}"},
    {"address-prompt", "attacks/st/broken.lua", 13,
     "variants[1].payload[1].at: the server has no such prompt"},
    {"address-prompt-field", "attacks/st/broken.lua", 13,
     "variants[1].payload[1].at: a position in a list goes from 1 to its length"},
    {"address-prompt-nameless", "attacks/st/broken.lua", 13,
     "variants[1].payload[1].at: the prompt would be left without a name"},
    {"address-template", "attacks/st/broken.lua", 13,
     "variants[1].payload[1].at: the server has no such resource"},
    {"address-template-made", "attacks/st/broken.lua", 13,
     "variants[1].payload[1].at: the resource is not among setting.resources"},
    {"extends-nothing", "attacks/st/more.lua", 1, "extends: there is no attack teeny in the packs"},
    {"extends-known-variant", "attacks/st/more.lua", 4,
     "variants[1]: there is a variant tiny/v1 already ("},
    {"extends-with-card", "attacks/st/more.lua", 1,
     "name: property \"name\" is not allowed; remove it"},
    {"extends-folder", "attacks/ma/more.lua", 1,
     "extends: the attack is of surface st, so the file belongs into"},
    {"since-turn", "attacks/st/broken.lua", 13,
     "variants[1].payload[1].since: turn is the number of a user turn, and"},
    {"since-session", "attacks/st/broken.lua", 13,
     "variants[1].payload[1].since: the setting has one session; a second"},
    {"since-result", "attacks/st/broken.lua", 13,
     "variants[1].payload[1].since: only definitions, labels and handlers change"},
    {"since-tool-name", "attacks/st/broken.lua", 13,
     "variants[1].payload[1].since: a tool has one name from the"},
    {"until-turn", "attacks/st/broken.lua", 13,
     "variants[1].payload[1].until: turn is the number of a user turn, and"},
    {"handler-of-nobody", "attacks/st/broken.lua", 13,
     "variants[1].payload[1].at: the server has no such tool whose handler"},
    {"handler-without-code", "attacks/st/broken.lua", 13,
     "variants[1].payload[1].at: what a tool does from then on is the variant's"},
    {"rounds-of-nobody", "attacks/st/broken.lua", 6,
     "variants[1].setting.rounds: must be one of setting.servers"},
    {"label-appended", "attacks/st/broken.lua", 13,
     "variants[1].payload[1].at: a label can only be replaced"},
    {"clone-of-nobody", "attacks/st/broken.lua", 6,
     "variants[1].setting.clones.desk2: `of` must be a server of the packs"},
    {"clone-tool", "attacks/st/broken.lua", 6,
     "variants[1].setting.clones.desk2: `tools` must name tools of the"},
    {"clone-id-taken", "attacks/st/broken.lua", 6,
     "variants[1].setting.clones.post: the id is taken; a clone needs one"},
    {"clone-without-tools", "attacks/st/broken.lua", 6,
     "variants[1].setting.clones.desk2.tools: expected at least 1 items,"},
    {"wire-without-relay", "attacks/st/broken.lua", 13,
     "variants[1].payload[1].at: a fragment on the wire is put there by"},
    {"plan-without-answer", "attacks/st/broken.lua", 18,
     "variants[1].plan.benign: the last step of a whole plan is answer("},
    {"plan-answers", "attacks/st/broken.lua", 18,
     "variants[1].plan.benign: the plan has 2 answers for 1 user turns"},
    {"plan-obey-plain", "attacks/st/broken.lua", 6,
     "variants[1].plan.obey: the last step of a whole plan is answer("},
    {"twin-plan-answers", "attacks/st/broken.lua", 25,
     "variants[1].twins.benign.plan: the plan has 2 answers for 1 user turns"},
    {"misspelt-field", "attacks/st/broken.lua", 6,
     "variants[1]: expected property \"success\"; \"succes\" is no property there"},
    {"no-turns", "attacks/st/broken.lua", 6,
     "variants[1].setting.turns: expected at least 1 items, got 0"},
    {"extends-broken-variant", "attacks/st/more.lua", 4,
     "variants[1].id: expected a string that matches"},
    {"sessions-without-turn", "attacks/st/broken.lua", 6,
     "variants[1].setting.sessions: two sessions need second_session_turn,"},
    {"second-session-range", "attacks/st/broken.lua", 6,
     "variants[1].setting: second_session_turn must be the number of a user"},
    {"reconnect-range", "attacks/st/broken.lua", 6,
     "variants[1].setting: reconnect_turn must be the number of a user turn"},
    {"memory-of-nobody", "attacks/st/broken.lua", 6,
     "variants[1].setting.memory: must be one of setting.servers, in a"},
    {"memory-in-one-session", "attacks/st/broken.lua", 6,
     "variants[1].setting.memory: must be one of setting.servers, in a"},
    {"labels-of-nobody", "attacks/st/broken.lua", 6,
     "variants[1].setting.labels: the setting has no server \"annex\""},
    {"wire-without-server", "attacks/st/broken.lua", 13,
     "variants[1].payload[1].at: server must name one of setting.servers"},
    {"withheld-server", "attacks/st/broken.lua", 6,
     "variants[1].setting.withheld[1]: the setting has no server \"depot\""},
    {"withheld-tool", "attacks/st/broken.lua", 6,
     "variants[1].setting.withheld[1]: server post has no tool \"burn_card\""},
    {"withheld-since", "attacks/st/broken.lua", 6,
     "variants[1].setting.withheld[1].since: turn is the number of a user turn"},
    {"withheld-twin", "attacks/st/broken.lua", 6,
     "variants[1].twins.clean.withheld[1]: server desk has no tool \"burn_card\""},
    {"reconfigured-never", "attacks/st/broken.lua", 6,
     "variants[1].setting.reconfigured: a host reads its configuration when it connects"},
    {"reconfigured-nobody", "attacks/st/broken.lua", 6,
     "variants[1].setting.reconfigured: \"depot\" must be one of setting.servers"},
    {"reconfigured-both", "attacks/st/broken.lua", 6,
     "variants[1].setting.reconfigured: \"desk\" must be one of setting.servers, and either"},
    {"reconfigured-all", "attacks/st/broken.lua", 6,
     "variants[1].setting.reconfigured: some server must be there before and after"},
    {"reconfigured-twin", "attacks/st/broken.lua", 6,
     "variants[1].twins.clean.reconfigured: \"depot\" must be one of setting.servers"},
    {"lists-empty-page", "attacks/st/broken.lua", 6,
     "variants[1].setting.lists.page_size: expected a number of at least 1"},
    {"unknown-since-key", "attacks/st/broken.lua", 13,
     "variants[1].payload[1].since.week: property \"week\" is not allowed;"},
    {"ask-is-text", "attacks/st/broken.lua", 6, "variants[1].ask: expected a function, got string"},
    {"elicitation-of-no-tool", "attacks/st/broken.lua", 13,
     "variants[1].payload[1].at: the server has no such tool to be called"},
    {"fill-declined-content", "attacks/st/broken.lua", 20,
     "variants[1].plan.benign[2]: content goes with the action \"accept\""},
    {"first-revision-unknown", "attacks/st/broken.lua", 6,
     "variants[1].first_revision: expected one of"},
    {"replies-declined-content", "attacks/st/broken.lua", 6,
     "variants[1].setting.replies[1]: content goes with the action"},
    {"fill-action", "attacks/st/broken.lua", 20,
     "variants[1].plan.benign[2].fill.action: expected one of \"accept\","},
    {"replies-unknown-marker", "attacks/st/broken.lua", 6,
     "variants[1].setting.replies[1].content.x: {foe} is no marker of this"},
    {"sample-is-table", "attacks/st/broken.lua", 20, "sample takes one text: sample(\"...\")"},
    {"sampling-without-ask", "attacks/st/broken.lua", 13,
     "variants[1].payload[1].at: a text that a server asks with is put"},
    {"unknown-approver", "attacks/st/broken.lua", 6,
     "variants[1].setting.approver: expected one of \"approve-all\","},
    {"unseen-result", "attacks/st/broken.lua", 13,
     "variants[1].payload[1].unseen: only a field of a definition can be"},
    {"relay-is-text", "attacks/st/broken.lua", 6,
     "variants[1].relay: expected a function, got string"},
    {"twin-relay-is-text", "attacks/st/broken.lua", 6,
     "variants[1].twins.benign.relay: expected a function, got number"},
};

enum { CASES = sizeof(cases) / sizeof(*cases) };

static void check(const struct broken *c)
{
    char dir[400];
    char file[700];
    const char *dirs[] = {PACKS "/unit", dir};
    struct btz_lab_options options = {dirs, 2, true, 0};
    struct btz_lab *lab = NULL;
    struct btz_err err = {0};
    int code;

    (void)snprintf(dir, sizeof(dir), "%s/broken/%s", PACKS, c->pack);
    (void)snprintf(file, sizeof(file), "%s%s%s", dir, *c->file ? "/" : "", c->file);
    code = btz_lab_new(&options, &lab, &err);
    if (code == BTZ_OK) {
        btz_lab_free(lab);
        fail_msg("%s was loaded", c->pack);
    }
    assert_null(lab);
    if (code != err.code || strcmp(err.file, file) != 0 || err.line != c->line ||
        strncmp(err.msg, c->message, strlen(c->message)) != 0) {
        char text[1200];

        fail_msg("%s: %s", c->pack, btz_err_text(&err, text, sizeof(text)));
    }
}

static void test_broken(void **state)
{
    (void)state;
    for (size_t i = 0; i < CASES; i++) {
        check(&cases[i]);
    }
}

/* No folder without a row above. */
static void test_complete(void **state)
{
    DIR *dir = opendir(PACKS "/broken");
    struct dirent *entry;
    size_t count = 0;

    (void)state;
    assert_non_null(dir);
    while ((entry = readdir(dir))) {
        /* rule* packs load; certification refuses them (tests/system/uncertified.test.mjs). */
        bool known = entry->d_name[0] == '.' || strncmp(entry->d_name, "rule", 4) == 0;

        count += !known;
        for (size_t i = 0; i < CASES; i++) {
            known = known || strcmp(cases[i].pack, entry->d_name) == 0;
        }
        if (!known) {
            fail_msg("tests/packs/broken/%s has no expectation", entry->d_name);
        }
    }
    (void)closedir(dir);
    assert_int_equal(count, CASES);
}

static void test_no_folder(void **state)
{
    const char *dirs[] = {PACKS "/no-such-folder"};
    struct btz_lab_options options = {dirs, 1, true, 0};
    struct btz_lab *lab = NULL;
    struct btz_err err = {0};

    (void)state;
    assert_int_equal(btz_lab_new(&options, &lab, &err), BTZ_ENOTFOUND);
    assert_null(lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_broken),
        cmocka_unit_test(test_complete),
        cmocka_unit_test(test_no_folder),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
