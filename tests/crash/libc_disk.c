/* A layer between a process and the C library: the n-th call that changes a file below a folder fails with an errno,
 * or kills the process. Loaded by LD_PRELOAD; armed by the process itself. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static char folder[PATH_MAX];
static long steps, first, last;
static int fault;
static char failed[PATH_MAX + 32];

void disk_arm(const char *below, long step, long until, int with_errno) {
    strncpy(folder, below, sizeof folder - 1);
    steps = 0, first = step, last = until, fault = with_errno, failed[0] = 0;
}
void disk_repair(void) { first = last = 0; }
const char *disk_failed(void) { return failed; }

/* Count a step; return whether it fails, with errno set. An errno of 0 means death. */
static int fails(const char *kind, const char *path) {
    if (!folder[0] || !path || strncmp(path, folder, strlen(folder)) != 0) return 0;
    steps++;
    if (steps < first || steps > last) return 0;
    if (fault == 0) kill(getpid(), SIGKILL);
    const char *base = strrchr(path, '/');
    if (!failed[0]) snprintf(failed, sizeof failed, "%s %s", kind, base ? base + 1 : path);
    errno = fault;
    return 1;
}

static int fails_fd(const char *kind, int fd) {
    char link[64], path[PATH_MAX];
    if (!folder[0]) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return fails(kind, path);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define WRITES(flags) ((flags) & (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC))
#define MODE(flags) \
    mode_t mode = 0; \
    if ((flags) & (O_CREAT | O_TMPFILE)) { va_list rest; va_start(rest, flags); mode = va_arg(rest, mode_t); va_end(rest); }

int open(const char *path, int flags, ...) {
    MODE(flags)
    return WRITES(flags) && fails("open", path) ? -1 : REAL(open)(path, flags, mode);
}
int open64(const char *path, int flags, ...) {
    MODE(flags)
    return WRITES(flags) && fails("open", path) ? -1 : REAL(open64)(path, flags, mode);
}
ssize_t write(int fd, const void *data, size_t n) { return fails_fd("write", fd) ? -1 : REAL(write)(fd, data, n); }
ssize_t pwrite(int fd, const void *data, size_t n, off_t at) {
    return fails_fd("write", fd) ? -1 : REAL(pwrite)(fd, data, n, at);
}
ssize_t pwrite64(int fd, const void *data, size_t n, off64_t at) {
    return fails_fd("write", fd) ? -1 : REAL(pwrite64)(fd, data, n, at);
}
int ftruncate(int fd, off_t n) { return fails_fd("truncate", fd) ? -1 : REAL(ftruncate)(fd, n); }
int ftruncate64(int fd, off64_t n) { return fails_fd("truncate", fd) ? -1 : REAL(ftruncate64)(fd, n); }
int fsync(int fd) { return fails_fd("sync", fd) ? -1 : REAL(fsync)(fd); }
int fdatasync(int fd) { return fails_fd("sync", fd) ? -1 : REAL(fdatasync)(fd); }
int rename(const char *from, const char *to) { return fails("rename", to) ? -1 : REAL(rename)(from, to); }
int unlink(const char *path) { return fails("delete", path) ? -1 : REAL(unlink)(path); }
