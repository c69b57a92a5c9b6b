import CommandSupport
import CoverLibrary
import CoverSources
import MusicFolder
import Synchronization

/// Taking back what a fill has written.
extension FillCommand {
    func undo(_ library: LibraryAPI, _ state: MusicState) async throws {
        let writer = try CoverWriter(state, name: name)
        let inTags = Mutex(EmbedSummary())
        let undone = try await writer.undo(isDryRun: dryRun, cached: { library.coverFile($0) }) { run in
            let summary = try await undo(try state.embeddedCovers(ofRun: run), state)
            inTags.withLock { $0 = summary }
            return summary.removed + summary.kept > 0
        }
        var (counts, albums) = (Counts(tags: inTags.withLock { $0 }), Set<Album.ID>())
        for result in undone {
            tell(result)
            counts.add(result)
            if case .removed(_, let album) = result { albums.insert(album) }
        }
        if !dryRun { try await forget(albums, library, writer) }
        try options.printResult(json: counts.json, text: counts.text(isDryRun: dryRun))
        if counts.failed > 0 { throw ExitStatus.someFailed }
    }

    private func tell(_ result: CoverWriter.Undone) {
        switch result {
        case .removed(let path, _): if dryRun { printPlanned("\(path): would be removed") }
        case .restored(let path): if dryRun { printPlanned("\(path): the smaller cover would be put back") }
        case .kept(let path): Log.warning("\(path): was changed or removed since; it stays as it is")
        case .failed(let path, let reason): Log.error("\(path): \(reason)")
        case .away(let path): Log.error("\(path): \(MusicState.awayReason)")
        }
    }

    /// A line of a dry run.
    func printPlanned(_ line: String) { if !options.json, !options.quiet { _ = try? printLine(line) } }

    /// The library loses the URLs of the covers, unless a person has edited them, and the covers are accepted no longer: the next fill would
    /// write them again.
    private func forget(_ albums: Set<Album.ID>, _ library: LibraryAPI, _ writer: CoverWriter) async throws {
        let urls = try await writer.forgetCoverURLs(of: Array(albums))
        let found = try await library.albums.all().filter { albums.contains($0.id) }
        try await library.albums.edit(
            found.compactMap { album in
                guard let url = urls[album.id], album.coverURL == url else { return nil }
                var former = album
                former.coverURL = nil
                return (album, former)
            })
        guard let memory = SourceMemory.existing(for: library.configuration) else { return }
        for album in found { try await memory.withdrawAcceptance(of: AlbumQuery(album).key) }
    }

    private struct Counts {
        var (removed, restored, kept, failed) = (0, 0, 0, 0)
        var tags: EmbedSummary

        init(tags: EmbedSummary) { (self.tags, kept, failed) = (tags, tags.kept, tags.failed) }

        mutating func add(_ result: CoverWriter.Undone) {
            switch result {
            case .removed: removed += 1
            case .restored: restored += 1
            case .kept: kept += 1
            case .failed, .away: failed += 1
            }
        }

        var json: JSONObject {
            [
                "removed": removed, "restored": restored, "kept": kept, "failed": failed,
                "removedFromTags": tags.removed,
            ]
        }

        func text(isDryRun: Bool) -> String {
            if removed + restored + kept + failed + tags.removed == 0 { return "There is no fill to take back.\n" }
            var text = "\(isDryRun ? "Would remove" : "Removed") \(Decimals.count(removed, "cover"))"
            if restored > 0 { text += ", \(isDryRun ? "restore" : "restored") \(Decimals.grouped(restored))" }
            if tags.removed > 0 {
                text += ", \(isDryRun ? "take" : "took") \(Decimals.count(tags.removed, "cover")) out of tags"
            }
            return text + ".\n"
        }
    }
}
