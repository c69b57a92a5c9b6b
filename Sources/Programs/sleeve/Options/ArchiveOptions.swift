import ArgumentParser
import CoverLibrary

/// Options for albums that locate their cover by a MusicBrainz id.
struct ArchiveOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Covers of this size from the Cover Art Archive: 250, 500, 1200 or full. (default: 500)",
            valueName: "pixels"), transform: Self.coverSize)
    var size: CoverSize?

    @OptionGroup(visibility: .hidden) var server: ArchiveServerOptions

    func apply(to configuration: inout LibraryConfiguration) throws {
        if let size { configuration.coverSize = size }
        try server.apply(to: &configuration)
    }

    private static func coverSize(_ text: String) throws -> CoverSize {
        guard let size = CoverSize(rawValue: text) else {
            throw ValidationError("--size must be one of \(CoverSize.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return size
    }
}
