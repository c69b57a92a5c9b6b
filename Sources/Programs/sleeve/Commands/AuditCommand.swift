import ArgumentParser
import CommandSupport
import CoverLibrary
import MusicFolder
import Platform

struct AuditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit", _superCommandName: "sleeve",
        abstract: "List the albums of music folders whose cover is missing or bad.",
        discussion: """
            Scans the folders as `sleeve scan` does; without DIR, those that were scanned for the library. It reads each cover file, and \
            changes neither folders nor library. An album's cover is the file beside its music, else the picture in its tags.

            Each line has a kind, the album, a path and what is wrong. The kinds, in this order:
              missing      no cover file, and not every track has one in its tags
              small        the shorter side has fewer pixels than --min
              notSquare    one side is more than 10 % longer than the other
              damaged      no image, cut off, or not readable
              placeholder  what services show in place of a cover, or under 16 pixels
              repeated     the same picture on albums of three artists or more
              differs      the tags have another picture than the file or other tracks

            Pictures are compared byte for byte: a smaller copy of the file in the tags counts as differs, unless `sleeve fill --embed` \
            has written it. Whether a picture in the tags is \
            cut off is not checked. With --json, each line is an object: kind, artist, title, path, width, height (null if unknown) and detail.

              sleeve audit ~/Music
              sleeve audit ~/Music --only missing,small --min 1000
              sleeve audit --json | jq -r 'select(.kind == "damaged").path'

            Exits with 3 if anything is found, or if a file or a folder could not be read; with 75 if another scan for the library is running.
            """)

    @Option(
        help: ArgumentHelp("Covers with a shorter side below this are small. Default: 500.", valueName: "pixels"))
    var min: Int?

    @Option(
        help: ArgumentHelp(
            "List only these kinds, separated by commas: missing, small, notSquare, damaged, placeholder, repeated, differs. Default: all of them.",
            valueName: "kinds"))
    var only: [CommaSeparated<AuditKind>] = []

    @OptionGroup var music: MusicFolders
    @OptionGroup var progress: ProgressOptions
    @OptionGroup var options: LibraryOptions

    func validate() throws {
        if let min, min < 0 { throw ValidationError("--min needs a number of pixels, 0 or more.") }
    }

    func run() async throws {
        let configuration = try options.configuration()
        try configuration.requireLibraryFile()
        let state = try MusicFolderOptions.openState(configuration)
        let (scan, missing) = try music.scan(else: try music.remembered(state, to: "to audit"))
        let outcome = try await MusicFolderOptions.run(LibraryScan(scan), nil, state, options, progress)
        try stopIfSignalled()
        let places = AuditedPlace.all(of: outcome.albums, in: outcome.findings.folders)
        let kinds = Set(only.isEmpty ? AuditKind.allCases : only.flatMap(\.values))
        // No byte of a cover says whether others are missing.
        let covers = kinds == [.missing] ? [] : Set(places.lazy.flatMap(\.covers)).sorted()
        let facts = try await facts(of: covers)
        try stopIfSignalled()
        let findings = Audit(
            places, facts: facts, minimum: min ?? Audit.defaultMinimum, kinds: kinds,
            embedded: try state.embeddedPictures()
        ).findings
        try print(findings, albums: outcome.albums.count)
        let problems = outcome.findings.problems.count + outcome.findings.emptyRoots.count + missing
        if problems + findings.count > 0 { throw ExitStatus.someFailed }
    }

    private func facts(of covers: [BytePath]) async throws -> [BytePath: CoverFacts] {
        try await withProgress(0, every: progress.interval(options)) { count in
            ["\(Decimals.grouped(count)) of \(Decimals.count(covers.count, "cover")) read"]
        } _: { progress in
            await CoverFacts.read(covers, progress: progress, isCancelled: { Signals.received != nil })
        }
    }

    // MARK: Results

    private func print(_ findings: [AuditFinding], albums: Int) throws {
        if options.json { return try printResult(findings.map { Self.json($0).text + "\n" }.joined()) }
        let rows = findings.map { finding in
            let album = [finding.artist, finding.title].filter { !$0.isEmpty }.joined(separator: ", ")
            return [finding.kind.rawValue, album, "\(finding.path)", finding.detail]
        }
        let table = TextTable(["Kind", "Album", "Path", "What is wrong"], rows)
        if !findings.isEmpty { try printResult(table.text(width: Terminal.standardOutput.columns)) }
        if !options.quiet { try printResult(Self.summary(findings, albums: albums)) }
    }

    private static func summary(_ findings: [AuditFinding], albums: Int) -> String {
        let audited = Decimals.count(albums, "album") + " audited"
        let counts = AuditKind.allCases.map { kind in (kind, findings.count { $0.kind == kind }) }.filter { $1 > 0 }
            .map { "\(Decimals.grouped($1)) \($0.rawValue)" }
        return "\(audited): \(counts.isEmpty ? "nothing found" : counts.joined(separator: ", ")).\n"
    }

    private static func json(_ finding: AuditFinding) -> JSONObject {
        [
            "kind": finding.kind.rawValue, "artist": finding.artist, "title": finding.title, "path": "\(finding.path)",
            "width": finding.width, "height": finding.height, "detail": finding.detail,
        ]
    }
}

extension AuditKind: ExpressibleByArgument {}
