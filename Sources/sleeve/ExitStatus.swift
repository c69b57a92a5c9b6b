import ArgumentParser
import CoverCache
import CoverLibrary

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The exit codes of the command-line contract.
enum ExitStatus {
    static let couldNotRun = ExitCode(1)
    static let someFailed = ExitCode(3)
    static let tryLater = ExitCode(75)
    static func stopped(by signal: Int32) -> ExitCode { ExitCode(128 + signal) }
}

/// Writes an error to stderr, in one line. - Returns: the exit code to throw.
func fail(_ message: String, _ code: ExitCode = ExitStatus.couldNotRun) -> ExitCode {
    Log.error(message)
    return code
}

/// Writes a command's result to stdout. - Throws: an exit code, after an error message.
func tell(_ result: String) throws {
    // On a terminal the result stands after what was said before it.
    Log.flush()
    guard Terminal.standardOutput.write(result) else {
        throw fail("cannot write the result to stdout: \(String(cString: strerror(errno)))")
    }
}

/// Opens the library.
/// - Parameter makesCache: create a missing cache; else it is an error, as the path is most likely wrong.
/// - Throws: an exit code, after an error message.
func openLibrary(_ configuration: LibraryConfiguration, makesCache: Bool = true) async throws -> LibraryAPI {
    if !makesCache, !CacheDirectory.exists(configuration.cacheDirectory) {
        throw fail(
            "no cache at \(configuration.cacheDirectory): name it with --cache or $SLEEVE_CACHE; `sleeve prefetch` creates one"
        )
    }
    do {
        return try await LibraryAPI(configuration: configuration)
    } catch let error as LibraryError {
        throw fail(error.message)
    }
}
