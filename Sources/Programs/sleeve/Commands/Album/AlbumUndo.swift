import ArgumentParser
import CoverLibrary

struct AlbumUndo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "undo", _superCommandName: "sleeve album",
        abstract: "Undo the last edit; again, the one before it.")

    @OptionGroup var editing: EditOptions

    func run() async throws {
        try await editing.edit(nothing: "there is nothing to undo", .undo) { try await $0.albums.undo() }
    }
}
