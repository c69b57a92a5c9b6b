import ArgumentParser
import CommandSupport
import CoverLibrary
import MusicFolder
import Platform

struct Export: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", _superCommandName: "sleeve",
        abstract: "Write covers as files, of any size, for players.",
        discussion: """
              sleeve export ~/Covers
              sleeve export /media/player --size 300 --as '{albumartist}/{album}.jpg'
              sleeve export /srv/covers --as '{albumartist}/{album}/folder.{ext}' --prune

            Nothing is downloaded: run `sleeve prefetch` before. For covers beside your music, use `sleeve fill`, which knows the albums' \
            folders; to carry the cache to another machine, `sleeve cache pack`.

            The fields of --as are {albumartist} or {artist}, {album} or {title}, {year}, {genre}, {id}, {releaseid} (MusicBrainz, \
            else the id), {digest} and {ext}, the extension by the picture's type. A name that ends with .jpg or another \
            picture's extension takes pictures of this type only; the others are reported. Names are made safe for Linux, macOS and Windows; \
            equal names are numbered, the oldest album first. Navidrome looks for cover.*, Jellyfin for \
            folder.*, Kodi for folder.jpg; Rockbox reads cover.jpg of --size 300.

            With --size the files are baseline JPEG, turned upright, never enlarged. GIF, AVIF, JPEG XL, HEIC, SVG and animations are \
            written as they are, or reported where the name ends with .jpg.

            Only what changed is written, whatever the times of the files say; .sleeve-export.jsonl in the folder marks it. A file that no export \
            of this library wrote, or that was changed since, is never replaced or removed. Where the file \
            system can, a file shares its blocks with the cache's (reflink).

            Exits with 3 if an album's cover is not cached, or a file could not be written or is another one.
            """)

    @Argument(help: ArgumentHelp("The folder; created if it is missing.", valueName: "dir"), completion: .directory)
    var directory: String

    @OptionGroup(title: "What to write") var what: What
    @OptionGroup var progress: ProgressOptions
    @OptionGroup var keys: KeyOptions
    @OptionGroup(visibility: .hidden) var archive: ArchiveServerOptions
    @OptionGroup var options: LibraryOptions

    struct What: ParsableArguments {
        @Option(
            name: .customLong("as"),
            help: ArgumentHelp(
                "The name of each file in the folder.", valueName: "pattern"))
        var pattern = ExportPattern.standard

        @Option(help: ArgumentHelp("The longest side of the pictures. (default: as they are)", valueName: "pixels"))
        var size: Int?

        @Flag(help: "Remove files that exports of this library wrote for albums and names that are gone.")
        var prune = false

        @Flag(help: "Print what would be done, and do nothing.")
        var dryRun = false
    }

    func validate() throws {
        if directory.isEmpty { throw ValidationError("Name the folder to write to.") }
        if let size = what.size, size < 1 { throw ValidationError("--size needs at least 1 pixel.") }
        _ = try exportOptions()
    }

    private func exportOptions() throws -> ExportOptions {
        do throws(ExportPattern.Problem) {
            var options = ExportOptions(try ExportPattern(what.pattern))
            (options.longestSide, options.prunes, options.isDryRun) = (what.size, what.prune, what.dryRun)
            return options
        } catch {
            throw ValidationError("--as: \(error)")
        }
    }

    func run() async throws {
        var configuration = try options.configuration()
        keys.apply(to: &configuration)
        try archive.apply(to: &configuration)
        let export = try exportOptions()
        try await withLibrary(configuration, createsCache: false) { library in
            _ = try await library.existingAlbums()
            warn(configuration)
            let failures = MessageList()
            let (directory, lists) = (directory, what.dryRun && !options.json && !options.quiet)
            let start = ContinuousClock.now
            let summary = try await withProgress(ExportSummary(), every: progress.interval(options), Self.progress) {
                progress in
                try await library.export(
                    export, to: directory,
                    onEvent: { event in
                        if lists, let line = event.plannedLine { return _ = try? printLine(line) }
                        if let message = event.failure { failures.add(message) }
                    }, progress: progress)
            }
            failures.end()
            if let reason = summary.stopReason { Log.error(reason) }
            let time = ContinuousClock.now - start
            try options.printResult(
                Summary(summary, seconds: time / .seconds(1), self), text: text(summary, time))
            try stopIfSignalled()
            if summary.stopReason != nil, summary.written + summary.unchanged == 0 { throw ExitStatus.couldNotRun }
            let isComplete = summary.missing + summary.failed + summary.kept == 0
            if !isComplete || summary.stopReason != nil { throw ExitStatus.someFailed }
        }
    }

    /// Says what a person may not expect of the folder.
    private func warn(_ configuration: LibraryConfiguration) {
        // It may be new.
        let folder = BytePath(directory).resolved ?? BytePath(FilePath.directory(of: directory)).resolved
        guard let folder,
            let roots = try? MusicState.existing(of: configuration.libraryPath)?.roots(),
            let root = roots.first(where: { folder.isInside($0) })
        else {
            return
        }
        Log.warning(
            "\(directory) is in the music folder \(root): files go where their names say, which may not be the albums' folders; `sleeve fill` writes beside the music"
        )
    }

    /// A dry run makes no smaller pictures.
    private var hasUnknownSize: Bool { what.dryRun && what.size != nil }

    private static func progress(_ summary: ExportSummary) -> [String] {
        ["\(Decimals.count(summary.written, "cover")) written, \(Decimals.grouped(summary.unchanged)) unchanged"]
    }

    private func text(_ summary: ExportSummary, _ time: Duration) -> String {
        var text = what.dryRun ? "Would write " : "Wrote "
        text += "\(Decimals.count(summary.written, "cover")) to \(directory.withoutControls)"
        if summary.written > 0, !hasUnknownSize { text += " (\(ByteSize(summary.bytes)))" }
        text += ", \(Decimals.grouped(summary.unchanged)) unchanged, in \(Decimals.text(time / .seconds(1), 2)) s.\n"
        if summary.missing > 0 {
            let verb = summary.missing == 1 ? "has" : "have"
            text +=
                "\(Decimals.count(summary.missing, "album")) \(verb) no cached cover; `sleeve prefetch` downloads those with a URL, `sleeve fill` finds others.\n"
        }
        if summary.kept > 0 {
            text += "\(Decimals.count(summary.kept, "file")) kept that no export wrote, or that was changed since.\n"
        }
        if summary.outdated > 0 {
            let files = "\(Decimals.count(summary.outdated, "file")) of albums or names that are gone"
            text +=
                what.prune
                ? "\(what.dryRun ? "Would remove" : "Removed") \(files).\n" : "\(files): --prune removes them.\n"
        }
        return text
    }

    private struct Summary: Encodable {
        let albums, written, unchanged, kept, missing, failed, outdated: Int
        let bytes: Int?
        let seconds: Double
        let dryRun: Bool
        let stopReason: String?

        init(_ summary: ExportSummary, seconds: Double, _ export: Export) {
            (albums, written, unchanged) = (summary.albums, summary.written, summary.unchanged)
            (kept, missing, failed, outdated) = (summary.kept, summary.missing, summary.failed, summary.outdated)
            bytes = export.hasUnknownSize ? nil : summary.bytes
            (self.seconds, dryRun, stopReason) = (seconds, export.what.dryRun, summary.stopReason)
        }
    }
}

extension ExportEvent {
    /// A line of a dry run's output.
    fileprivate var plannedLine: String? {
        switch self {
        case .written(let path, let isNew): "\(isNew ? "write" : "replace")  \(path)"
        case .removed(let path): "remove  \(path)"
        default: nil
        }
    }

    /// A warning about a file that is not as the library has it.
    fileprivate var failure: String? {
        switch self {
        case .kept(let path, let reason): "\(path): kept: \(reason)"
        case .failed(let path, let reason): "\(path): not written: \(reason)"
        default: nil
        }
    }
}
