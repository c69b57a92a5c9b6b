import ArgumentParser
import CoverLibrary
import CoverSources
import Platform

/// Options for albums that locate their cover by a MusicBrainz id.
struct ArchiveOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Size of covers from the Cover Art Archive, in pixels: 250, 500, 1200 or full. Default: 500.",
            valueName: "pixels"), transform: Self.coverSize)
    var size: CoverSize?

    @Option(
        help: ArgumentHelp(
            "Use this server with the Cover Art Archive's API. Default: caa in $SLEEVE_SOURCE_BASE, else https://coverartarchive.org.",
            valueName: "url"))
    var coverArtArchive: String?

    func apply(to configuration: inout LibraryConfiguration) throws {
        if let size { configuration.coverSize = size }
        if let coverArtArchive {
            configuration.coverArtArchive = try URL(coverArtArchive, option: "--cover-art-archive")
        } else if let base = try SourceOptions.bases()[.caa] {
            configuration.coverArtArchive = try URL(base, option: "$SLEEVE_SOURCE_BASE")
        }
    }

    private static func coverSize(_ text: String) throws -> CoverSize {
        guard let size = CoverSize(rawValue: text) else {
            throw ValidationError("--size must be one of \(CoverSize.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return size
    }
}
