import CommandSupport
import CoverLibrary
import MusicFolder
import Platform
import Synchronization

/// The result of a fill.
struct FillResult: Encodable {
    private let albums: Int
    /// Albums that had a cover file.
    private let covered: Int
    private let filled, files, bytes, missing, doubtful, failed: Int
    /// Folders without a cover that got none.
    private let unwritten: Int
    /// Files and folders that could not be read, or into which nothing can be written.
    private let problems: Int
    /// Nil if no covers were to be embedded.
    private let embedded, embeddedBytes, unembedded, otherFormats: Int?
    private let cancelled: Bool
    private let seconds: Double

    init(
        _ summary: FillSummary, _ embedding: EmbedSummary?, covered: Int, obstacles: Int, problems: Int,
        seconds: Double
    ) {
        (albums, self.covered, filled) = (summary.albums, covered - summary.uncovered, summary.filled)
        (files, bytes, missing) = (summary.files, summary.bytes, summary.missing)
        (doubtful, failed, unwritten) = (summary.doubtful, summary.failed, summary.unwritten + obstacles)
        (embedded, embeddedBytes) = (embedding?.embedded, embedding?.bytes)
        (unembedded, otherFormats) = (embedding?.failed, embedding?.otherFormats.values.reduce(0, +))
        (self.problems, cancelled, self.seconds) = (problems, summary.isCancelled, seconds)
    }

    /// - Parameters:
    ///   - leftOut: What the scan has left out, as lines; nil if it has left out nothing.
    ///   - present: The accepted covers that albums have already, as sentences without a full stop.
    func text(leftOut: String?, present: [String], _ embedding: EmbedSummary?) -> String {
        func albums(_ count: Int) -> String { "\(Decimals.count(count, "album")) \(count == 1 ? "has" : "have")" }
        let outcome =
            "Filled \(Decimals.grouped(filled)) of \(Decimals.count(self.albums, "album"))"
            + " (\(ByteSize(bytes)), \(Decimals.text(seconds, 1)) s).\n"
        let nothing =
            covered > 0
            ? "Nothing to fill: \(albums(covered)) a cover file.\n"
            : leftOut == nil ? "Nothing to fill.\n" : "No album to fill.\n"
        var text =
            filled > 0 || self.albums > present.count ? outcome : unwritten == 0 && present.isEmpty ? nothing : ""
        text += present.map { $0 + ".\n" }.joined()
        let failures = Terminal.standardOutput.text("\(Decimals.count(failed, "album")) failed", in: .failure)
        let counts = [
            (
                missing,
                "\(albums(missing)) no cover that may be written; `sleeve why` tells what each source answered."
            ), (doubtful, "\(albums(doubtful)) only doubtful covers; `sleeve fill review` lists them."),
            (failed, "\(failures); the next fill tries again."),
            (unwritten, "\(Decimals.count(unwritten, "folder")) got no cover file."),
        ]
        for (count, line) in counts where count > 0 { text += line + "\n" }
        text += leftOut ?? ""
        if cancelled { text += "Stopped; the next fill goes on.\n" }
        return text + (embedding?.text ?? "")
    }
}

extension EmbedSummary {
    /// Says what was written into tags, and which files are left as they are; empty if there are none.
    var text: String {
        var text = ""
        if embedded > 0 {
            text += "Wrote the cover into the tags of \(Decimals.count(embedded, "file")) (\(ByteSize(bytes))).\n"
        }
        if failed > 0 {
            text += "\(Decimals.count(failed, "file or folder", "files or folders")) could not be written.\n"
        }
        return text + otherFormatsText
    }

    var otherFormatsText: String {
        let (count, names) = (otherFormats.values.reduce(0, +), otherFormats.keys.sorted().joined(separator: ", "))
        if count == 0 { return "" }
        return
            "\(Decimals.count(count, "file")) of \(names) \(count == 1 ? "is left as it is" : "are left as they are"): "
            + "Sleeve writes covers into MP3, FLAC, MP4, Ogg (Vorbis, Opus).\n"
    }
}

/// The result of a dry run of a fill.
struct FillPlanResult: Encodable {
    /// What would be done for a folder, and why.
    struct Step: Encodable {
        let folder, album, artist, title, reason, plan: String
    }

    /// Albums that covers would be looked for.
    let albums: Int
    /// Albums that have a cover file.
    let covered: Int
    /// Folders that cannot get one.
    let blocked: Int
    let plan: [Step]
    /// Files that would get the cover that is beside them; nil without --embed.
    var embedded, embeddedBytes: Int?
    let dryRun = true
}

/// The report of a fill: one JSON line for each folder of each album.
final class FillReport: Sendable {
    let file: ReportFile
    /// The folders that lack a cover, by their albums. Those whose cover an upgrade leaves are told, and taken out.
    private let folders: Mutex<[Album.ID: [BytePath]]>

    /// - Throws: An exit code, after an error message.
    init(_ path: String, _ plan: FillPlan) throws {
        file = try ReportFile(path)
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
}
