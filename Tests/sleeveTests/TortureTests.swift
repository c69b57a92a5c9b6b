import Foundation
import OriginServer
import Platform
import Testing

@testable import CommandSupport
@testable import sleeve_lab

@Suite struct TortureTests {
    private let cover = Acknowledgement(url: "http://a.example/1.jpg", digest: "aa")
    private var listed: [String: String] { [cover.url: cover.digest] }

    // MARK: What must be there

    /// One cover, acknowledged by a process that started at `start`.
    private func required(since start: Duration = .seconds(5)) -> RequiredCovers {
        var required = RequiredCovers()
        required.acknowledge([cover], source: "prefetch 1 of round 1", since: start)
        return required
    }

    @Test func `an acknowledged cover that is missing is lost, and the message says who acknowledged it`() {
        let violations = required().violations(listed: ["http://a.example/2.jpg": "bb"])
        #expect(violations.map(\.kind) == [.lost])
        #expect(
            violations.first?.text
                == "lost: http://a.example/1.jpg (SHA-256 aa): the cache does not list it; acknowledged by prefetch 1 of round 1"
        )
    }

    @Test func `an acknowledged cover that is listed with another digest is lost`() {
        let violations = required().violations(listed: [cover.url: "bb"])
        #expect(violations.map(\.kind) == [.lost])
        #expect(violations.first?.digest == "aa")
    }

    @Test func `an acknowledged cover that is listed is not lost`() {
        #expect(required().violations(listed: listed) == [])
    }

    @Test func `a cover that an eviction may have removed is not lost`() {
        var required = required(since: .seconds(5))
        required.evict(until: .seconds(6))
        #expect(required.violations(listed: [:]) == [])
    }

    @Test func `a cover that was acknowledged after the eviction is lost, whichever is recorded first`() {
        var required = required(since: .seconds(7))
        required.evict(until: .seconds(6))
        #expect(required.violations(listed: [:]).map(\.kind) == [.lost])

        var other = RequiredCovers()
        other.evict(until: .seconds(6))
        other.acknowledge([cover], source: "prefetch 1 of round 1", since: .seconds(7))
        #expect(other == required)
    }

    @Test func `a process that started before an eviction ended requires nothing`() {
        var required = RequiredCovers()
        required.evict(until: .seconds(6))
        required.acknowledge([cover], source: "prefetch 1 of round 1", since: .seconds(5))
        #expect(required.covers.isEmpty)
        // Evictions end in any order.
        required.evict(until: .seconds(4))
        required.acknowledge([cover], source: "prefetch 2 of round 1", since: .seconds(5))
        #expect(required.covers.isEmpty)
    }

    @Test func `the latest acknowledgement of a cover counts`() {
        var required = required(since: .seconds(7))
        required.acknowledge([cover], source: "prefetch 2 of round 1", since: .seconds(3))
        required.evict(until: .seconds(5))
        #expect(required.covers.count == 1)
    }

    @Test func `what a check has found is required until something evicts`() {
        var required = RequiredCovers()
        required.evict(until: .seconds(6))
        required.replace(by: listed, source: "the check before round 2", at: .seconds(8))
        #expect(required.violations(listed: [:]).map(\.kind) == [.lost])
        required.evict(until: .seconds(9))
        #expect(required.violations(listed: [:]) == [])
    }

    // MARK: A round's processes

    private static func makeCatalog() -> TortureCatalog {
        var random = SplitMix64(seed: 1)
        return TortureCatalog(origin: "http://a.example", count: 8, random: &random)
    }
    private let catalog = Self.makeCatalog()

    private func process(
        _ job: TortureJob = .refresh, status: Int32 = 0, signals: [Int32] = [], start: Int = 1, end: Int = 2
    ) -> TortureProcess {
        TortureProcess(
            number: 4, job: job, fate: .undisturbed, start: .seconds(start), end: .seconds(end), status: status,
            signals: signals)
    }

    private func violations(_ process: TortureProcess, required: RequiredCovers = RequiredCovers()) -> [String] {
        process.violations(required: required, catalog: catalog).map(\.text)
    }

    private func round(_ kind: TortureRound.Kind) throws -> TortureRound {
        let rounds = (1...50).lazy.map {
            TortureRound(number: $0, seed: 1, processes: 3, covers: 100, bytes: 1_000_000)
        }
        return try #require(rounds.first { $0.kind == kind })
    }

    @Test func `acknowledgements count in a round without evictions, and not those before a killed eviction`() throws {
        var prefetch = process(.prefetch(covers: [0]), start: 1, end: 3)
        prefetch.acknowledgements = [cover]
        let eviction = process(.evict(bytes: 0), status: 137, signals: [9], start: 1, end: 2)

        var required = RequiredCovers()
        required.record([prefetch], in: try round(.keep), endedAt: .seconds(4))
        #expect(required.violations(listed: [:]).map(\.kind) == [.lost])

        required = RequiredCovers()
        required.record([prefetch, eviction], in: try round(.evict), endedAt: .seconds(4))
        #expect(required.violations(listed: [:]) == [])

        prefetch.start = .milliseconds(2_001)
        required = RequiredCovers()
        required.record([prefetch, eviction], in: try round(.evict), endedAt: .seconds(4))
        #expect(required.violations(listed: [:]).map(\.kind) == [.lost])
    }

    @Test func `nothing is required when the capacity is too small for all covers`() throws {
        var prefetch = process(.prefetch(covers: [0]))
        prefetch.acknowledgements = [cover]
        var required = RequiredCovers()
        required.record([prefetch], in: try round(.full), endedAt: .seconds(4))
        #expect(required.covers.isEmpty)
    }

    @Test func `a process that is still running after its time limit waits`() {
        var waiting = process(status: 137, signals: [], start: 1, end: 61)
        waiting.exceededTimeLimit = true
        #expect(violations(waiting) == ["waits: refresh 4 was still running after 60 s"])
    }

    @Test func `a killed process has not failed; one that was stopped, or crashed, has`() {
        #expect(violations(process(status: 137, signals: [9])) == [])
        #expect(violations(process(status: 0, signals: [19, 18])) == [])
        var stopped = process(status: 1, signals: [19, 18])
        stopped.message = "sleeve: the index is locked"
        #expect(violations(stopped) == ["failed: refresh 4 ended with exit code 1: sleeve: the index is locked"])
        #expect(violations(process(status: 139)) == ["failed: refresh 4 ended with exit code 139: "])
    }

    @Test func `a second refresh may decline, and a cover that is not required may be missing`() {
        #expect(violations(process(status: 75)) == [])
        #expect(violations(process(.verify, status: 75)).count == 1)
        #expect(violations(process(.get(cover: 0), status: 3)) == [])
        #expect(violations(process(.pack, status: 3)) == [])
    }

    @Test func `a repair that found something is a violation, although it mended that`() throws {
        let folder = try TemporaryFolder(in: FileManager.default.temporaryDirectory.path(), name: "torture")
        defer { folder.removeAll() }
        try folder.makeFolder(TortureJob.Files.directory)
        let files = TortureJob.Files(folder: folder, number: 4)
        try folder.write(#"{"entries":8,"defects":2,"rebuilt":8}"# + "\n", to: files.output)
        try folder.write("sleeve: 7.jpg: the index has lost this record\nsleeve: 8.jpg\n", to: files.errors)
        var repair = process(.repair)
        #expect(violations(repair) == [])
        repair.collect(files, catalog)
        let message = "sleeve: 7.jpg: the index has lost this record"
        #expect(violations(repair) == ["damaged: repair 4 found 2 defects: \(message)"])
    }

    @Test func `a reader that does not find a required cover has lost it`() throws {
        let url = catalog.urls[0]
        let digest = try #require(catalog.digests[url])
        var required = RequiredCovers()
        required.replace(by: [url: digest], source: "the check before round 2", at: .zero)

        #expect(violations(process(.get(cover: 0), status: 3), required: required).first?.hasPrefix("lost: ") == true)
        #expect(violations(process(.list), required: required).first?.hasPrefix("lost: ") == true)
        #expect(violations(process(.pack, status: 3), required: required).count == 1)
        var list = process(.list)
        list.listed = [url: digest]
        #expect(violations(list, required: required) == [])
        // Half of the list was written.
        #expect(violations(process(.list, status: 137, signals: [9]), required: required) == [])
    }

    @Test func `a wrong digest is a violation, also of a process that was killed`() {
        let url = catalog.urls[0]
        var prefetch = process(.prefetch(covers: [0]), status: 137, signals: [9])
        prefetch.acknowledgements = [Acknowledgement(url: url, digest: "aa")]
        #expect(violations(prefetch).first?.contains("reported the digest aa") == true)
        var get = process(.get(cover: 0))
        get.fileDigest = "aa"
        #expect(violations(get).first?.contains("wrote the digest aa") == true)
        var list = process(.list)
        list.listed = ["http://a.example/unknown.jpg": "aa"]
        #expect(violations(list).first?.contains("printed the digest aa") == true)
    }

    // MARK: Reports

    @Test func `a line of a report acknowledges a cover when all of it was written`() {
        let line = #"{"url":"http://a.example/1.jpg","outcome":"fresh","digest":"aa","bytes":1,"error":null}"#
        #expect(Acknowledgement.all(inReport: line + "\n") == [cover])
        #expect(Acknowledgement.all(inReport: line) == [])
        #expect(Acknowledgement.all(inReport: line + "\n" + line.dropLast(9)) == [cover])
    }

    @Test(arguments: [
        ("downloaded", true), ("fresh", true), ("revalidated", true), ("joined", true), ("failed", false),
        ("skipped", false),
    ])
    func `an outcome acknowledges a cover if it has a digest`(outcome: String, acknowledges: Bool) {
        let line = #"{"url":"http://a.example/1.jpg","outcome":"\#(outcome)","digest":"aa"}"# + "\n"
        #expect(Acknowledgement.all(inReport: line) == (acknowledges ? [cover] : []))
        let none = #"{"url":"http://a.example/1.jpg","outcome":"\#(outcome)","digest":null}"# + "\n"
        #expect(Acknowledgement.all(inReport: none) == [])
    }

    // MARK: The cache's contents

    private func contents() -> CacheContents {
        CacheContents(listed: catalog.digests, read: catalog.digests, coverBytes: 100)
    }

    private func kinds(_ contents: CacheContents) -> [TortureViolation.Kind] {
        contents.violations(catalog: catalog, limit: 100).map(\.kind)
    }

    @Test func `a cache with every cover as the origin serves it is good`() {
        #expect(kinds(contents()) == [])
        #expect(kinds(CacheContents()) == [])
    }

    @Test func `wrong and missing bytes, unknown covers, defects and too much space are violations`() {
        let url = catalog.urls[0]
        var found = contents()
        found.read[url] = "aa"
        #expect(kinds(found) == [.wrongBytes])
        found.read[url] = nil
        #expect(kinds(found) == [.unreadable])
        found = contents()
        found.listed[url] = "aa"
        #expect(kinds(found) == [.wrongBytes])
        found = contents()
        found.listed["http://a.example/unknown.jpg"] = "aa"
        #expect(kinds(found) == [.wrongBytes])
        found = contents()
        found.defects = ["an entry without a blob"]
        #expect(kinds(found) == [.damaged])
        found = contents()
        found.coverBytes = 101
        #expect(kinds(found) == [.overCapacity])
    }

    // MARK: What is done

    @Test func `every fourth URL has the bytes of the one before it, and the digests are the origin's`() throws {
        #expect(catalog.digests.count == 8 && Set(catalog.digests.values).count == 6)
        #expect(catalog.digests[catalog.urls[3]] == catalog.digests[catalog.urls[2]])
        #expect(catalog.urls[3].hasSuffix("&same=2"))
    }

    @Test func `a round follows from its seed and number`() {
        func round(_ number: Int, _ seed: UInt64) -> TortureRound {
            TortureRound(number: number, seed: seed, processes: 3, covers: 100, bytes: 1_000_000)
        }
        #expect(round(7, 42) == round(7, 42))
        #expect(round(7, 42).lanes != round(8, 42).lanes)
        #expect(round(7, 42).lanes != round(7, 43).lanes)
        #expect(round(7, 42).lanes.count == 3)
    }

    @Test func `nothing evicts in a round of the kind keep`() throws {
        let rounds = (1...100).map {
            TortureRound(number: $0, seed: 1, processes: 3, covers: 100, bytes: 1_000_000)
        }
        let kept = rounds.filter { $0.kind == .keep }
        #expect(!kept.isEmpty && kept.allSatisfy { $0.capacity > 2_000_000 })
        #expect(!kept.flatMap { $0.lanes.joined() }.contains { $0.job.mayEvict })
        #expect(rounds.filter { $0.kind == .evict }.flatMap { $0.lanes.joined() }.contains { $0.job.kind == .evict })
    }

    @Test func `a signal comes at its share of the job's typical duration, which undisturbed processes set`() {
        var durations = TypicalDurations()
        durations.record(process(start: 0, end: 8))
        durations.record(process(signals: [9], start: 0, end: 100))
        #expect(durations[.refresh] == .seconds(8))
        durations.record(process(start: 0, end: 4))
        #expect(durations[.refresh] == .seconds(7))
        #expect(
            TortureFate.killed(moment: 0.5).steps(typical: .seconds(7)) == [
                .init(delay: .milliseconds(3_500), signal: 9)
            ])
        #expect(TortureFate.undisturbed.steps(typical: .seconds(7)) == [])
        #expect(
            TortureFate.stopped(moment: 0, pause: .seconds(1)).steps(typical: .seconds(7)).map(\.delay) == [
                .zero, .seconds(1),
            ])
    }

    @Test func `a torture ends at the first of its limits`() {
        var report = TortureReport(seed: 1, directory: "", fileSystem: "")
        report.kills = 10
        report.rounds = 2
        report.time = .seconds(5)
        func isDone(_ rounds: Int?, _ kills: Int?, _ time: Duration?) -> Bool {
            TortureRunner.Plan(seed: 1, processes: 1, rounds: rounds, kills: kills, time: time).isDone(report)
        }
        #expect(
            isDone(2, nil, nil) && isDone(nil, 10, nil) && isDone(nil, nil, .seconds(5)) && isDone(3, 10, .seconds(6)))
        #expect(!isDone(3, 11, .seconds(6)))
    }

    // MARK: The file system

    @Test func `the file system of a path is that of the longest mount point`() {
        let mounts = """
            27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
            30 27 0:25 / /mnt/my\\040disk rw - btrfs /dev/sdb1 rw
            31 27 0:26 / /mnt/my rw master:3 propagate_from:2 - tmpfs tmpfs rw
            """
        #expect(FileSystem.mount(of: "/home/me", in: mounts)?.type == "ext4")
        #expect(FileSystem.mount(of: "/mnt/my disk/a", in: mounts)?.device == "/dev/sdb1")
        #expect(FileSystem.mount(of: "/mnt/my", in: mounts)?.type == "tmpfs")
        #expect(FileSystem.mount(of: "/mnt/myself", in: mounts)?.type == "ext4")
        #expect(FileSystem.mount(of: "/", in: "")?.type == nil)
    }
}
