import ArgumentParser
import CoverLibrary

struct AlbumCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "album",
        abstract: "The albums of your library: list, add, edit, delete, undo, import, scan folders.",
        discussion: """
              sleeve album list
              sleeve album add --title "Low Tide" --year 1971 --cover-url https://…
              sleeve album scan ~/Music

            Name an ALBUM by its number in the list, its title, its id or its folder. If that matches several albums, write number:3, \
            title:3 or id:3.

            Every edit is saved immediately. It can be undone, even after a restart, whether this command or the gallery made it.
            """,
        subcommands: [
            AlbumList.self, AlbumShow.self, AlbumAdd.self, AlbumChange.self, AlbumDelete.self, AlbumUndo.self,
            AlbumRedo.self, AlbumImport.self, AlbumScan.self, AlbumRemote.self,
        ])
}
