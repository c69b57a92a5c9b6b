import ArgumentParser
import CoverLibrary

struct AlbumDelete: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", _superCommandName: "sleeve album", abstract: "Delete albums from the library.",
        discussion: """
            `sleeve album undo` restores them. Cached covers are kept.

              sleeve album delete "Night Ferry"
              sleeve album delete 3 4 title:1999
            """)

    @Argument(help: "Numbers, titles, ids or folders of albums.")
    var albums: [AlbumReference]

    @OptionGroup var editing: EditOptions

    func run() async throws {
        try await editing.edit(nothing: "another program has deleted them already") { library in
            let all = try await library.albums.all()
            return try await library.albums.delete(albums.map { try $0.album(in: all, of: library).id })
        }
    }
}
