// Records the file operations of a process, fails one of them, kills the process before one, or stops it after one.
// LD_PRELOAD it; Linux only.
//
//   DISK_ROOT=DIRECTORY          Only operations on files below this directory count. Needed.
//   DISK_TRACE=FILE              Appends each operation that changes a file (struct operation, names, data).
//   DISK_KILL=N                  Sends SIGKILL to the process before the N-th of these operations.
//   DISK_STOP=N                  Sends SIGSTOP to the process right after the N-th of these operations.
//   DISK_FAIL=ERRNO:N[:lasting]  Fails the N-th call that may fail with ERRNO; with `lasting`, all from the N-th on.
//
// SQLite's shared memory (-shm) is not recorded: it does not survive a restart. Its calls fail like all others. Several processes
// may append to one trace: each operation runs and is recorded under one lock, so that the trace has the order of the operations.
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
#include <sys/uio.h>
#include <unistd.h>

enum kind { CREATE = 1, WRITE, TRUNCATE, PUNCH, ALLOCATE, SYNC, SYNC_DIRECTORY, RENAME, UNLINK, MAKE_DIRECTORY, FAILED };

// DiskTrace.swift reads it. The names and, for WRITE, `length` bytes of data follow.
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
static int failure, lasting;

static void read_environment(void) {
    root = getenv("DISK_ROOT");
    rootLength = root ? strlen(root) : 0;
    const char *path = getenv("DISK_TRACE"), *number = getenv("DISK_KILL"), *fail = getenv("DISK_FAIL"),
               *stop = getenv("DISK_STOP");
    if (path) trace = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (number) killAt = atol(number);
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
    return root && strncmp(path, root, rootLength) == 0 && path[rootLength] == '/';
}

static int is_recorded(const char *path) {
    size_t length = strlen(path);
    return is_counted(path) && !(length > 4 && strcmp(path + length - 4, "-shm") == 0);
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

// MARK: Killing and failing

static void will_change(const char *path) {
    if (is_recorded(path) && ++changes == killAt) kill(getpid(), SIGKILL);
}

enum call { OPENING, CREATING, READING, WRITING, SYNCING, NAMING, PUNCHING };

static int can_fail(enum call call) {
    switch (failure) {
    case ENOSPC:
    case EDQUOT: return call == CREATING || call == WRITING;
    case EIO: return call == READING || call == WRITING || call == SYNCING || call == PUNCHING;
    case EROFS: return call == CREATING || call == NAMING;
    case EMFILE:
    case ENFILE:
    case ENOMEM: return call == OPENING || call == CREATING;
    case EOPNOTSUPP: return call == PUNCHING;
    default: return 0;
    }
}

// Whether the call fails, with errno.
static int fails(enum call call, const char *path) {
    if (!failAt || !is_counted(path) || !can_fail(call)) return 0;
    failable++;
    if (failable != failAt && !(lasting && failable > failAt)) return 0;
    record(FAILED, 0, path, "", (uint64_t)call, (uint64_t)failure, NULL);
    errno = failure;
    return 1;
}

// MARK: Calls

static int open_file(int directory, const char *path, int flags, mode_t mode) {
    if (path[0] != '/') return (int)syscall(SYS_openat, directory, path, flags, mode);
    begin();
    uint64_t before = is_counted(path) ? inode_at(path) : 0;
    int creates = (flags & O_CREAT) && !before;
    int result = -1;
    if (!fails(creates || (flags & O_ACCMODE) != O_RDONLY ? CREATING : OPENING, path)) {
        if (creates || (flags & O_TRUNC)) will_change(path);
        result = (int)syscall(SYS_openat, directory, path, flags, mode);
        if (result >= 0 && is_recorded(path)) {
            if (creates) record(CREATE, inode_of(result), path, "", 0, 0, NULL);
            else if (flags & O_TRUNC) record(TRUNCATE, before, path, "", 0, 0, NULL);
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

static ssize_t read_file(int descriptor, void *data, size_t length, off_t offset) {
    char path[PATH_MAX];
    begin();
    int failed = fails(READING, path_of(descriptor, path));
    end();
    return failed ? -1 : syscall(SYS_pread64, descriptor, data, length, offset);
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
    if (!fails(mode & FALLOC_FL_PUNCH_HOLE ? PUNCHING : WRITING, path_of(descriptor, path))) {
        will_change(path);
        result = (int)syscall(SYS_fallocate, descriptor, mode, offset, length);
        if (result == 0 && is_recorded(path)) {
            enum kind kind = mode & FALLOC_FL_PUNCH_HOLE ? PUNCH : ALLOCATE;
            record(kind, inode_of(descriptor), path, "", (uint64_t)offset, (uint64_t)length, NULL);
        }
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
    begin();
    int result = -1;
    if (!fails(SYNCING, path_of(descriptor, path))) {
        will_change(path);
        result = (int)syscall(call, descriptor);
        if (result == 0 && is_recorded(path) && fstat(descriptor, &status) == 0)
            record(S_ISDIR(status.st_mode) ? SYNC_DIRECTORY : SYNC, status.st_ino, path, "", 0, 0, NULL);
    }
    end();
    return result;
}
int fsync(int descriptor) { return sync_file(descriptor, SYS_fsync); }
int fdatasync(int descriptor) { return sync_file(descriptor, SYS_fdatasync); }

int rename(const char *from, const char *to) {
    begin();
    int result = -1;
    if (!fails(NAMING, from)) {
        will_change(from);
        result = (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
        if (result == 0 && is_recorded(from)) record(RENAME, 0, from, to, 0, 0, NULL);
    }
    end();
    return result;
}

int unlink(const char *path) {
    begin();
    int result = -1;
    if (!fails(NAMING, path)) {
        will_change(path);
        result = (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
        if (result == 0 && is_recorded(path)) record(UNLINK, 0, path, "", 0, 0, NULL);
    }
    end();
    return result;
}

int mkdir(const char *path, mode_t mode) {
    begin();
    int result = -1;
    if (!fails(CREATING, path)) {
        will_change(path);
        result = (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
        if (result == 0 && is_recorded(path)) record(MAKE_DIRECTORY, 0, path, "", 0, 0, NULL);
    }
    end();
    return result;
}
