import CommandSupport
import CoverLibrary
import MusicFolder

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
    ///   - isUpgrade: Whether larger covers were looked for, too.
    ///   - leftOut: What the scan has left out, as lines; nil if it has left out nothing.
    ///   - present: The accepted covers that albums have already, as sentences without a full stop.
    func text(isUpgrade: Bool, leftOut: String?, present: [String], _ embedding: EmbedSummary?) -> String {
        func albums(_ count: Int) -> String { "\(Decimals.count(count, "album")) \(count == 1 ? "has" : "have")" }
        let outcome =
            "Filled \(Decimals.grouped(filled)) of \(Decimals.count(self.albums, "album"))"
            + (isUpgrade ? " without a cover file, or with one of a fill" : " without a cover file")
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
