/* Processes that try to outlive the run that started them: escaper WAY.
 *
 * Each has `alive` open with a shared lock, so that whoever gets the exclusive lock knows that
 * nothing is left; each makes `ready` when it is on its way; each ends by itself after a while, so
 * that a test that fails leaves nothing for ever. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LONGEST 30

static time_t seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

static time_t end;

static void hold(void) {
    int file = open("alive", O_RDONLY);
    if (file < 0 || flock(file, LOCK_SH) != 0) _exit(90);
}

static void ready(void) { close(open("ready", O_WRONLY | O_CREAT, 0600)); }

static void linger(void) {
    while (seconds() < end) usleep(20000);
    _exit(0);
}

static void onward(void) {
    if (fork() != 0) _exit(0);
}

static void deaf(void) {
    for (int number = 1; number < 65; number++) signal(number, SIG_IGN);
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
}

/* Each process forks the next and exits: no look at a list of processes ever meets one twice. */
static void chain(int pause, int rename) {
    char name[16];
    for (int count = 0; seconds() < end; count++) {
        onward();
        setsid();
        if (rename) {
            snprintf(name, sizeof name, "kworker/%d", count % 1000);
            prctl(PR_SET_NAME, name);
            if (count % 2) setpgid(0, 0);
        }
        if (count == 20) ready();
        if (pause) usleep(pause);
    }
}

/* As the chain, by the system call itself, without a signal at the end of each. */
static void chain_by_clone(void) {
    for (int count = 0; seconds() < end; count++) {
        struct { unsigned long long field[11]; } arguments = {{0}};
        if (syscall(SYS_clone3, &arguments, 64UL) != 0) _exit(0);
        setsid();
        if (count == 20) ready();
        usleep(100);
    }
}

static void many(void) {
    for (int count = 0; count < 49; count++) {
        if (fork() == 0) {
            setsid();
            deaf();
            linger();
        }
    }
    ready();
    linger();
}

/* Two that replace each other. */
static void twins(void) {
    setsid();
    ready();
    while (seconds() < end) {
        pid_t older = getpid(), younger = fork();
        if (younger == 0) {
            setsid();
            while (getppid() == older) usleep(500);
        } else {
            waitpid(younger, NULL, 0);
        }
    }
}

static void *forking(void *nothing) {
    (void)nothing;
    ready();
    while (seconds() < end) {
        if (fork() == 0) {
            setsid();
            usleep(3000);
            _exit(0);
        }
        usleep(2000);
    }
    _exit(0);
}

/* The process looks dead, because its first thread is. */
static void headless(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, forking, NULL);
    pthread_exit(NULL);
}

static void traced(void) {
    pid_t child = fork();
    if (child == 0) {
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        raise(SIGSTOP);
        linger();
    }
    waitpid(child, NULL, 0);
    ptrace(PTRACE_SETOPTIONS, child, NULL, PTRACE_O_TRACEEXIT);
    ready();
    linger();
}

/* Has orphans of its own. */
static void reaper(void) {
    setsid();
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (fork() == 0) chain(200, 0);
    linger();
}

int main(int count, char **arguments) {
    const char *way = count > 1 ? arguments[1] : "";
    end = count > 2 ? atol(arguments[2]) : seconds() + LONGEST;
    hold();
    if (!strcmp(way, "chain")) chain(200, 0);
    if (!strcmp(way, "fast")) chain(0, 0);
    if (!strcmp(way, "renamed")) chain(300, 1);
    if (!strcmp(way, "clone")) chain_by_clone();
    if (!strcmp(way, "many")) many();
    if (!strcmp(way, "twins")) twins();
    if (!strcmp(way, "headless")) headless();
    if (!strcmp(way, "traced")) traced();
    if (!strcmp(way, "reaper")) reaper();
    if (!strcmp(way, "bare")) {
        /* A daemon without a name, an environment or a terminal. */
        onward();
        setsid();
        onward();
        char until[32], *bare[] = {"-", "lingering", until, NULL}, *none[] = {NULL};
        snprintf(until, sizeof until, "%ld", (long)end);
        execve("/proc/self/exe", bare, none);
        _exit(92);
    }
    if (!strcmp(way, "lingering")) {
        ready();
        linger();
    }
    if (!strcmp(way, "closed")) {
        onward();
        setsid();
        close_range(0, ~0U, 0);
        hold();
        ready();
        linger();
    }
    if (!strcmp(way, "stopped")) {
        onward();
        setsid();
        ready();
        raise(SIGSTOP);
        linger();
    }
    if (!strcmp(way, "stops-parent")) {
        /* An orphan: its parent is the warden. */
        pid_t before = getppid();
        onward();
        while (getppid() == before) usleep(1000);
        setsid();
        kill(getppid(), SIGSTOP);
        ready();
        linger();
    }
    return 93;
}
