import CommandSupport
import CoverLibrary
import CoverSources
import MusicFolder
import Platform
import Synchronization

/// What a fill has to say: the lines of its report, and at its end the first messages of a kind.
final class FillMessages: Sendable {
    /// In the order of printing: first the albums without a cover, each once.
    enum Kind: String, CaseIterable {
        case album, failure, folder, file, note
        case gone = "gone album"
        case written = "written file"

        /// It stays as it is until a person does something.
        var isKept: Bool { isProblem || self == .gone }
        var isProblem: Bool { [.album, .folder, .file].contains(self) }
    }

    let report: FillReport?
    private let state = Mutex(State())

    private struct Line {
        var text: String
        /// By what it is known to have been said: albums may have one name.
        var key: String

        init(_ text: String, of album: Album? = nil) {
            (self.text, key) = (text, album.map { "\(text) (\($0.id))" } ?? text)
        }
    }

    private struct State {
        var lines: [Kind: [Line]] = [:]
        var stops: Set<String> = []
        /// In the order of writing, without those that were removed again.
        var written: [(path: BytePath, line: String)] = []
        /// The first picture that is no cover for each reason, and how many there are.
        var placeholders: [String: (first: String, count: Int)] = [:]
    }

    /// - Parameter path: Of the report.
    /// - Throws: An exit code, after an error message.
    init(_ plan: FillPlan, report path: String?) throws {
        report = try path.map { try FillReport($0, plan) }
        for blocked in plan.blocked {
            let names =
                blocked.albums.count > 3
                ? Decimals.count(blocked.albums.count, "album") : blocked.albums.map(\.fullName).joined(separator: "; ")
            add(.folder, "\(blocked.place): no cover file of \(names): \(blocked.reason)")
        }
    }

    /// What stays as it is until a person does something, and notes.
    var known: Set<String> { Set(lines { $0.isKept || $0 == .note }) }

    /// That without what is no fault.
    var problems: Set<String> { Set(lines(\.isProblem)) }

    private func lines(_ isWanted: (Kind) -> Bool) -> [String] {
        state.withLock { state in Kind.allCases.filter(isWanted).flatMap { state.lines[$0] ?? [] }.map(\.key) }
    }

    /// - Parameter album: What the message is about.
    func add(_ kind: Kind, _ text: String, of album: Album? = nil) {
        state.withLock { $0.lines[kind, default: []].append(Line(text, of: album)) }
    }

    func add(_ outcome: LibraryScan.Outcome) {
        for problem in outcome.problems { add(.file, problem) }
        for note in outcome.notes { add(.note, note) }
        for album in outcome.gone { add(.gone, album) }
        for root in Set(outcome.vanished.compactMap(\.root)).sorted() {
            add(
                .note,
                "\(root): most covers of fills are gone, and are not written again: `sleeve fill --removed` if you removed them, "
                    + "else `sleeve fill allow --all \(root)`")
        }
    }

