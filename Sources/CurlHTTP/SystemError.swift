#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A system call that failed, by its name and `errno`.
package struct SystemError: Error, Sendable, Hashable, CustomStringConvertible {
    package var call: String
    package var number: Int32

    /// Reads `errno`.
    init(_ call: String) {
        self.call = call
        number = errno
    }

    /// For example "pipe: Too many open files".
    package var description: String { "\(call): \(String(cString: strerror(number)))" }
}
