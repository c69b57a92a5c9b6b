import CommandSupport
import CoverLibrary
import MusicFolder

/// The result of a scan.
struct ScanSummary: Encodable {
    private let files, filesRead, folders, foldersRead, albums, new, changed, deleted, withCover, withoutCover: Int
    private let embedded, untagged, hidden, excluded, unreadFormats, gone, pruned, links: Int
    /// Files and folders that could not be read, and folders that were not there.
    let problems: Int
    private let cancelled: Bool
    private let seconds: Double

    /// - Parameter missing: Folders that are not there.
    init(_ outcome: LibraryScan.Outcome, missing: Int, seconds: Double) {
        let (found, update) = (outcome.findings, outcome.update)
        (files, filesRead) = (found.progress.files, found.progress.filesRead)
        (folders, foldersRead) = (found.progress.folders, found.progress.foldersRead)
        (albums, withCover) = (outcome.albums.count, outcome.albums.count { $0.hasCover })
        (withoutCover, embedded) = (albums - withCover, outcome.albums.count { $0.hasEmbeddedCover })
        (new, changed) = (update?.additions.count ?? 0, update?.edits.count ?? 0)
        (deleted, gone) = (update?.deleted.count ?? 0, update?.gone.count ?? 0)
        untagged = found.leftOut.untagged + found.leftOut.untaggedImages
        (hidden, excluded) = (found.leftOut.hidden.count, found.leftOut.excluded.count)
        unreadFormats = found.leftOut.formats.values.reduce(0, +)
        (pruned, links) = (outcome.pruned, found.outsideLinks.count)
        problems = found.problems.count + found.emptyRoots.count + missing
        (cancelled, self.seconds) = (found.isCancelled, seconds)
    }

    /// - Parameter leftOut: What the scan left out, as lines.
    func text(leftOut: String) -> String {
        var text = "\(Decimals.count(files, "file")) in \(Decimals.count(folders, "folder")); "
        text += filesRead == 0 ? "nothing has changed" : "read \(Decimals.grouped(filesRead))"
        text += " (\(Decimals.text(seconds, 1)) s)\n"
        if cancelled { return text + "Stopped: the library is unchanged, and the next scan goes on.\n" }
        text += "\(Decimals.count(albums, "album")): \(Decimals.grouped(new)) new, "
        text += "\(Decimals.grouped(changed)) changed; \(Decimals.grouped(withCover)) with a cover file, "
        text += "\(Decimals.grouped(withoutCover)) without; \(Decimals.grouped(embedded)) with a cover in the tags\n"
        text += leftOut
        if gone > 0 {
            text += "\(Decimals.count(gone, "album")) gone from the folders"
            text +=
                pruned > 0
                ? ", \(Decimals.grouped(pruned)) removed from the library\n"
                : "; --prune removes them from the library\n"
        }
        if problems > 0 {
            text += Terminal.standardOutput.text(Decimals.count(problems, "problem"), in: .warning) + "\n"
        }
        return text
    }
}

extension LibraryScan.Outcome {
    /// What the scan left out, in one line with its end; empty if that is nothing.
    var leftOut: String {
        let (found, deleted) = (findings.leftOut, update?.deleted.count ?? 0)
        let formats = found.formats.keys.sorted().joined(separator: ", ")
        func folders(_ paths: [BytePath]) -> String {
            let more = paths.count > 1 ? " and \(paths.count - 1) more" : ""
            return paths.min().map { " (\($0)\(more))" } ?? ""
        }
        func count(_ count: Int, _ one: String, _ many: String? = nil) -> String? {
            count > 0 ? Decimals.count(count, one, many) : nil
        }
        let parts = [
            count(found.untagged, "file").map { "\($0) without an album in the tags" },
            count(found.untaggedImages, "image of a CUE sheet", "images of CUE sheets").map {
                "\($0) without an album in the tags"
            },
            count(found.formats.values.reduce(0, +), "file").map { "\($0) whose format is not read (\(formats))" },
            count(found.hidden.count, "hidden folder").map { $0 + folders(found.hidden) },
            count(found.excluded.count, "folder").map { "\($0) with .nomedia or the like\(folders(found.excluded))" },
            count(deleted, "album").map { "\($0) deleted, or with a scan undone; --restore-deleted adds them again" },
        ].compactMap(\.self)
        return parts.isEmpty ? "" : "Left out: \(parts.joined(separator: "; "))".withoutControls + ".\n"
    }
}
