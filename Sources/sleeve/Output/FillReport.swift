import CommandSupport
import CoverLibrary
import CoverSources
import MusicFolder
import Platform

/// The report of a fill: one JSON line for each folder of each album.
struct FillReport {
    private let file: ReportFile
    /// The folders that lack a cover, by their albums.
    private let folders: [Album.ID: [BytePath]]

    /// - Throws: An exit code, after an error message.
    init(_ path: String, _ plan: FillPlan) throws {
        file = try ReportFile(path)
        folders = Dictionary(plan.jobs.map { ($0.album.id, $0.targets.map(\.folder)) }, uniquingKeysWith: +)
        for (path, album) in plan.present { add(.exists(album, path)) }
    }

    func add(_ event: FillEvent) {
        switch event {
        case .written(let album, let written, let bytes, let url, let source):
            add(album, [written.folder], "written") { line in
                line.add("file", "\(written.path)")
                line.add("url", Redaction.redact(url))
                line.add("source", source?.rawValue)
                line.add("digest", "\(written.digest)")
                line.add("bytes", bytes)
                line.add("width", written.width)
                line.add("height", written.height)
            }
        case .exists(let album, let path):
            add(album, [path.parent].compactMap { $0 }, "covered") { $0.add("file", "\(path)") }
        case .unwritten(let album, let folder, let reason):
            add(album, [folder], "unwritten") { $0.add("reason", Redaction.redact(reason)) }
        // What becomes of the album is told by another event.
        case .placeholder: break
        case .missing(let album):
            add(album, folders[album.id] ?? [], "missing") { $0.add("reason", "none of the sources has it") }
        case .doubtful(let album, let candidates):
            add(album, folders[album.id] ?? [], "doubtful") { line in
                line.add("url", (candidates.first?.pictures.first).map { Redaction.redact($0) })
                line.add("source", candidates.first?.source.rawValue)
                line.add("reason", candidates.first?.match.reason)
            }
        case .failed(let album, let reason, _):
            add(album, folders[album.id] ?? [], "failed") { $0.add("reason", Redaction.redact(reason)) }
        }
    }

    func add(_ event: EmbedEvent) {
        switch event {
        case .embedded(let path, let bytes): add(path, "embedded") { $0.add("bytes", bytes) }
        case .left(let path, let reason): add(path, "unembedded") { $0.add("reason", reason) }
        case .otherFormat(let path, let format): add(path, "otherFormat") { $0.add("reason", "is \(format)") }
        case .unwritable(let folder, let reason):
            var line = JSONObject()
            line.add("folder", "\(folder)")
            line.add("outcome", "unembedded")
            line.add("reason", reason)
            file.add(line)
        case .removed, .kept: break
        }
    }

    /// A file whose tags get the cover, or do not.
    private func add(_ path: BytePath, _ outcome: String, _ details: (inout JSONObject) -> Void) {
        var line = JSONObject()
        line.add("folder", (path.parent).map { "\($0)" })
        line.add("outcome", outcome)
        line.add("file", "\(path)")
        details(&line)
        file.add(line)
    }

    private func add(
        _ album: Album, _ folders: [BytePath], _ outcome: String, _ details: (inout JSONObject) -> Void
    ) {
        for folder in folders {
            var line = JSONObject()
            line.add("folder", "\(folder)")
            line.add("outcome", outcome)
            line.add("album", album.id)
            line.add("artist", album.artist)
            line.add("title", album.title)
            details(&line)
            file.add(line)
        }
    }

    /// - Returns: Why the report is incomplete; nil if it is complete.
    func close() -> String? { file.close() }
}
