import ArgumentParser
import CommandSupport
import CoverLibrary
import Platform

/// Opens the library.
/// - Parameter createsCache: Create a missing cache. Otherwise a missing cache is an error: most likely the path is wrong.
/// - Throws: An exit code, after an error message.
func openLibrary(_ configuration: LibraryConfiguration, createsCache: Bool = true) async throws -> LibraryAPI {
    if !createsCache, !LibraryAPI.hasCache(at: configuration.cacheDirectory) {
        throw fail(
            "no cache at \(configuration.cachePath): name it with --cache or $SLEEVE_CACHE; `sleeve prefetch` creates one"
        )
    }
    if !createsCache { try requirePermission(configuration.cachePath) }
    return try await LibraryAPI(configuration: configuration.withAuthoritiesOfEnvironment)
}

extension LibraryConfiguration {
    /// The same with the certificate authorities that variables name for curl, unless an option has named some. A file that cannot be read
    /// matters only to what needs it.
    fileprivate var withAuthoritiesOfEnvironment: LibraryConfiguration {
        if certificateAuthorities != nil { return self }
        var configuration = self
        if let bundle = Environment.value("CURL_CA_BUNDLE") {
            configuration.certificateAuthorities = URL(filePath: bundle)
            return configuration
        }
        configuration.certificateAuthorities = Environment.value("SSL_CERT_FILE").map { URL(filePath: $0) }
        // OpenSSL takes several.
        let folders = Environment.value("SSL_CERT_DIR")?.split(separator: ":").map { URL(filePath: String($0)).path }
        configuration.certificateDirectory = folders.map { URL(filePath: $0.joined(separator: ":")) }
        return configuration
    }
}

/// Checks that an existing cache may be used by this user. Opening it would create what is missing.
/// - Throws: An exit code, after an error message.
private func requirePermission(_ cache: String) throws {
    for path in [cache, cache + "/index.sqlite3", cache + "/covers"] {
        guard access(path, R_OK | W_OK) != 0, errno == EACCES || errno == EPERM else { continue }
        let reason = SystemError("access").reason
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        let owner = attributes?[.ownerAccountName] as? String
        let advice =
            attributes?[.ownerAccountID] as? UInt == UInt(geteuid())
            ? "it is yours: `chmod -R u+rwX \(cache)` gives the permission"
            : owner.map { "it belongs to \($0): run the command as \($0)" } ?? "run the command as its owner"
        throw fail("cannot read \(path): \(reason); reading a cache needs write permission, too; \(advice)")
    }
}

/// Opens the library for `body` and closes it.
/// - Throws: An exit code, after an error message.
func withLibrary(
    _ configuration: LibraryConfiguration, createsCache: Bool = true,
    _ body: (LibraryAPI) async throws -> Void
) async throws {
    let library = try await openLibrary(configuration, createsCache: createsCache)
    try await library.closingOnError { try await body(library) }
    await library.close()
}

/// Opens the library for `body`, which needs the library file, and closes it.
/// - Throws: An exit code, after an error message.
func withAlbums(_ configuration: LibraryConfiguration, _ body: (LibraryAPI) async throws -> Void) async throws {
    try configuration.requireLibraryFile()
    try await withLibrary(configuration, body)
}

extension LibraryAPI {
    /// The albums of the library file, for commands that do not create it.
    /// - Throws: An exit code, after an error message, if there is no such file; `LibraryError` if it cannot be read.
    func existingAlbums() async throws -> [Album] {
        try configuration.requireLibraryFile()
        // Reading the albums would create the file.
        guard FileManager.default.fileExists(atPath: configuration.libraryPath) else {
            throw fail(
                "no library file at \(configuration.libraryPath): name it with --library or $SLEEVE_LIBRARY; `sleeve serve` and `sleeve album add` create one"
            )
        }
        return try await albums.all()
    }
}
