import CommandSupport
import MusicFolder

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
