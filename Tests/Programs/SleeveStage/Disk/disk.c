// Records the file operations of a process, fails one of them, kills the process before one, or stops it after one.
// LD_PRELOAD it; Linux only.
//
//   DISK_ROOT=DIRECTORY          Only operations on this directory and files below it count. Needed.
//   DISK_TRACE=FILE              Appends each operation that changes a file (struct operation, names, data).
//   DISK_KILL=N                  Sends SIGKILL to the process before the N-th of these operations.
//   DISK_KILL=sync               Sends SIGKILL to the process before the first sync of a cover, or of the file system.
//   DISK_STOP=N                  Sends SIGSTOP to the process right after the N-th of these operations.
//   DISK_FAIL=ERRNO:N[:lasting]  Fails the N-th call that may fail with ERRNO; with `lasting`, all from the N-th on.
//   DISK_FAIL=ERRNO:0            Records the calls that may fail with ERRNO, and fails none.
//   DISK_LACKS=CALL:ERRNO ...    The file system has no such call: fchmod, flock, fsync (of files), folder (their fsync) or syncfs.
//   DISK_CLOCK=SECONDS           Sets the wall clock forward by so much, or back if it is negative.
//
// SQLite's shared memory (-shm) is not recorded: it does not survive a restart. Its calls fail like all others. Several processes
// may append to one trace: each operation runs and is recorded under one lock, so that the trace has the order of the operations.
// A change that is not modelled ends the process.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/falloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum kind {
    CREATE = 1, WRITE, TRUNCATE, ALLOCATE, SYNC, SYNC_DIRECTORY, SYNC_FILE_SYSTEM, RENAME, LINK, UNLINK, MAKE_DIRECTORY,
    REMOVE_DIRECTORY, FAILED
};

// DiskOperation.swift reads it. The names and, for WRITE, `length` bytes of data follow.
struct operation {
    uint32_t kind, process;
    uint64_t inode, offset, length;
    uint32_t nameLength, newNameLength;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static const char *root;
static size_t rootLength;
static int trace = -1;
static long killAt, stopAt, changes, failAt, failable;
static int failure, lasting, killsAtSync;

static void read_environment(void) {
    root = getenv("DISK_ROOT");
    rootLength = root ? strlen(root) : 0;
    const char *path = getenv("DISK_TRACE"), *number = getenv("DISK_KILL"), *fail = getenv("DISK_FAIL"),
               *stop = getenv("DISK_STOP");
    if (path) trace = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (number) killAt = atol(number);
    if (number) killsAtSync = strcmp(number, "sync") == 0;
    if (stop) stopAt = atol(stop);
    if (fail) lasting = sscanf(fail, "%d:%ld", &failure, &failAt) == 2 && strstr(fail, "lasting") != NULL;
}

static void begin(void) {
    pthread_once(&once, read_environment);
    pthread_mutex_lock(&mutex);
    if (trace >= 0) flock(trace, LOCK_EX);
}

static void end(void) {
    int saved = errno;
    int stops = stopAt && changes >= stopAt;
    if (stops) stopAt = 0;
    if (trace >= 0) flock(trace, LOCK_UN);
    pthread_mutex_unlock(&mutex);
    // Sent to the process, the signal could reach another thread first, and this one would go on for a moment.
    if (stops) syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGSTOP);
    errno = saved;
}

static int is_counted(const char *path) {
    return root && strncmp(path, root, rootLength) == 0 && (path[rootLength] == '/' || path[rootLength] == 0);
}

static const char *path_of(int descriptor, char *path);

// Whether DISK_LACKS has a call on this file. Sets `errno`.
static int lacks(const char *call, int descriptor) {
    char path[PATH_MAX];
    const char *found = getenv("DISK_LACKS");
    const size_t length = strlen(call);
    if (!found) return 0;
    pthread_once(&once, read_environment);
    if (!is_counted(path_of(descriptor, path))) return 0;
    for (; found; found = strchr(found, ' '), found = found ? found + 1 : NULL) {
        if (strncmp(found, call, length) != 0 || found[length] != ':') continue;
        errno = atoi(found + length + 1);
        return 1;
    }
    return 0;
}

