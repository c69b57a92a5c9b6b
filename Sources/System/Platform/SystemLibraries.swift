// The C library, whatever it is called on the system: open(2), errno, getpid(2).
#if canImport(Glibc)
    @_exported public import Glibc
#elseif canImport(Musl)
    @_exported public import Musl
#else
    @_exported public import Darwin
#endif

// Foundation without ICU, where that is a separate module: URL, Data, Date.
#if canImport(FoundationEssentials)
    @_exported public import FoundationEssentials
#else
    @_exported public import Foundation
#endif
