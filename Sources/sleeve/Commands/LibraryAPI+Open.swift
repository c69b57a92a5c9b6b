import ArgumentParser
import CoverLibrary

/// Opens the library.
/// - Parameter createsCache: Create a missing cache. Otherwise a missing cache is an error: most likely the path is wrong.
/// - Throws: An exit code, after an error message.
func openLibrary(_ configuration: LibraryConfiguration, createsCache: Bool = true) async throws -> LibraryAPI {
    if !createsCache, !LibraryAPI.hasCache(at: configuration.cacheDirectory) {
        throw fail(
            "no cache at \(configuration.cachePath): name it with --cache or $SLEEVE_CACHE; `sleeve prefetch` creates one"
        )
    }
    do throws(LibraryError) {
        return try await LibraryAPI(configuration: configuration)
    } catch {
        throw fail(error.message)
    }
}

/// Opens the library for `body` and closes it.
/// - Throws: An exit code, after an error message.
func withLibrary(
    _ configuration: LibraryConfiguration, createsCache: Bool = true, _ body: (LibraryAPI) async throws -> Void
) async throws {
    let library = try await openLibrary(configuration, createsCache: createsCache)
    do {
        try await body(library)
    } catch {
        await library.close()
        if let error = error as? LibraryError { throw fail(error.message) }
        throw error
    }
    await library.close()
}

/// Opens the library for `body`, which needs the library file, and closes it.
/// - Throws: An exit code, after an error message.
func withAlbums(_ configuration: LibraryConfiguration, _ body: (LibraryAPI) async throws -> Void) async throws {
    try configuration.requireLibraryFile()
    try await withLibrary(configuration, body)
}
