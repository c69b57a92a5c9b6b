import CommandSupport
import CoverGallery
import CoverLibrary
import MusicFolder
import Platform

/// A command that a page of the gallery starts. It is a process of its own, with the locks, the signals and the messages that it has on a
/// terminal.
struct CommandRun: GalleryRun {
    let name: String
    /// Its options: those that name the cache and the library, and those of requests that this program was given.
    let options: [String]
    /// The command's other arguments; nil if it can do nothing.
    let arguments: @Sendable () -> [String]?

    var isPossible: Bool { arguments() != nil }

    /// How often the progress is read.
    private static let interval = Duration.milliseconds(500)

    func run(_ report: @escaping @Sendable (String) async -> Void) async -> String {
        do {
            guard let arguments = arguments() else { return "There is nothing to do." }
            let folder = try TemporaryFolder(
                in: FileManager.default.temporaryDirectory.relativePath, name: "sleeve-\(name)")
            defer { folder.removeAll() }
            let words = [try Program.path, name] + arguments + options + ["--progress-interval", "1s"]
            return try await Self.run(words, in: folder, report)
        } catch {
            return "It could not be started: \(error)."
        }
    }

    private static func run(
        _ words: [String], in folder: TemporaryFolder, _ report: @escaping @Sendable (String) async -> Void
    ) async throws -> String {
        @Sendable func lines(of file: String) -> [String] {
            folder.text(of: file).split(whereSeparator: \.isNewline).map(String.init)
        }
        let (output, errors) = (try folder.create("results"), try folder.create("messages"))
        defer { for file in [output, errors] { close(file) } }
        // A shell that starts this program in the background has it ignore SIGINT, and so its children.
        let children = ChildProcesses(haveOwnGroups: true)
        let child = try children.start(words, output: output, errors: errors)
        let exit = Task { await children.end(of: child) }
        return await withTaskCancellationHandler {
            let reading = Task {
                while (try? await Task.sleep(for: interval)) != nil {
                    if let line = lines(of: "messages").last { await report(line) }
                }
            }
            let status = await exit.value.status
            reading.cancel()
            await reading.value
            let outcome = lines(of: "results")
            if !outcome.isEmpty { return outcome.joined(separator: " ") }
            return lines(of: "messages").last ?? (status == 0 ? "Done." : "It ended with exit code \(status).")
        } onCancel: {
            children.stop()
        }
    }
}

extension Serve {
    /// What the gallery's pages can start.
    func runs(_ configuration: LibraryConfiguration) -> [any GalleryRun] {
        let capacity = configuration.capacity.map { ["--capacity", "\($0)"] } ?? []
        let common = ["--cache", configuration.cacheDirectory.relativePath] + network.words + capacity
        let tier = configuration.tier.map {
            ["--tier", $0] + (configuration.isTierReadOnly ? ["--tier-read-only"] : [])
        }
        let refresh = CommandRun(name: "refresh", options: common + (tier ?? [])) { configuration.isOffline ? nil : [] }
        let library = configuration.libraryFile == nil ? [] : ["--library", configuration.libraryPath]
        let archive = archive.server.coverArtArchive.map { ["--source-base", "caa=\($0)"] } ?? []
        // The folders and the options of the last fill; its own options count, and those of requests that this program was given.
        let fill = CommandRun(name: "fill", options: common + library + archive) {
            guard configuration.libraryFile != nil, !configuration.isOffline else { return nil }
            if let last = MusicState.lastFill(of: configuration.libraryPath) {
                return last.options + last.folders.map { "\($0)" }
            }
            let roots = MusicState.roots(of: configuration.libraryPath)
            return roots.isEmpty ? nil : roots.map { "\($0)" }
        }
        return [refresh, fill]
    }
}
