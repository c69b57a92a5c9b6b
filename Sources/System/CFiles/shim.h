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

// The same with RENAME_EXCHANGE: both names stay, each with the other's file.
static inline int sleeve_rename_exchanging(int from_folder, const char *from, int to_folder, const char *to) {
    return (int)syscall(__NR_renameat2, from_folder, from, to_folder, to, 2U);
}

// F_OFD_SETLK, F_SETLEASE and F_SETSIG of fcntl(2), which only GNU's <fcntl.h> has.
static const int sleeve_set_lock = 37;
static const int sleeve_set_lease = 1024;
static const int sleeve_set_signal = 10;

// FS_IOC_GETFLAGS and two of its flags (ioctl_iflags(2)).
static const unsigned long sleeve_append_only = 0x20, sleeve_immutable = 0x10;
static inline int sleeve_get_flags(int file, unsigned long *flags) {
    return (int)syscall(__NR_ioctl, file, _IOR('f', 1, long), flags);
}

// FS_IOC_GETFSUUID of Linux 6.9: a length and up to 16 bytes.
struct sleeve_uuid { unsigned char length, bytes[16]; };
static inline int sleeve_get_uuid(int file, struct sleeve_uuid *uuid) {
    return (int)syscall(__NR_ioctl, file, _IOR(0x15, 0, struct sleeve_uuid), uuid);
}

// fstatfs(2) of 64-bit systems, whose struct begins with these words: f_type, and six words later f_fsid.
static inline int sleeve_file_system(int file, unsigned long *type, unsigned long *id) {
    unsigned long status[32];
    if (syscall(__NR_fstatfs, file, status) != 0) return -1;
    *type = status[0], *id = status[7];
    return 0;
}

// ioctl_ficlone(2). <linux/fs.h>, which defines FICLONE, conflicts with <sys/mount.h> of some C libraries.
static inline int sleeve_clone(int target, int source) {
    return (int)syscall(__NR_ioctl, target, _IOW(0x94, 9, int), source);
}
#endif
