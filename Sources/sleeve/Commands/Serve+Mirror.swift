import ArgumentParser
import CommandSupport
import CoverLibrary
import CoverMirror

/// `sleeve serve --mirror`.
extension Serve {
    func runMirror(of origin: String) async throws {
        var configuration = try options.configuration()
        try network.apply(to: &configuration)
        tier.apply(to: &configuration)
        let mirrorOptions = try mirrorOptions()
        let library = try await openLibrary(configuration)
        let mirror: Mirror
        let server: MirrorServer
        do {
            mirror = try Mirror(of: origin, in: library)
            server = try await MirrorServer.open(mirror, mirrorOptions, maximumBodySize: configuration.maximumSize)
        } catch {
            await library.close()
            if case LibraryError.invalidConfiguration = error { throw fail("\(error)", .validationFailure) }
            throw fail("\(error)")
        }
        try await serve(at: server.url, hint: options.quiet ? nil : "mirroring \(origin); press Ctrl-C to stop") {
            await server.close()
            mirror.close()
            await library.close()
        }
    }

    /// - Throws: `ValidationError` for an option that has no effect on a mirror.
    func validateMirror() throws {
        if base != nil {
            throw ValidationError("--base works only with the gallery; a mirror's path is that of --mirror")
        }
        if token != nil { throw ValidationError("--token works only with the gallery; a mirror has no password") }
        let galleryOptions = [
            ("--remote", remote != nil), ("--library", options.library != nil), ("--size", archive.size != nil),
            ("--cover-art-archive", archive.server.coverArtArchive != nil),
        ]
        for (name, isGiven) in galleryOptions where isGiven {
            throw ValidationError(
                "\(name) works only with the gallery; a mirror has no albums. Leave it out.")
        }
        if options.json {
            throw ValidationError("--json does nothing for a mirror. Leave it out, or use --log-format json.")
        }
        let forwarded = [
            ("--retries", network.retries != nil), ("--max-redirects", network.maxRedirects != nil),
            ("--allow-downgrade", network.allowDowngrade),
        ]
        for (name, isGiven) in forwarded where isGiven {
            throw ValidationError(
                "\(name) does nothing for a mirror, which passes failures and redirects to its clients. Leave it out.")
        }
        let limits = [
            ("--rate", network.rate != nil), ("--total-rate", network.totalRate != nil), ("--fixed", network.fixed),
        ]
        for (name, isGiven) in limits where isGiven {
            throw ValidationError(
                "\(name) does nothing for a mirror, whose clients set the pace. --per-host limits simultaneous requests."
            )
        }
    }

    private func mirrorOptions() throws -> MirrorOptions {
        var mirror = MirrorOptions()
        mirror.names = address.name
        address.apply(host: &mirror.host, port: &mirror.port)
        if !mirror.isLoopback, mirror.names.isEmpty {
            throw fail("\(MirrorError.needsName(host: mirror.host))", .validationFailure)
        }
        return mirror
    }
}
