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
        folders = Dictionary(plan.jobs.map { ($0.album.id, $0.folders) }, uniquingKeysWith: +)
        for (path, album) in plan.present { add(.exists(album, path)) }
        for (folder, album, obstacle) in plan.obstacles {
            add(.unwritten(album, folder: folder, reason: obstacle.reason))
        }
    }

    func add(_ event: FillEvent) {
        switch event {
        case .written(let album, let written, let bytes, let url, let origin):
            let source: String? =
                switch origin {
                case .own: nil
                case .tags: "tags"
                case .source(let name): name.rawValue
                }
            add(
                album, [written.folder], "written",
                [
                    "file": "\(written.path)", "url": url.map { Redaction.redact($0) }, "source": source,
                    "digest": "\(written.digest)", "bytes": bytes, "width": written.width, "height": written.height,
                ])
        case .exists(let album, let path):
            add(album, [path.parent].compactMap { $0 }, "covered", ["file": "\(path)"])
        case .unwritten(let album, let folder, let reason):
            add(album, [folder], "unwritten", ["reason": Redaction.redact(reason)])
        // What becomes of the albums is told by other events.
        case .placeholder, .stopped, .takenBack: break
        case .ended(let album, .missing(let reason)): add(album, nil, "missing", ["reason": reason])
        case .ended(let album, .doubtful(let covers)):
            let url = (covers.first?.pictures.first).map { Redaction.redact($0) }
            let source = covers.first?.source.rawValue
            add(album, nil, "doubtful", ["url": url, "source": source, "reason": covers.first?.match.reason])
        case .ended(let album, .failed(let reason)):
            add(album, nil, "failed", ["reason": Redaction.redact(reason)])
        }
    }

    func add(_ event: EmbedEvent) {
        func add(_ path: BytePath, _ outcome: String, _ details: KeyValuePairs<String, any JSONValue>) {
            var line: JSONObject = ["folder": path.parent.map { "\($0)" }, "outcome": outcome, "file": "\(path)"]
            line.add(details)
            file.add(line)
        }
        switch event {
        case .embedded(let path, let bytes): add(path, "embedded", ["bytes": bytes])
        case .left(let path, let reason): add(path, "unembedded", ["reason": reason])
        case .otherFormat(let path, let format): add(path, "otherFormat", ["reason": "is \(format)"])
        case .unwritable(let folder, let reason):
            file.add(["folder": "\(folder)", "outcome": "unembedded", "reason": reason])
        case .removed, .kept, .gone: break
        }
    }

    /// - Parameter folders: nil for all of the album's that lack a cover.
    private func add(
        _ album: Album, _ folders: [BytePath]?, _ outcome: String, _ details: KeyValuePairs<String, any JSONValue>
    ) {
        for folder in folders ?? self.folders[album.id] ?? [] {
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
