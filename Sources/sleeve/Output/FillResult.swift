import CommandSupport
import CoverLibrary
import MusicFolder

/// The result of a fill.
struct FillResult {
    var summary: FillSummary
    /// Albums that had a cover file.
    var covered: Int
    /// Folders without a cover that get none.
    var obstacles: Int
    /// Files and folders that could not be read, or into which nothing can be written.
    var problems: Int
    var seconds: Double
    /// nil if no covers were to be embedded.
    var embedding: EmbedSummary?

    var json: JSONObject {
        var line: JSONObject = [
            "albums": summary.albums, "covered": covered, "filled": summary.filled,
            "files": summary.files, "bytes": summary.bytes, "missing": summary.missing, "doubtful": summary.doubtful,
            "failed": summary.failed, "unwritten": summary.unwritten + obstacles, "problems": problems,
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

    var text: String { coverText + tagText }

    private var tagText: String {
        guard let embedding else { return "" }
        if embedding.embedded + embedding.failed == 0 { return embedding.otherFormatsText }
        var text = "Wrote the cover into the tags of \(Decimals.count(embedding.embedded, "file"))"
        text += embedding.embedded > 0 ? " (\(ByteSize(embedding.bytes))).\n" : ".\n"
        if embedding.failed > 0 {
            text += "\(Decimals.count(embedding.failed, "file or folder", "files or folders")) could not be written.\n"
        }
        return text + embedding.otherFormatsText
    }

    private var coverText: String {
        if summary.albums == 0 {
            return covered > 0 ? "Nothing to fill: \(albums(covered)) a cover file.\n" : "Nothing to fill.\n"
        }
        var text = "Filled \(Decimals.grouped(summary.filled)) of \(Decimals.count(summary.albums, "album"))"
        text += " without a cover file (\(ByteSize(summary.bytes)), \(Decimals.text(seconds, 1)) s).\n"
        if summary.missing > 0 {
            text +=
                "\(albums(summary.missing)) no cover at the sources that were asked; `sleeve why` tells what each answered.\n"
        }
        if summary.doubtful > 0 {
            text += "\(albums(summary.doubtful)) only doubtful covers; `sleeve fill --review` lists them.\n"
        }
        if summary.failed > 0 {
            text += "\(Decimals.count(summary.failed, "album")) failed; the next fill tries again.\n"
        }
        if summary.unwritten + obstacles > 0 {
            text += "\(Decimals.count(summary.unwritten + obstacles, "folder")) got no cover file.\n"
        }
        if summary.isCancelled { text += "Stopped; the next fill goes on.\n" }
        return text
    }

    private func albums(_ count: Int) -> String { "\(Decimals.count(count, "album")) \(count == 1 ? "has" : "have")" }
}

extension FillSummary {
    /// Albums without a cover file at the end.
    var uncovered: Int { missing + doubtful + failed + unwritten }
}
