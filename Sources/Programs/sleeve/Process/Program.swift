import CommandSupport
import Platform

/// The running program.
enum Program {
    /// A path that starts it again. On Linux it leads to the file that is running, even if an upgrade has replaced or removed that.
    /// - Throws: An exit code, after an error message, if the system does not say.
    static var path: String {
        get throws {
            #if os(Linux)
                return "/proc/self/exe"
            #else
                guard let path = Bundle.main.executablePath else { throw fail("the path of this program is unknown") }
                return path
            #endif
        }
    }
}
