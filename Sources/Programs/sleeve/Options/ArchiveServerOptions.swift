import ArgumentParser
import CoverLibrary
import CoverSources
import Platform

/// Which server answers for the Cover Art Archive.
struct ArchiveServerOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Use this server with the Cover Art Archive's API. (default: caa in $SLEEVE_SOURCE_BASE, else https://coverartarchive.org)",
            valueName: "url"))
    var coverArtArchive: String?

    func apply(to configuration: inout LibraryConfiguration) throws {
        if let coverArtArchive {
            configuration.coverArtArchive = try URL(coverArtArchive, option: "--cover-art-archive")
        } else if let base = try SourceOptions.bases()[.caa] {
            configuration.coverArtArchive = try URL(base, option: "$SLEEVE_SOURCE_BASE")
        }
    }
}
