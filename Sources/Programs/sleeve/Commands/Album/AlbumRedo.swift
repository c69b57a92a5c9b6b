import ArgumentParser
import CoverLibrary

struct AlbumRedo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "redo", _superCommandName: "sleeve album", abstract: "Redo the edit that was undone last.")

    @OptionGroup var editing: EditOptions

    func run() async throws {
        try await editing.edit(nothing: "there is nothing to redo", .redo) { try await $0.albums.redo() }
    }
}
