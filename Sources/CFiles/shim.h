// Calls on files that Swift's Glibc module leaves out; empty elsewhere. Declared here and not included: headers of the C library, read
// as a part of this module, would take their types away from Glibc.
#pragma once
#ifdef __linux__
#include <asm/ioctl.h>
#include <asm/unistd.h>

extern int syncfs(int descriptor);
extern long syscall(long number, ...);
extern __PTRDIFF_TYPE__ flistxattr(int descriptor, char *names, __SIZE_TYPE__ size);
extern __PTRDIFF_TYPE__ fgetxattr(int descriptor, const char *name, void *value, __SIZE_TYPE__ size);
extern int fsetxattr(int descriptor, const char *name, const void *value, __SIZE_TYPE__ size, int flags);
extern int fremovexattr(int descriptor, const char *name);

// O_PATH of asm-generic/fcntl.h, which conflicts with <fcntl.h>.
static const int sleeve_path_only = 010000000;

// renameat2(2) with RENAME_NOREPLACE. Not every C library has it.
static inline int sleeve_rename_exclusively(int from_folder, const char *from, int to_folder, const char *to) {
    return (int)syscall(__NR_renameat2, from_folder, from, to_folder, to, 1U);
}

// ioctl_ficlone(2). <linux/fs.h>, which defines FICLONE, conflicts with <sys/mount.h> of some C libraries.
static inline int sleeve_clone(int target, int source) {
    return (int)syscall(__NR_ioctl, target, _IOW(0x94, 9, int), source);
}
#endif
