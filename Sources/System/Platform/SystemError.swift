/// A failed system call.
package struct SystemError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The call or the operation, such as "pipe" or "write".
    package var call: String
    /// The file that the call was about.
    package var path: String?
    /// The call's `errno`.
    package var number: Int32

    /// - Parameter number: `errno` by default.
    package init(_ call: String, path: String? = nil, number: Int32 = errno) {
        self.number = number
        self.call = call
        self.path = path
    }

    /// The text of `errno`, for example "Too many open files".
    package var reason: String { String(cString: strerror(number)) }

    /// For example "pipe: Too many open files" or "open /a/b: Permission denied".
    package var description: String { "\(call)\(path.map { " \($0)" } ?? ""): \(reason)" }
}