static int is_recorded(const char *path) {
    size_t length = strlen(path);
    return is_counted(path) && !(length > 4 && strcmp(path + length - 4, "-shm") == 0);
}

// The absolute form of a path that is relative to a directory.
static const char *absolute(int directory, const char *path, char *buffer) {
    if (path[0] == '/') return path;
    char base[64];
    snprintf(base, sizeof base, directory == AT_FDCWD ? "/proc/self/cwd" : "/proc/self/fd/%d", directory);
    ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, base, buffer, PATH_MAX - 1);
    snprintf(buffer + (length > 0 ? length : 0), (size_t)(PATH_MAX - (length > 0 ? length : 0)), "/%s", path);
    return buffer;
}

static const char *path_of(int descriptor, char *path) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, link, path, PATH_MAX - 1);
    path[length > 0 ? length : 0] = 0;
    return path;
}

static void record(
    enum kind kind, uint64_t inode, const char *name, const char *newName, uint64_t offset, uint64_t length, const void *data
) {
    if (trace < 0) return;
    int saved = errno;
    struct operation operation = {
        kind, (uint32_t)getpid(), inode, offset, length, (uint32_t)strlen(name), (uint32_t)strlen(newName)};
    struct iovec parts[] = {
        {&operation, sizeof operation}, {(void *)name, strlen(name)}, {(void *)newName, strlen(newName)},
        {(void *)data, data ? length : 0}};
    if (syscall(SYS_writev, trace, parts, 4) < 0) abort();
    errno = saved;
}

static uint64_t inode_at(const char *path) {
    struct stat status;
    return lstat(path, &status) == 0 ? status.st_ino : 0;
}

static uint64_t inode_of(int descriptor) {
    struct stat status;
    return fstat(descriptor, &status) == 0 ? status.st_ino : 0;
}

// Ends the process without a handler: one may need the mutex.
static void end_unmodelled(const char *change, const char *path) {
    dprintf(2, "disk.c does not model %s of %s\n", change, path);
    kill(getpid(), SIGKILL);
}

// MARK: Killing and failing

static void will_change(const char *path) {
    if (is_recorded(path) && ++changes == killAt) kill(getpid(), SIGKILL);
}

enum call { OPENING, CREATING, READING, WRITING, SYNCING, NAMING };

static int can_fail(enum call call) {
    switch (failure) {
    case ENOSPC:
    case EDQUOT: return call == CREATING || call == WRITING;
    case EIO: return call == READING || call == WRITING || call == SYNCING || call == NAMING;
    case EROFS: return call == CREATING || call == NAMING;
    case EMFILE:
    case ENFILE:
    case ENOMEM: return call == OPENING || call == CREATING;
    default: return 0;
    }
}

// Whether the call fails, with errno.
static int fails(enum call call, const char *path) {
    if (!failure || !is_counted(path) || !can_fail(call)) return 0;
    failable++;
    if (failAt && failable != failAt && !(lasting && failable > failAt)) return 0;
    record(FAILED, 0, path, "", (uint64_t)call, (uint64_t)failure, NULL);
    if (!failAt) return 0;
    errno = failure;
    return 1;
}

// MARK: Calls

static int open_file(int directory, const char *path, int flags, mode_t mode) {
    char buffer[PATH_MAX];
    begin();
    const char *name = absolute(directory, path, buffer);
    uint64_t before = is_counted(name) ? inode_at(name) : 0;
    int creates = (flags & O_CREAT) && !before;
    int result = -1;
    if ((flags & O_TMPFILE) == O_TMPFILE && is_counted(name)) end_unmodelled("O_TMPFILE", name);
    if (!fails(creates || (flags & O_ACCMODE) != O_RDONLY ? CREATING : OPENING, name)) {
        if (creates || (flags & O_TRUNC)) will_change(name);
        result = (int)syscall(SYS_openat, directory, path, flags, mode);
        if (result >= 0 && is_recorded(name)) {
            if (creates) record(CREATE, inode_of(result), name, "", 0, 0, NULL);
            else if (flags & O_TRUNC) record(TRUNCATE, before, name, "", 0, 0, NULL);
        }
    }
    end();
    return result;
}

