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

/// Says what went wrong on stderr, in one line, and ends with `code`.
func fail(_ message: String, _ code: ExitCode = ExitStatus.couldNotRun) -> ExitCode {
    Log.error(message)
    return code
}

/// Writes a command's result to stdout, or ends the command saying why not.
func tell(_ result: String) throws {
    // On a terminal the result stands after what was said before it.
    Log.flush()
    guard Terminal.standardOutput.write(result) else {
        throw fail("cannot write the result to stdout: \(String(cString: strerror(errno)))")
    }
}

/// Opens the library, or ends the command saying why not.
/// - Parameter makesCache: make one where there is none; else that is an error, as it is most likely a wrong name.
func openLibrary(_ configuration: LibraryConfiguration, makesCache: Bool = true) async throws -> LibraryAPI {
    if !makesCache, !CacheDirectory.isThere(configuration.cacheDirectory) {
        throw fail(
            "no cache at \(configuration.cacheDirectory): say where it is with --cache or $SLEEVE_CACHE; `sleeve prefetch` makes one"
        )
    }
    do {
        return try await LibraryAPI(configuration: configuration)
    } catch let error as LibraryError {
        throw fail(error.message)
    }
}
