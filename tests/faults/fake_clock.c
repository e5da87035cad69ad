/* A layer between a process and the C library: the wall clock shows another time, by as many nanoseconds as the first
 * eight bytes of the file FAKE_CLOCK say at that moment, and the monotonic clock by as many as the next eight bytes say.
 * Python sleeps and waits for locks until an instant of the monotonic clock, which the kernel counts by the real one.
 * Loaded by LD_PRELOAD. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000LL
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static volatile int64_t *ahead;

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("FAKE_CLOCK");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *found = mmap(NULL, 2 * sizeof *ahead, PROT_READ, MAP_SHARED, file, 0);
    if (found != MAP_FAILED) ahead = found;
    close(file);
}

int clock_gettime(clockid_t clock, struct timespec *at) {
    int result = REAL(clock_gettime)(clock, at);
    int is_wall = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
    if (result == 0 && ahead && (is_wall || clock == CLOCK_MONOTONIC)) {
        int64_t shown = at->tv_sec * SECOND + at->tv_nsec + ahead[is_wall ? 0 : 1];
        at->tv_sec = shown / SECOND, at->tv_nsec = shown % SECOND;
    }
    return result;
}

int gettimeofday(struct timeval *restrict at, void *restrict zone) {
    struct timespec now;
    (void)zone;
    int result = clock_gettime(CLOCK_REALTIME, &now);
    at->tv_sec = now.tv_sec, at->tv_usec = now.tv_nsec / 1000;
    return result;
}

time_t time(time_t *at) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (at) *at = now.tv_sec;
    return now.tv_sec;
}

static struct timespec real(clockid_t clock, const struct timespec *shown) {
    int64_t at = shown->tv_sec * SECOND + shown->tv_nsec;
    if (ahead && (clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC)) at -= ahead[clock == CLOCK_REALTIME ? 0 : 1];
    if (at < 0) at = 0;
    return (struct timespec){at / SECOND, at % SECOND};
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *until, struct timespec *left) {
    if (!(flags & TIMER_ABSTIME)) return REAL(clock_nanosleep)(clock, flags, until, left);
    struct timespec at = real(clock, until);
    return REAL(clock_nanosleep)(clock, flags, &at, left);
}

int sem_clockwait(sem_t *restrict semaphore, clockid_t clock, const struct timespec *restrict until) {
    struct timespec at = real(clock, until);
    return REAL(sem_clockwait)(semaphore, clock, &at);
}
