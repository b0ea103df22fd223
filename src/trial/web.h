/* Inside the room: what the host, the user's browser and servers do on the web around the trial. */
#ifndef BTZ_TRIAL_WEB_H
#define BTZ_TRIAL_WEB_H

#include "auth/flow.h"
#include "lab/web.h"
#include "trial/trial_int.h"

/* What a name resolved to first. */
struct pinned {
    struct pinned *next;
    struct btz_str host;
    struct btz_auth_address address;
};

/* protect.c: what a protected server's site says to a request, before its MCP endpoint. */
struct site_answer {
    int status;               /* 0: the request goes on to the endpoint */
    struct btz_str challenge; /* of 401 and 403 */
    struct btz_str body;
};
/* `target` is origin-form. A fault of a script is kept in conn->tap_failed. */
void site_answers(struct btz_trial *trial, struct conn *conn, struct btz_str method,
                  struct btz_str target, struct btz_str authorization, struct btz_str body,
                  struct site_answer *answer);
/* The protected server whose site has this address, or NULL; `first` if it is its own (NULL is
 * allowed). */
struct conn *site_owner(struct btz_trial *trial, struct conn *first, struct btz_str url);

/* browse.c: one exchange with anybody but `from`'s own connection: protected servers, the
 * organisation's authorization server, the variant's hosts. */
int web_exchange(struct btz_trial *trial, const struct btz_web_request *request,
                 struct btz_web_answer *answer, struct btz_err *err);
/* Opens an address as hosts do, with the user's browser behind it. `*back` is where the browser
 * came back to, BTZ_STR_NONE if it did not. */
int browse_open(struct btz_trial *trial, struct btz_str url, struct btz_str *back,
                struct btz_err *err);
/* shell.c: what a POSIX shell makes of `word` between double quotes (XCU 2.2.3, 2.6.3): the word
 * that is left, where commands say nothing, and the commands that it would run, in order, added to
 * the list `commands`. Nothing runs. A quote inside ends the word: what follows is a command, too.
 */
struct btz_str shell_word(struct btz_arena *arena, struct btz_str word, struct btz_json *commands);
/* Fetches the icons that a server's tools name. */
int browse_icons(struct btz_trial *trial, struct conn *conn, struct btz_err *err);

#endif
