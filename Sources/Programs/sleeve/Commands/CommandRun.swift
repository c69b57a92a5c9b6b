import CommandSupport
import CoverGallery
import CoverLibrary
import MusicFolder
import Platform

/// A command that a page of the gallery starts. It is a process of its own, with the locks, the signals and the messages that it has on a
/// terminal.
struct CommandRun: GalleryRun {
    let name: String
    /// The words of the command.
    var command: [String]
    /// Its options: those that name the cache and the library, and those of requests that this program was given.
    let options: [String]
    /// Whether it writes a report of what failed.
    var hasReport = true
    /// The command's other arguments; nil if it can do nothing.
    let arguments: @Sendable (RunWishes) -> [String]?

    var isPossible: Bool { arguments(RunWishes()) != nil }

    /// How often the progress is read.
    private static let interval = Duration.milliseconds(500)
    private static let maximumFailures = 20

    func run(
        _ wishes: RunWishes, _ report: @escaping @Sendable (String) async -> Void
    ) async -> RunOutcome {
        do {
            guard let arguments = arguments(wishes) else {
                return RunOutcome(result: nil, problem: "There is nothing to do.")
            }
            let folder = try TemporaryFolder(
                in: FileManager.default.temporaryDirectory.relativePath, name: "sleeve-\(name)")
            defer { folder.removeAll() }
            var words = [try Program.path] + command + ["--json"] + options
            if hasReport { words += ["--report", folder.file("report"), "--progress-interval", "1s"] }
            if let list = wishes.list {
                try Data(list).write(to: URL(filePath: folder.file("list")))
                words.append(folder.file("list"))
            }
            return try await Self.run(words + arguments, in: folder, report)
        } catch {
            return RunOutcome(result: nil, problem: "It could not be started: \(error).")
        }
    }

    private static func run(
        _ words: [String], in folder: TemporaryFolder, _ report: @escaping @Sendable (String) async -> Void
    ) async throws -> RunOutcome {
        @Sendable func lines(of file: String) -> [String] {
            folder.text(of: file).split(whereSeparator: \.isNewline).map(String.init)
        }
        @Sendable func messages() -> [String] {
            // The second line of wrong usage leads to a help that the page has not.
            lines(of: "messages").filter { !$0.hasPrefix("  See 'sleeve ") }.map { line in
                ["sleeve: ", "Error: "].reduce(line) { $0.hasPrefix($1) ? String($0.dropFirst($1.count)) : $0 }
            }
        }
        let (output, errors) = (try folder.create("results"), try folder.create("messages"))
        defer { for file in [output, errors] { close(file) } }
        // A shell that starts this program in the background has it ignore SIGINT, and so its children.
        let children = ChildProcesses(haveOwnGroups: true)
        let child = try children.start(words, output: output, errors: errors)
        let exit = Task { await WorkThread.run { children.wait(for: child) } }
        return await withTaskCancellationHandler {
            let reading = Task {
                while (try? await Task.sleep(for: interval)) != nil {
                    if let line = messages().last { await report(line) }
                }
            }
            let status = await exit.value.status
            reading.cancel()
            await reading.value
            let result = lines(of: "results").last { $0.hasPrefix("{") }
            let failures = lines(of: "report").compactMap(Failed.init).suffix(maximumFailures).map(\.failure)
            // What is wrong in a list that was sent comes before what came of it.
            let list = "\(folder.file("list")):", messages = messages()
            let place = messages.first { $0.hasPrefix(list) }.map { "the list:\($0.dropFirst(list.count)); " }
            let problem = messages.last.map { (place ?? "") + $0 } ?? "It ended with exit code \(status)."
            return RunOutcome(result: result, problem: result == nil ? problem : nil, failures: failures)
        } onCancel: {
            children.stop()
        }
    }
}

/// A line of a report about a cover that failed.
private struct Failed: Decodable {
    private var outcome: String
    private var album, title, url, reason, error: String?

    /// Nil if the line says something else.
    init?(_ line: String) {
        guard let line = try? JSONDecoder().decode(Self.self, from: Data(line.utf8)), line.outcome == "failed" else {
            return nil
        }
        self = line
    }

    var failure: RunOutcome.Failure {
        RunOutcome.Failure(album: album, title: title, url: url, reason: reason ?? error ?? "")
    }
}

extension Serve {
    /// What the gallery's pages can start.
    func runs(_ configuration: LibraryConfiguration) -> [any GalleryRun] {
        let capacity = configuration.capacity.map { ["--capacity", "\($0)"] } ?? []
        let common = ["--cache", configuration.cachePath] + network.words + capacity
        let contact = { @Sendable (wishes: RunWishes) in wishes.contact.map { ["--contact=\($0)"] } ?? [] }
        let refresh = CommandRun(name: "refresh", command: ["refresh"], options: common) { _ in
            configuration.isOffline ? nil : []
        }
        let library = configuration.libraryFile == nil ? [] : ["--library", configuration.libraryPath]
        let archive = archive.server.coverArtArchive.map { ["--source-base", "caa=\($0)"] } ?? []
        // All scanned folders, with the options of the last fill; its own options count, and those of requests that this program was given.
        let fill = CommandRun(name: "fill", command: ["fill", "--unwatched"], options: common + library + archive) {
            wishes in
            guard configuration.libraryFile != nil, !configuration.isOffline else { return nil }
            let roots = try? MusicState.existing(of: configuration.libraryPath)?.roots()
            return roots?.isEmpty == false ? contact(wishes) : nil
        }
        let files = ["--cache", configuration.cachePath] + library
        let scan = CommandRun(name: "scan", command: ["album", "scan"], options: files, hasReport: false) { wishes in
            configuration.libraryFile == nil ? nil : wishes.folder.map { ["--", $0] } ?? []
        }
        let list = CommandRun(name: "import", command: ["album", "import"], options: files, hasReport: false) { _ in
            configuration.libraryFile == nil ? nil : []
        }
        return [refresh, fill, scan, list]
    }
}

/// The running program.
enum Program {
    /// A path that starts it again. On Linux it leads to the file that is running, even if an upgrade has replaced or removed that.
    /// - Throws: An exit code, after an error message, if the system does not say.
    static var path: String {
        get throws {
            #if os(Linux)
                return "/proc/self/exe"
            #else
                guard let path = Bundle.main.executablePath else { throw fail("the path of this program is unknown") }
                return path
            #endif
        }
    }
}
