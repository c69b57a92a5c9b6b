// What Linux has and Swift's Glibc module leaves out; empty elsewhere.
#pragma once
#ifdef __linux__
#include <malloc.h>
#include <poll.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/types.h>
#include <sys/vfs.h>

// Behind _GNU_SOURCE in <fcntl.h>, <poll.h>, <unistd.h> and <spawn.h>, which a module that others include cannot define in time.
extern int posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t *actions, const char *path);
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);
extern int ppoll(struct pollfd *sockets, nfds_t count, const struct timespec *limit, const sigset_t *signals);
#if defined(__aarch64__) || defined(__arm__)
static const int sleeve_direct = 0200000; // O_DIRECT
#else
static const int sleeve_direct = 040000; // O_DIRECT
#endif
#endif
