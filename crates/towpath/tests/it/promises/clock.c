/* A wall clock that is 20 years ahead as soon as the file $JUMP is there. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *now) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(clock, now);
    const char *jump = getenv("JUMP");
    if (clock == CLOCK_REALTIME && jump && access(jump, F_OK) == 0)
        now->tv_sec += 20L * 365 * 24 * 60 * 60;
    return result;
}
