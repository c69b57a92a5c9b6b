import CommandSupport
import CoverLibrary
import MusicFolder

/// The result of a scan.
struct ScanSummary {
    private let findings: MusicScan.Findings
    private let albums: [ScannedAlbum]
    private let update: LibraryUpdate?
    private let pruned: Int
    private let missingRoots: Int
    private let seconds: Double

    /// - Parameter missing: Folders that are not there.
    init(_ outcome: LibraryScan.Outcome, missing: Int, seconds: Double) {
        (findings, albums, update, pruned) = (outcome.findings, outcome.albums, outcome.update, outcome.pruned)
        (missingRoots, self.seconds) = (missing, seconds)
    }

    /// Files and folders that could not be read, and folders that were not there.
    var problems: Int { findings.problems.count + findings.emptyRoots.count + missingRoots }

    private var untagged: Int { findings.folders.values.reduce(0) { $0 + $1.untagged } }
    private var withCover: Int { albums.count { $0.hasCover } }
    private var embedded: Int { albums.count { $0.hasEmbeddedCover } }

    var json: JSONObject {
        [
            "files": findings.progress.files, "filesRead": findings.progress.filesRead,
            "folders": findings.progress.folders, "foldersRead": findings.progress.foldersRead, "albums": albums.count,
            "new": update?.additions.count ?? 0, "changed": update?.edits.count ?? 0,
            "deleted": update?.deleted.count ?? 0, "withCover": withCover, "withoutCover": albums.count - withCover,
            "embedded": embedded, "untagged": untagged, "gone": update?.gone.count ?? 0, "pruned": pruned,
            "links": findings.outsideLinks.count, "problems": problems, "cancelled": findings.isCancelled,
            "seconds": seconds,
        ]
    }

    var text: String {
        let found = findings.progress
        var text = "\(Decimals.count(found.files, "file")) in \(Decimals.count(found.folders, "folder")); "
        text += found.filesRead == 0 ? "nothing has changed" : "read \(Decimals.grouped(found.filesRead))"
        text += " (\(Decimals.text(seconds, 1)) s)\n"
        guard let update else { return text + "Stopped: the library is unchanged, and the next scan goes on.\n" }
        text += "\(Decimals.count(albums.count, "album")): \(Decimals.grouped(update.additions.count)) new, "
        text += "\(Decimals.grouped(update.edits.count)) changed; \(Decimals.grouped(withCover)) with a cover file, "
        text +=
            "\(Decimals.grouped(albums.count - withCover)) without; \(Decimals.grouped(embedded)) with a cover in the tags\n"
        if !update.deleted.isEmpty {
            text +=
                "\(Decimals.count(update.deleted.count, "album")) that you deleted not added again; --restore-deleted adds them\n"
        }
        if untagged > 0 { text += "\(Decimals.count(untagged, "file")) without an album in the tags\n" }
        if !update.gone.isEmpty {
            text += "\(Decimals.count(update.gone.count, "album")) gone from the folders"
            text +=
                pruned > 0
                ? ", \(Decimals.grouped(pruned)) removed from the library\n"
                : "; --prune removes them from the library\n"
        }
        if problems > 0 { text += "\(Decimals.count(problems, "problem"))\n" }
        return text
    }
}