#define OPEN(name)                                                                                                             \
    int name(const char *path, int flags, ...) {                                                                               \
        va_list arguments;                                                                                                     \
        va_start(arguments, flags);                                                                                            \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;                                           \
        va_end(arguments);                                                                                                     \
        return open_file(AT_FDCWD, path, flags, mode);                                                                         \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                                                                           \
    int name(int directory, const char *path, int flags, ...) {                                                                \
        va_list arguments;                                                                                                     \
        va_start(arguments, flags);                                                                                            \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;                                           \
        va_end(arguments);                                                                                                     \
        return open_file(directory, path, flags, mode);                                                                        \
    }
OPENAT(openat)
OPENAT(openat64)

static ssize_t write_file(int descriptor, const void *data, size_t length, off_t offset, int isPositioned) {
    char path[PATH_MAX];
    begin();
    ssize_t result = -1;
    if (!fails(WRITING, path_of(descriptor, path))) {
        will_change(path);
        if (!isPositioned && is_recorded(path)) {
            struct stat status;
            int appends = fcntl(descriptor, F_GETFL) & O_APPEND;
            offset = appends && fstat(descriptor, &status) == 0 ? status.st_size : lseek(descriptor, 0, SEEK_CUR);
        }
        result = isPositioned ? syscall(SYS_pwrite64, descriptor, data, length, offset)
                              : syscall(SYS_write, descriptor, data, length);
        if (result > 0 && is_recorded(path))
            record(WRITE, inode_of(descriptor), path, "", (uint64_t)offset, (uint64_t)result, data);
    }
    end();
    return result;
}

ssize_t write(int descriptor, const void *data, size_t length) { return write_file(descriptor, data, length, 0, 0); }
ssize_t pwrite(int descriptor, const void *data, size_t length, off_t offset) {
    return write_file(descriptor, data, length, offset, 1);
}
ssize_t pwrite64(int descriptor, const void *data, size_t length, off64_t offset) {
    return write_file(descriptor, data, length, offset, 1);
}

// One write of all parts; if it is short, its caller goes on.
static ssize_t write_parts(int descriptor, const struct iovec *parts, int count, off_t offset, int isPositioned) {
    size_t length = 0, end = 0;
    for (int part = 0; part < count; part++) length += parts[part].iov_len;
    char *data = malloc(length ? length : 1);
    if (!data) abort();
    for (int part = 0; part < count; end += parts[part++].iov_len)
        memcpy(data + end, parts[part].iov_base, parts[part].iov_len);
    ssize_t result = write_file(descriptor, data, length, offset, isPositioned);
    free(data);
    return result;
}
ssize_t writev(int descriptor, const struct iovec *parts, int count) {
    char path[PATH_MAX];
    pthread_once(&once, read_environment);
    // Messages on sockets stay whole.
    if (!is_counted(path_of(descriptor, path))) return syscall(SYS_writev, descriptor, parts, count);
    return write_parts(descriptor, parts, count, 0, 0);
}
ssize_t pwritev(int descriptor, const struct iovec *parts, int count, off_t offset) {
    return write_parts(descriptor, parts, count, offset, 1);
}
ssize_t pwritev64(int descriptor, const struct iovec *parts, int count, off64_t offset) {
    return write_parts(descriptor, parts, count, offset, 1);
}

static int read_fails(int descriptor) {
    char path[PATH_MAX];
    pthread_once(&once, read_environment);
    if (!failure) return 0;
    begin();
    int failed = fails(READING, path_of(descriptor, path));
    end();
    return failed;
}
static ssize_t read_file(int descriptor, void *data, size_t length, off_t offset) {
    return read_fails(descriptor) ? -1 : syscall(SYS_pread64, descriptor, data, length, offset);
}
ssize_t read(int descriptor, void *data, size_t length) {
    return read_fails(descriptor) ? -1 : syscall(SYS_read, descriptor, data, length);
}
ssize_t pread(int descriptor, void *data, size_t length, off_t offset) { return read_file(descriptor, data, length, offset); }
ssize_t pread64(int descriptor, void *data, size_t length, off64_t offset) {
    return read_file(descriptor, data, length, offset);
}

static int truncate_file(int descriptor, off_t length) {
    char path[PATH_MAX];
    begin();
    int result = -1;
    if (!fails(WRITING, path_of(descriptor, path))) {
        will_change(path);
        result = (int)syscall(SYS_ftruncate, descriptor, length);
        if (result == 0 && is_recorded(path)) record(TRUNCATE, inode_of(descriptor), path, "", 0, (uint64_t)length, NULL);
    }
    end();
    return result;
}
int ftruncate(int descriptor, off_t length) { return truncate_file(descriptor, length); }
int ftruncate64(int descriptor, off64_t length) { return truncate_file(descriptor, length); }

static int truncate_path(const char *path, off_t length) {
    begin();
    int result = -1;
    if (!fails(WRITING, path)) {
        will_change(path);
        result = (int)syscall(SYS_truncate, path, length);
        if (result == 0 && is_recorded(path)) record(TRUNCATE, inode_at(path), path, "", 0, (uint64_t)length, NULL);
    }
    end();
    return result;
}
int truncate(const char *path, off_t length) { return truncate_path(path, length); }
int truncate64(const char *path, off64_t length) { return truncate_path(path, length); }

static int allocate(int descriptor, int mode, off_t offset, off_t length) {
    char path[PATH_MAX];
    begin();
    int result = -1;
    if (!fails(WRITING, path_of(descriptor, path))) {
        if ((mode & ~FALLOC_FL_KEEP_SIZE) && is_recorded(path)) end_unmodelled("fallocate", path);
        will_change(path);
        result = (int)syscall(SYS_fallocate, descriptor, mode, offset, length);
        // With FALLOC_FL_KEEP_SIZE, the file's contents stay the same.
        if (result == 0 && is_recorded(path) && mode == 0)
            record(ALLOCATE, inode_of(descriptor), path, "", (uint64_t)offset, (uint64_t)length, NULL);
    }
    end();
    return result;
}
int fallocate(int descriptor, int mode, off_t offset, off_t length) { return allocate(descriptor, mode, offset, length); }
int fallocate64(int descriptor, int mode, off64_t offset, off64_t length) {
    return allocate(descriptor, mode, offset, length);
}
// It returns the error.
int posix_fallocate(int descriptor, off_t offset, off_t length) {
    return allocate(descriptor, 0, offset, length) == 0 ? 0 : errno;
}
int posix_fallocate64(int descriptor, off64_t offset, off64_t length) { return posix_fallocate(descriptor, offset, length); }

static int sync_file(int descriptor, long call) {
    char path[PATH_MAX];
    struct stat status;
    const int isFolder = fstat(descriptor, &status) == 0 && S_ISDIR(status.st_mode);
    if (lacks(call == SYS_syncfs ? "syncfs" : isFolder ? "folder" : "fsync", descriptor)) return -1;
    begin();
    int result = -1;
    if (!fails(SYNCING, path_of(descriptor, path))) {
        will_change(path);
        if (killsAtSync && is_recorded(path) && (call == SYS_syncfs || (!isFolder && strstr(path, "/covers/")))) kill(getpid(), SIGKILL);
        result = (int)syscall(call, descriptor);
        if (result == 0 && is_recorded(path) && fstat(descriptor, &status) == 0)
            record(
                call == SYS_syncfs ? SYNC_FILE_SYSTEM : S_ISDIR(status.st_mode) ? SYNC_DIRECTORY : SYNC, status.st_ino, path, "",
                0, 0, NULL);
    }
    end();
    return result;
}
int fsync(int descriptor) { return sync_file(descriptor, SYS_fsync); }
int fdatasync(int descriptor) { return sync_file(descriptor, SYS_fdatasync); }
int syncfs(int descriptor) { return sync_file(descriptor, SYS_syncfs); }

int fchmod(int descriptor, mode_t mode) { return lacks("fchmod", descriptor) ? -1 : (int)syscall(SYS_fchmod, descriptor, mode); }
int flock(int descriptor, int operation) { return lacks("flock", descriptor) ? -1 : (int)syscall(SYS_flock, descriptor, operation); }

static int rename_file(int directory, const char *from, int newDirectory, const char *to, unsigned flags) {
    char buffer[PATH_MAX], newBuffer[PATH_MAX];
    begin();
    const char *name = absolute(directory, from, buffer), *newName = absolute(newDirectory, to, newBuffer);
    int result = -1;
    if (!fails(NAMING, name)) {
        if (trace >= 0 && (flags & ~(unsigned)RENAME_NOREPLACE) && is_recorded(name)) end_unmodelled("renameat2", name);
        will_change(name);
        result = (int)syscall(SYS_renameat2, directory, from, newDirectory, to, flags);
        if (result == 0 && is_recorded(name)) record(RENAME, 0, name, newName, 0, 0, NULL);
    }
    end();
    return result;
}
int rename(const char *from, const char *to) { return rename_file(AT_FDCWD, from, AT_FDCWD, to, 0); }
int renameat(int directory, const char *from, int newDirectory, const char *to) {
    return rename_file(directory, from, newDirectory, to, 0);
}
int renameat2(int directory, const char *from, int newDirectory, const char *to, unsigned flags) {
    return rename_file(directory, from, newDirectory, to, flags);
}

static int link_file(int directory, const char *from, int newDirectory, const char *to, int flags) {
    char buffer[PATH_MAX], newBuffer[PATH_MAX];
    begin();
    const char *name = absolute(directory, from, buffer), *newName = absolute(newDirectory, to, newBuffer);
    int result = -1;
    if (!fails(CREATING, newName)) {
        will_change(newName);
        result = (int)syscall(SYS_linkat, directory, from, newDirectory, to, flags);
        if (result == 0 && is_recorded(newName)) record(LINK, 0, name, newName, 0, 0, NULL);
    }
    end();
    return result;
}
int link(const char *from, const char *to) { return link_file(AT_FDCWD, from, AT_FDCWD, to, 0); }
int linkat(int directory, const char *from, int newDirectory, const char *to, int flags) {
    return link_file(directory, from, newDirectory, to, flags);
}

static int unlink_file(int directory, const char *path, int flags) {
    char buffer[PATH_MAX];
    begin();
    const char *name = absolute(directory, path, buffer);
    int result = -1;
    if (!fails(NAMING, name)) {
        will_change(name);
        result = (int)syscall(SYS_unlinkat, directory, path, flags);
        if (result == 0 && is_recorded(name)) record(flags & AT_REMOVEDIR ? REMOVE_DIRECTORY : UNLINK, 0, name, "", 0, 0, NULL);
    }
    end();
    return result;
}
int unlink(const char *path) { return unlink_file(AT_FDCWD, path, 0); }
int rmdir(const char *path) { return unlink_file(AT_FDCWD, path, AT_REMOVEDIR); }
int unlinkat(int directory, const char *path, int flags) { return unlink_file(directory, path, flags); }

static int make_directory(int directory, const char *path, mode_t mode) {
    char buffer[PATH_MAX];
    begin();
    const char *name = absolute(directory, path, buffer);
    int result = -1;
    if (!fails(CREATING, name)) {
        will_change(name);
        result = (int)syscall(SYS_mkdirat, directory, path, mode);
        if (result == 0 && is_recorded(name)) record(MAKE_DIRECTORY, 0, name, "", 0, 0, NULL);
    }
    end();
    return result;
}
int mkdir(const char *path, mode_t mode) { return make_directory(AT_FDCWD, path, mode); }
int mkdirat(int directory, const char *path, mode_t mode) { return make_directory(directory, path, mode); }

// MARK: The wall clock

static time_t shift(void) {
    static const char *seconds;
    if (!seconds && !(seconds = getenv("DISK_CLOCK"))) seconds = "0";
    return atol(seconds);
}
int clock_gettime(clockid_t clock, struct timespec *now) {
    int result = (int)syscall(SYS_clock_gettime, clock, now);
    if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += shift();
    return result;
}
int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    int result = (int)syscall(SYS_gettimeofday, now, zone);
    if (result == 0) now->tv_sec += shift();
    return result;
}
time_t time(time_t *seconds) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (seconds) *seconds = now.tv_sec;
    return now.tv_sec;
}
