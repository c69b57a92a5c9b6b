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
            add(
                album, [written.folder], "written",
                [
                    "file": "\(written.path)", "url": Redaction.redact(url), "source": source?.rawValue,
                    "digest": "\(written.digest)", "bytes": bytes, "width": written.width, "height": written.height,
                ])
        case .exists(let album, let path):
            add(album, [path.parent].compactMap { $0 }, "covered", ["file": "\(path)"])
        case .unwritten(let album, let folder, let reason):
            add(album, [folder], "unwritten", ["reason": Redaction.redact(reason)])
        // What becomes of the album is told by another event.
        case .placeholder: break
        case .missing(let album):
            add(album, folders[album.id] ?? [], "missing", ["reason": "none of the sources has it"])
        case .doubtful(let album, let candidates):
            let url = (candidates.first?.pictures.first).map { Redaction.redact($0) }
            add(
                album, folders[album.id] ?? [], "doubtful",
                ["url": url, "source": candidates.first?.source.rawValue, "reason": candidates.first?.match.reason])
        case .failed(let album, let reason, _):
            add(album, folders[album.id] ?? [], "failed", ["reason": Redaction.redact(reason)])
        }
    }

    func add(_ event: EmbedEvent) {
        switch event {
        case .embedded(let path, let bytes): add(path, "embedded", ["bytes": bytes])
        case .left(let path, let reason): add(path, "unembedded", ["reason": reason])
        case .otherFormat(let path, let format): add(path, "otherFormat", ["reason": "is \(format)"])
        case .unwritable(let folder, let reason):
            file.add(["folder": "\(folder)", "outcome": "unembedded", "reason": reason])
        case .removed, .kept: break
        }
    }

    /// A file whose tags get the cover, or do not.
    private func add(_ path: BytePath, _ outcome: String, _ details: KeyValuePairs<String, any JSONValue>) {
        var line: JSONObject = ["folder": (path.parent).map { "\($0)" }, "outcome": outcome, "file": "\(path)"]
        line.add(details)
        file.add(line)
    }

    private func add(
        _ album: Album, _ folders: [BytePath], _ outcome: String, _ details: KeyValuePairs<String, any JSONValue>
    ) {
        for folder in folders {
            var line: JSONObject = [
                "folder": "\(folder)", "outcome": outcome, "album": album.id, "artist": album.artist,
                "title": album.title,
            ]
            line.add(details)
            file.add(line)
        }
    }

    /// - Returns: Why the report is incomplete; nil if it is complete.
    func close() -> String? { file.close() }
}
