import CommandSupport
import CoverLibrary
import MusicFolder

/// The result of a fill.
struct FillResult {
    var summary: FillSummary
    /// Whether larger covers were looked for, too.
    var isUpgrade: Bool
    /// Albums that had a cover file.
    var covered: Int
    /// The covers that albums have for which one was accepted, as sentences without a full stop.
    var present: [String]
    /// Folders without a cover that get none.
    var obstacles: Int
    /// Files and folders that could not be read, or into which nothing can be written.
    var problems: Int
    var seconds: Double
    /// nil if no covers were to be embedded.
    var embedding: EmbedSummary?

    private var unwritten: Int { summary.unwritten + obstacles }

    var json: JSONObject {
        var line: JSONObject = [
            "albums": summary.albums, "covered": covered, "filled": summary.filled, "files": summary.files,
            "bytes": summary.bytes, "missing": summary.missing, "doubtful": summary.doubtful,
            "failed": summary.failed, "unwritten": unwritten, "problems": problems,
        ]
        if let embedding {
            line.add([
                "embedded": embedding.embedded, "embeddedBytes": embedding.bytes, "unembedded": embedding.failed,
                "otherFormats": embedding.otherFormats.values.reduce(0, +),
            ])
        }
        line.add(["cancelled": summary.isCancelled, "seconds": seconds])
        return line
    }

    var text: String {
        func albums(_ count: Int) -> String { "\(Decimals.count(count, "album")) \(count == 1 ? "has" : "have")" }
        let filled =
            "Filled \(Decimals.grouped(summary.filled)) of \(Decimals.count(summary.albums, "album"))"
            + (isUpgrade ? " without a cover file, or with one of a fill" : " without a cover file")
            + " (\(ByteSize(summary.bytes)), \(Decimals.text(seconds, 1)) s).\n"
        let nothing = covered > 0 ? "Nothing to fill: \(albums(covered)) a cover file.\n" : "Nothing to fill.\n"
        let counts: [(Int, (Int) -> String)] = [
            (
                summary.missing,
                { "\(albums($0)) no cover at the sources that were asked; `sleeve why` tells what each answered." }
            ),
            (summary.doubtful, { "\(albums($0)) only doubtful covers; `sleeve fill review` lists them." }),
            (summary.failed, { "\(Decimals.count($0, "album")) failed; the next fill tries again." }),
            (unwritten, { "\(Decimals.count($0, "folder")) got no cover file." }),
        ]
        var text = summary.albums > 0 ? filled : unwritten == 0 && present.isEmpty ? nothing : ""
        text += present.map { $0 + ".\n" }.joined()
        for (count, line) in counts where count > 0 { text += line(count) + "\n" }
        if summary.isCancelled { text += "Stopped; the next fill goes on.\n" }
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
