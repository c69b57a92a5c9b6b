import CommandSupport
import CoverLibrary
import MusicFolder
import Platform
import Synchronization

/// The report of a fill: one JSON line for each folder of each album.
final class FillReport: Sendable {
    let path: String
    private let file: ReportFile
    /// The folders that lack a cover, by their albums. Those whose cover an upgrade leaves are told, and taken out.
    private let folders: Mutex<[Album.ID: [BytePath]]>

    /// - Throws: An exit code, after an error message.
    init(_ path: String, _ plan: FillPlan) throws {
        (self.path, file) = (path, try ReportFile(path))
        folders = Mutex(Dictionary(plan.jobs.map { ($0.album.id, $0.folders) }, uniquingKeysWith: +))
        for (cover, album) in plan.present { add(covered: album, by: cover) }
        for (folder, album, obstacle) in plan.obstacles {
            add(album, in: [folder], "unwritten", ["reason": Redaction.redact(obstacle.reason)])
        }
    }

    func add(covered album: Album, by cover: BytePath) {
        folders.withLock { $0[album.id]?.removeAll { $0 == cover.parent } }
        add(album, in: [cover.parent].compactMap(\.self), "covered", ["file": "\(cover)"])
    }

    /// - Parameter folders: nil for all of the album's that lack a cover.
    func add(
        _ album: Album, in folders: [BytePath]? = nil, _ outcome: String,
        _ details: KeyValuePairs<String, any JSONValue>
    ) {
        for folder in folders ?? self.folders.withLock({ $0[album.id] }) ?? [] {
            add(in: folder, outcome, ["album": album.id, "artist": album.artist, "title": album.title], details)
        }
    }

    /// Adds the line of a folder, or of a file in it.
    func add(in folder: BytePath?, _ outcome: String, _ details: KeyValuePairs<String, any JSONValue>...) {
        var line: JSONObject = ["folder": folder.map { "\($0)" }, "outcome": outcome]
        for details in details { line.add(details) }
        file.add(line)
    }

    /// - Returns: Why the report is incomplete; nil if it is complete.
    func close() -> String? { file.close() }
}
