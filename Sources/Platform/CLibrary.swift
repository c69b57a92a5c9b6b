// The C library, whatever it is called on the system: open(2), errno, getpid(2).
#if canImport(Glibc)
    @_exported public import Glibc
#elseif canImport(Darwin)
    @_exported public import Darwin
#endif
