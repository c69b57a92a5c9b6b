import Platform

/// The executables of this package: `sleeve` and `sleeve-lab`, which are built into the same folder.
package enum Program {
    /// The path of the running program.
    /// - Throws: An exit code, after an error message, if the system does not say.
    package static var path: String {
        get throws {
            #if os(Linux)
                let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
            #else
                let path = Bundle.main.executablePath
            #endif
            guard let path else { throw fail("the path of this program is unknown") }
            return path
        }
    }

    /// The path of another program of this package, beside the running one.
    /// - Throws: An exit code, after an error message that says how to build it.
    package static func sibling(_ name: String) throws -> String {
        let folder = AtomicFile.directory(of: try path)
        guard access("\(folder)/\(name)", X_OK) == 0 else {
            throw fail(
                "this needs \(name), which is not in \(folder); in a checkout of Sleeve, Scripts/\(name) builds it")
        }
        return "\(folder)/\(name)"
    }
}
