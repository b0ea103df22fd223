/* A cage for programs of other people: limits, a folder of their own, and, where the kernel gives
 * namespaces to this user, no network, no other process in sight, and a file system that is
 * read-only but for the folder. What is started in such a namespace cannot outlive it, whatever
 * process groups or sessions it makes.
 *
 * With namespaces the program is user 1000 of its own namespace, without capabilities
 * (user_namespaces(7), pid_namespaces(7)); to files it is still this user. So devices, sockets
 * below /run, the usual places of secrets and the terminal are out of its reach. What else this
 * user can read, it can read: run it as a user who has nothing to hide. */
#ifndef BTZ_PROC_CAGE_H
#define BTZ_PROC_CAGE_H

#include <stdbool.h>
#include <stdint.h>

struct btz_proc_cage {
    const char *folder;   /* working directory; absolute. The program may write here */
    bool namespaces;      /* false: limits and folder alone */
    bool network;         /* with namespaces: leave it the network */
    uint64_t memory;      /* bytes of private memory of one process (RLIMIT_DATA); 0 = 4 GiB */
    uint64_t file_size;   /* bytes of one file; 0 = 256 MiB */
    uint64_t cpu_seconds; /* of one process; 0 = 120 */
    uint64_t processes;   /* and threads, of this user; not for root. 0 = 4,096 */
};

/* Whether a cage with namespaces can be made here: tries one. */
bool btz_proc_cage_works(const char *folder);

/* Between fork and exec, in the child: 0 in the process that is to run the program, which may be a
 * grandchild (its ancestors wait for it and end as it does); -1 with errno. */
int btz_proc_cage_enter(const struct btz_proc_cage *cage);

#endif