    func add(_ event: FillEvent) {
        switch event {
        case .ended(let album, .missing(let reason)):
            report?.add(album, "missing", ["reason": reason])
            add(.album, "\(album.fullName): \(reason)", of: album)
        case .ended(let album, .doubtful(let covers)):
            let (first, url) = (covers.first, (covers.first?.pictures.first).map { Redaction.redact($0) })
            report?.add(
                album, "doubtful", ["url": url, "source": first?.source.rawValue, "reason": first?.match.reason])
            let found = covers.count == 1 ? "a doubtful cover" : "doubtful covers"
            add(.album, "\(album.fullName): found only \(found); see `sleeve fill review`", of: album)
        case .ended(let album, .failed(let reason)):
            report?.add(album, "failed", ["reason": Redaction.redact(reason)])
            add(.failure, "\(album.fullName): \(reason)")
        case .outdated(_, let path, let cause):
            let end = "it stays until another cover is certain, you accept one, or you remove it"
            add(.file, "\(path): \(cause.reason); \(end)")
        case .stopped(let folder, let reason):
            state.withLock { _ = $0.stops.insert(reason) }
            add(.failure, "\(folder): \(reason); no more covers are written to its disk")
        case .unwritten(let album, let folder, let reason):
            report?.add(album, in: [folder], "unwritten", ["reason": Redaction.redact(reason)])
            if state.withLock({ $0.stops.contains(reason) }) { return }
            add(.folder, "\(folder): no cover file of \(album.fullName): \(reason)")
        case .placeholder(let album, let url, let reason):
            state.withLock { state in
                let cause = reason.hasPrefix("\(url): ") ? reason : "\(url): \(reason)"
                let first = "\(album.fullName): not written: \(cause)"
                state.placeholders[reason, default: (first, 0)].count += 1
            }
        case .takenBack(let album, let path, _):
            state.withLock { $0.written.removeAll { $0.path == path } }
            add(.note, "\(path): removed again: albums of other artists have the same picture as \(album.fullName)")
        case .written(let album, let file, let bytes, let url, let origin):
            let (source, place): (String?, String) =
                switch origin {
                case .tags: ("tags", "its tags")
                case .source(let source): (source.rawValue, source.title)
                case .own: (nil, url.flatMap { URL(string: $0)?.host() } ?? "its own URL")
                }
            report?.add(
                album, in: [file.folder], "written",
                [
                    "file": "\(file.path)", "url": url.map { Redaction.redact($0) }, "source": source,
                    "digest": "\(file.digest)", "bytes": bytes, "width": file.width, "height": file.height,
                ])
            let again = file.isAgain ? ", \(Self.again)" : ""
            state.withLock { $0.written.append((file.path, "wrote \(file.path) (\(place))\(again)")) }
        case .exists(let album, let path): report?.add(covered: album, by: path)
        }
    }

    private static let again = "which an undo had taken back; `sleeve fill refuse` keeps it away"

    func add(_ event: EmbedEvent) {
        switch event {
        case .embedded(let path, let bytes, let isAgain):
            report?.add(in: path.parent, "embedded", ["file": "\(path)", "bytes": bytes])
            if isAgain { state.withLock { $0.written.append((path, "wrote into the tags of \(path), \(Self.again)")) } }
        case .left(let path, let reason):
            report?.add(in: path.parent, "unembedded", ["file": "\(path)", "reason": reason])
            add(.file, "\(path): \(reason)")
        case .otherFormat(let path, let format):
            report?.add(in: path.parent, "otherFormat", ["file": "\(path)", "reason": "is \(format)"])
        case .unwritable(let folder, let reason):
            report?.add(in: folder, "unembedded", ["reason": reason])
            add(.file, "\(folder): no tags can be written: \(reason)")
        case .refused(let path, let objection):
            report?.add(in: path.parent, "unembedded", ["file": "\(path)", "reason": objection.reason])
            add(.note, "\(path): not written into tags: \(objection.reason)")
        }
    }

    /// - Parameter news: What no fill has said before. The rest is a line with its counts; with `isQuiet`, nothing else is said but failures.
    func print(isQuiet: Bool, news: Set<String>) {
        let (known, problems) = (self.known.subtracting(news), self.problems)
        var (all, placeholders) = state.withLock { state in
            (state.lines.merging([.written: state.written.map { Line($0.line) }]) { $1 }, state.placeholders)
        }
        all[.note, default: []] += placeholders.sorted { $0.key < $1.key }.map { _, found in
            let more = found.count > 1 ? "; so \(found.count == 2 ? "is" : "are") \(found.count - 1) more" : ""
            return Line(found.first + more)
        }
        for kind in Kind.allCases where !isQuiet || kind.isKept || kind == .failure {
            var lines = all[kind] ?? []
            lines.removeAll { known.contains($0.key) }
            let place =
                [.file, .gone, .note].contains(kind) ? "`sleeve album scan` lists more" : "--report FILE lists all"
            let write: @Sendable (String) -> Void = { kind == .written ? Log.info($0) : Log.warning($0) }
            let rest = "; " + (report.map { "see \($0.file.path)" } ?? place)
            MessageList(kind.rawValue, by: write).print(lines.map(\.text), rest)
        }
        let told = Kind.allCases.filter(\.isProblem).compactMap { kind -> String? in
            let count = all[kind]?.count { known.contains($0.key) && problems.contains($0.key) } ?? 0
            return count > 0 ? Decimals.count(count, kind.rawValue) : nil
        }
        if !isQuiet, !told.isEmpty {
            Log.warning("as said before: \(told.joined(separator: ", ")); --report FILE lists all")
        }
    }
}
