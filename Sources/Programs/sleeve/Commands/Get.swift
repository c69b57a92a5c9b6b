import ArgumentParser
import CommandSupport
import CoverLibrary
import Logging
import Platform

struct Get: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get", _superCommandName: "sleeve",
        abstract: "Write one cover to a file or stdout.",
        discussion: """
              sleeve get https://example.org/cover.jpg -o cover.jpg
              sleeve get --size 300 https://example.org/cover.jpg -o small.jpg
              sleeve get --offline https://example.org/cover.jpg | file -
              sleeve get --album "The Harbour Lights - Low Tide" -o cover.jpg
              notify-send "Low Tide" --icon "$(sleeve get --path "$url")"

            A cached cover is written without a request, even if it is stale (a note on stderr says so). If its server forbids \
            that (must-revalidate, no-cache), it is revalidated first, and --offline fails.

            --path prints the path of the cover's file in the cache, for programs that read pictures from files. Do not change the file; it \
            is there until the cover is evicted or replaced.

            --size makes a smaller picture: a baseline JPEG, turned upright, never enlarged. A cover that is one already, or that \
            cannot be made smaller (GIF, AVIF, JPEG XL, HEIC, SVG, damaged), is written as it is. The sizes 150, 300, 600 and 1200 are \
            kept in the cache.

            --album takes the file beside the album's music, if that is yours, else the first of its URLs that is cached, else the first from \
            which it can be downloaded, else the file that `sleeve fill` wrote.

            Exits with 3 if the cover could not be downloaded or, with --offline, is not cached.
            """)

    @Argument(help: "The cover's URL.")
    var url: String?

    @OptionGroup(title: "What to get") var what: What
    @OptionGroup(title: "Network") var network: NetworkOptions
    @OptionGroup(title: "Cache and library") var store: CapacityOptions
    @OptionGroup var options: LibraryOptions

    struct What: ParsableArguments {
        @Option(
            help: ArgumentHelp(
                "The cover of this album: its number, title, id, or “artist - title”.", valueName: "album"))
        var album: AlbumReference?

        @Option(
            name: .shortAndLong, help: ArgumentHelp("Write the cover to this file.", valueName: "file"),
            completion: .file()
        )
        var output: String?

        @Flag(help: "Print the path of the cover's file in the cache.")
        var path = false

        @Option(
            help: ArgumentHelp(
                "The longest side of the picture, or full. (default: the cover as it is; from the Cover Art Archive 500)",
                valueName: "pixels"))
        var size: PictureSize?

        @OptionGroup var absences: AbsenceOptions
        @OptionGroup(visibility: .hidden) var archive: ArchiveServerOptions
        @OptionGroup var keys: KeyOptions
        @OptionGroup var headers: HeaderOptions
    }

    func validate() throws {
        if (url == nil) == (what.album == nil) {
            throw ValidationError("Name one cover: by a URL, or by --album.")
        }
        if what.path {
            if let side = what.size?.pixels, !LibraryAPI.keptSizes.contains(side) {
                throw ValidationError(
                    "With --path, --size is one of \(LibraryAPI.keptSizes.map(String.init).joined(separator: ", ")).")
            }
            if what.output != nil { throw ValidationError("Use either --path or --output.") }
            return
        }
        if what.output ?? "-" == "-", Terminal.standardOutput.isInteractive {
            throw ValidationError("Cannot write an image to a terminal; use -o FILE or a pipe.")
        }
        if what.output ?? "-" == "-", options.json {
            throw ValidationError("--json writes to stdout; use -o FILE for the cover.")
        }
    }

    func run() async throws {
        var configuration = try options.configuration()
        try network.apply(to: &configuration)
        what.keys.apply(to: &configuration)
        store.apply(to: &configuration)
        try what.archive.apply(to: &configuration)
        let headerFields = try what.headers.fields()
        if let size = what.size { configuration.coverSize = size.inArchive }
        try configuration.check(output: what.output, "--output")
        try await withLibrary(configuration, createsCache: !network.offline) { library in
            try await get(from: library, headerFields)
        }
    }

    private func get(from library: LibraryAPI, _ headerFields: RequestHeaderFields) async throws {
        let album = try await what.album?.album(in: library.existingAlbums(), of: library)
        let work = Task {
            guard let album else {
                return try await cover(
                    CoverRequest(location: url ?? "", cachePolicy: what.absences.cachePolicy), headerFields, library)
            }
            return try await library.cover(of: album, what.absences.cachePolicy) {
                request async throws(CoverFailure) in try await cover(request, headerFields, library)
            }
        }
        Signals.handle { _ in work.cancel() }
        do {
            var cover = try await work.value
            let original = cover.digest
            if cover.url.isFileURL, let side = what.size?.pixels { cover = cover.resized(longestSide: side) }
            let file = what.path ? try await file(cover, isOriginal: cover.digest == original, in: library) : nil
            if !what.path { try write(cover) }
            if cover.isStale {
                let remedy = cover.lacksAddress ? "a prefetch of the list with its whole address" : "`sleeve refresh`"
                library.configuration.logger.notice(
                    "\(url ?? cover.key): this cached copy is stale; \(remedy) checks it for changes")
            }
            if options.json {
                try printJSON(CoverResult(cover, path: file))
            } else if let file {
                try printResult(file + "\n")
            }
        } catch let failure as CoverFailure {
            try stopIfSignalled()
            if let album, failure.kind == .badURL, failure.url.isEmpty {
                throw fail("\(album.shortName): the library has no address of its cover; `sleeve fill` looks for one")
            }
            throw fail(
                failure.advice,
                [.badURL, .cache].contains(failure.kind) ? ExitStatus.couldNotRun : ExitStatus.someFailed)
        }
    }

    private func cover(
        _ request: CoverRequest, _ headerFields: RequestHeaderFields, _ library: LibraryAPI
    ) async throws(CoverFailure) -> Cover {
        var request = request
        request.headerFields = headerFields
        guard let side = what.size?.pixels else { return try await library.cover(for: request) }
        return try await library.cover(for: request, within: side)
    }

    /// The path of the cover's file.
    /// - Parameter isOriginal: Whether it was not made smaller.
    private func file(_ cover: Cover, isOriginal: Bool, in library: LibraryAPI) async throws -> String {
        if cover.url.isFileURL {
            if isOriginal { return cover.url.path(percentEncoded: false) }
            throw CoverFailure(
                .notStorable, url: cover.key,
                detail: "the cache keeps no sizes of a file beside the music; use --output"
            )
        }
        if let file = try await library.coverFile(for: cover.key, longestSide: what.size?.pixels) { return file }
        throw CoverFailure(
            .notStorable, url: cover.key, detail: "the cover has no file, as its server forbids keeping it (no-store)")
    }

    private func write(_ cover: Cover) throws {
        if let output = what.output, output != "-" { return try OutputFile.write(Array(cover.data), to: output) }
        guard Terminal.standardOutput.write(Array(cover.data)) else {
            if errno == EPIPE { throw ExitStatus.stopped(by: SIGPIPE) }
            throw fail("cannot write the cover to stdout: \(SystemError("write").reason)")
        }
    }
}

/// The size of a picture: that of its longest side in pixels, or as it is.
struct PictureSize: ExpressibleByArgument {
    /// Nil for the picture as it is.
    var pixels: Int?

    init?(argument: String) {
        if argument == "full" { return }
        guard let pixels = Int(argument), pixels > 0 else { return nil }
        self.pixels = pixels
    }

    /// The smallest size of the Cover Art Archive that is no smaller.
    var inArchive: CoverSize {
        switch pixels {
        case (...250)?: .pixels250
        case (...500)?: .pixels500
        case (...1_200)?: .pixels1200
        default: .full
        }
    }
}
