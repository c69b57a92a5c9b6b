import Platform

extension LibraryAPI {
    /// Runs `body` with a library for tests: its cache is in a new temporary folder, its requests go to `transport`, and nothing is retried.
    /// Closes it and removes the folder afterwards.
    /// - Parameters:
    ///   - transport: what answers in place of servers.
    ///   - isolation: of `body`: the caller's.
    ///   - configure: changes the configuration before the library opens.
    ///   - body: uses the library.
    /// - Throws: `LibraryError` if the folder cannot be used, or the error of `body`.
    public static func withTemporaryLibrary<Result>(
        transport: any CoverTransport, isolation: isolated (any Actor)? = #isolation,
        configure: (inout LibraryConfiguration) -> Void = { _ in }, _ body: (LibraryAPI) async throws -> Result
    ) async throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appending(path: "sleeve-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        var configuration = LibraryConfiguration(
            cacheDirectory: folder.appending(path: "cache"), libraryFile: folder.appending(path: "albums.json"))
        (configuration.transport, configuration.retries) = (transport, 0)
        configure(&configuration)
        let library = try await LibraryAPI(configuration: configuration)
        let result = try await library.closingOnError { try await body(library) }
        await library.close()
        return result
    }

    /// Runs `body`, and closes the library if that throws.
    package func closingOnError<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async throws -> Result {
        do {
            return try await body()
        } catch {
            await close()
            throw error
        }
    }
}
