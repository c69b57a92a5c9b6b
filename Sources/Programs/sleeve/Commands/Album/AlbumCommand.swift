import ArgumentParser
import CoverLibrary

struct AlbumCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "album",
        abstract: "List, show, add, edit, delete, import and export the albums of your library.",
        discussion: """
            Name an ALBUM by its number in the list, its title or its id. If that matches several albums, write number:3, \
            title:3 or id:3.

            Every edit is saved immediately. It can be undone, even after a restart, whether this command or the gallery made it.

              sleeve album list
              sleeve album add --title "Low Tide" --year 1971 --cover-url https://…
              sleeve album edit 3 --year 1972 --cover-url https://…
              sleeve album delete 3
              sleeve album undo
              sleeve album import more.csv
              sleeve album list --json | sleeve prefetch -
            """,
        subcommands: [
            AlbumList.self, AlbumShow.self, AlbumAdd.self, AlbumChange.self, AlbumDelete.self, AlbumUndo.self,
            AlbumRedo.self, AlbumImport.self, AlbumExport.self, AlbumRemote.self,
        ])
}
