import CommandSupport
import Platform

/// The running program.
enum Program {
    /// Its path.
    /// - Throws: An exit code, after an error message, if the system does not say.
    static var path: String {
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
}
