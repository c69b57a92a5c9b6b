import Foundation
import Platform
import Synchronization
import Testing

@testable import Files

/// Real files, and other programs that act in the worst moments.
@Suite struct OwnFileTests {
    /// What the file system has: everything, links but no renames with flags (NFS, 9p), or neither (FAT elsewhere, FUSE).
    enum Abilities: CaseIterable {
        case all, links, none

        func error(_ change: NameChange) -> Int32 {
            switch (self, change) {
            case (.links, .exclusive), (.links, .exchange), (.none, .exclusive), (.none, .exchange): EINVAL
            case (.none, .link): EPERM
            default: 0
            }
        }
    }

    /// A folder with one file, which another program may change when Sleeve changes names.
    private final class Stage: Sendable {
        let path: String
        let name = FileName("cover.jpg")!
        let abilities: Abilities
        /// Closures that were given a stage instead of capturing it: a change that never comes leaves no folder behind.
        private let actions = Mutex<[NameChange: [@Sendable (Stage) -> Void]]>([:])

        init(_ abilities: Abilities = .all) throws {
            self.abilities = abilities
            path = FileManager.default.temporaryDirectory.path() + "sleeve-own-" + UUID().uuidString
            try FileManager.default.createDirectory(atPath: path + "/music", withIntermediateDirectories: true)
        }

        deinit { try? FileManager.default.removeItem(atPath: path) }

        /// Runs `body` directly before the next change of a kind.
        func before(_ change: NameChange, _ body: @escaping @Sendable (Stage) -> Void) {
            actions.withLock { $0[change, default: []].append(body) }
        }

        func folder() throws -> OpenFolder {
            try OpenFolder(path: Array("\(path)/music".utf8)) { [self] change, _, _ in
                let action = actions.withLock { $0[change]?.isEmpty == false ? $0[change]?.removeFirst() : nil }
                action?(self)
                return abilities.error(change)
            }
        }

        func journal() -> StepJournal { StepJournal(directory: path + "/steps") }
        func file(_ journal: StepJournal? = nil) throws -> OwnFile {
            OwnFile(name, in: try folder(), journal ?? self.journal())
        }

        /// Saves as editors do: a new file that is renamed over the old one.
        func save(_ text: String, as name: String = "cover.jpg") {
            let temporary = "\(path)/music/.\(UUID())"
            _ = FileManager.default.createFile(atPath: temporary, contents: Data(text.utf8))
            rename(temporary, "\(path)/music/\(name)")
        }

        func new(_ text: String) throws -> NewFile {
            let file = try NewFile(in: try folder())
            try file.write(Array(text.utf8))
            return file
        }

        func replace(
            _ old: String, by new: String, isSleeves: Bool = true, keepsHardLinks: Bool = false
        ) -> OwnFile.Refusal? {
            refusal {
                let expected = OwnFile.Expected(Digest(of: Array(old.utf8)), isSleeves: isSleeves)
                try file().replace(expected, by: self.new(new), keepsHardLinks: keepsHardLinks)
            }
        }

        func remove(_ old: String) -> OwnFile.Refusal? {
            refusal { try file().remove(.init(Digest(of: Array(old.utf8)), isSleeves: true)) }
        }

        private func refusal(_ act: () throws -> Void) -> OwnFile.Refusal? {
            do { try act() } catch let refusal as OwnFile.Refusal { return refusal } catch { Issue.record("\(error)") }
            return nil
        }

        var files: [String: String] {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: path + "/music")) ?? []
            return Dictionary(uniqueKeysWithValues: names.map { ($0, text(of: "\(path)/music/\($0)") ?? "?") })
        }
    }

    @Test(arguments: Abilities.allCases) func `a file is created, replaced and removed`(abilities: Abilities) throws {
        let stage = try Stage(abilities)
        try stage.file().create(stage.new("one"))
        #expect(stage.files == ["cover.jpg": "one"])
        let error = #expect(throws: SystemError.self) { try stage.file().create(stage.new("two")) }
        #expect(error?.cause == .exists)
        #expect(stage.replace("one", by: "two") == nil)
        #expect(stage.files == ["cover.jpg": "two"])
        #expect(stage.remove("one") == .changed)
        #expect(stage.remove("two") == nil)
        #expect(stage.files == [:])
        #expect(try names(in: stage.path + "/steps").isEmpty)
    }

    @Test(arguments: Abilities.allCases) func `what a person saves before a file is created stays`(abilities: Abilities)
        throws
    {
        let stage = try Stage(abilities)
        stage.before(.exclusive) { $0.save("mine") }
        #expect(throws: SystemError.self) { try stage.file().create(stage.new("one")) }
        #expect(stage.files == ["cover.jpg": "mine"])
    }

    @Test(arguments: Abilities.allCases, [true, false])
    func `what a person saves or removes between look and act stays so`(abilities: Abilities, isSaved: Bool) throws {
        for isReplacement in [true, false] {
            let stage = try Stage(abilities)
            stage.save("one")
            // The first rename is that to the hidden name.
            stage.before(.rename) { if isSaved { $0.save("mine") } else { unlink("\($0.path)/music/cover.jpg") } }
            #expect((isReplacement ? stage.replace("one", by: "two") : stage.remove("one")) == .changed)
            #expect(stage.files == (isSaved ? ["cover.jpg": "mine"] : [:]))
        }
    }

    @Test func `of two versions that a person saves the later one has the name, and the other one is visible`() throws {
        let stage = try Stage()
        stage.save("one")
        stage.before(.exchange) { $0.save("first") }
        stage.before(.exchange) { $0.save("second") }
        #expect(stage.replace("one", by: "two") == .movedAside(try #require(FileName("cover.jpg.kept-1"))))
        #expect(stage.files == ["cover.jpg": "second", "cover.jpg.kept-1": "first"])
        let other = try Stage()
        other.save("one")
        other.before(.rename) { $0.save("first") }
        other.before(.exclusive) { $0.save("second") }
        #expect(other.remove("one") == .movedAside(try #require(FileName("cover.jpg.kept-1"))))
        #expect(other.files == ["cover.jpg": "second", "cover.jpg.kept-1": "first"])
    }

    @Test func `what a person saves while the name is free has it, and Sleeve's own old file goes`() throws {
        let stage = try Stage(.links)
        stage.save("one")
        stage.before(.exclusive) { $0.save("mine") }
        #expect(stage.replace("one", by: "two") == .changed)
        #expect(stage.files == ["cover.jpg": "mine"])
        let song = try Stage(.links)
        song.save("one")
        song.before(.exclusive) { $0.save("mine") }
        let aside = try #require(FileName("cover.jpg.kept-1"))
        #expect(song.replace("one", by: "two", isSleeves: false) == .movedAside(aside))
        #expect(song.files == ["cover.jpg": "mine", "cover.jpg.kept-1": "one"])
    }

    @Test func `a link, a folder or a pipe is nothing that was expected`() throws {
        for make in ["ln -s other", "mkdir", "mkfifo"] {
            let stage = try Stage()
            stage.save("one", as: "other")
            let shell = try Process.run(
                URL(filePath: "/bin/sh"), arguments: ["-c", "cd '\(stage.path)/music' && \(make) cover.jpg"])
            shell.waitUntilExit()
            #expect(stage.replace("one", by: "two") == .changed)
            #expect(stage.remove("one") == .changed)
            #expect(stage.files["other"] == "one" && stage.files.count == 2)
        }
    }

    #if os(Linux)
        @Test(arguments: [false, true]) func `a file that another program has open for writing is left`(isLate: Bool)
            throws
        {
            let stage = try Stage()
            stage.save("one")
            let path = "\(stage.path)/music/cover.jpg"
            let descriptor = Mutex<Int32>(-1)
            let open: @Sendable () -> Void = { descriptor.withLock { $0 = Glibc.open(path, O_WRONLY | O_APPEND) } }
            // It is opened before the first look, or after it.
            if isLate { stage.before(.exchange) { _ in open() } } else { open() }
            #expect(stage.replace("one", by: "two") == .openForWriting)
            if isLate {
                descriptor.withLock { _ = close($0) }
                stage.before(.rename) { _ in open() }
            }
            #expect(stage.remove("one") == .openForWriting)
            descriptor.withLock { file in
                _ = write(file, " more", 5)
                close(file)
            }
            #expect(stage.files == ["cover.jpg": "one more"])
        }

        @Test func `a reader does no harm`() throws {
            let stage = try Stage()
            stage.save("one")
            let descriptor = open("\(stage.path)/music/cover.jpg", O_RDONLY)
            defer { close(descriptor) }
            #expect(stage.replace("one", by: "two") == nil)
        }
    #endif

    @Test func `a file with other names is left if its old bytes must not live on under them`() throws {
        let stage = try Stage()
        stage.save("one")
        link("\(stage.path)/music/cover.jpg", "\(stage.path)/other")
        #expect(stage.replace("one", by: "two", keepsHardLinks: true) == .hasHardLinks)
        #expect(stage.replace("one", by: "two") == nil)
        #expect(text(of: stage.path + "/other") == "one")
    }

    @Test func `permissions stay`() throws {
        let stage = try Stage()
        stage.save("one")
        chmod("\(stage.path)/music/cover.jpg", 0o640)
        #expect(stage.replace("one", by: "two") == nil)
        let attributes = try FileManager.default.attributesOfItem(atPath: "\(stage.path)/music/cover.jpg")
        #expect(attributes[.posixPermissions] as? Int == 0o640)
    }

    // MARK: Crashes

    /// The folder as a crash before each change of names leaves it.
    private func crashes(_ abilities: Abilities, _ body: (Stage, OwnFile) throws -> Void) throws -> [Stage] {
        var stages: [Stage] = []
        for kind in [NameChange.rename, .exclusive, .exchange, .link, .unlink] {
            for count in 0..<3 {
                let (stage, copy) = (try Stage(abilities), try Stage(abilities))
                stage.save("one")
                for _ in 0..<count { stage.before(kind) { _ in } }
                let taken = Mutex(false)
                stage.before(kind) { stage in
                    // What is on the disk now is what a crash leaves, but for the path.
                    try? FileManager.default.removeItem(atPath: copy.path)
                    try? FileManager.default.copyItem(atPath: stage.path, toPath: copy.path)
                    taken.withLock { $0 = true }
                }
                try? body(stage, try stage.file())
                guard taken.withLock({ $0 }) else { continue }
                let steps = copy.path + "/steps"
                for name in (try? names(in: steps)) ?? [] {
                    let lines = (text(of: "\(steps)/\(name)") ?? "").split(separator: "\n").compactMap {
                        Step(line: $0)
                    }
                    let moved = lines.map { step in
                        var step = step
                        step.folder = Array("\(copy.path)/music".utf8)
                        return step.line + "\n"
                    }
                    try Data(moved.joined().utf8).write(to: URL(filePath: "\(steps)/\(name)"))
                }
                stages.append(copy)
            }
        }
        return stages
    }

    @Test(arguments: Abilities.allCases, [false, true])
    func `after a crash a replaced file is the old one or the new one, and nothing is left`(
        abilities: Abilities, isSleeves: Bool
    ) throws {
        let stages = try crashes(abilities) { stage, file in
            try file.replace(.init(Digest(of: Array("one".utf8)), isSleeves: isSleeves), by: try stage.new("two"))
        }
        #expect(stages.count > 2)
        for stage in stages {
            _ = stage.journal().recover()
            try stage.folder().sweep()
            #expect(stage.files == ["cover.jpg": "one"] || stage.files == ["cover.jpg": "two"], "\(stage.files)")
            #expect((try? names(in: stage.path + "/steps"))?.isEmpty ?? true)
        }
    }

    @Test(arguments: Abilities.allCases) func `after a crash a removed file is there or gone`(abilities: Abilities)
        throws
    {
        let stages = try crashes(abilities) { _, file in
            try file.remove(.init(Digest(of: Array("one".utf8)), isSleeves: true))
        }
        #expect(!stages.isEmpty)
        for stage in stages {
            _ = stage.journal().recover()
            #expect(stage.files == [:] || stage.files == ["cover.jpg": "one"], "\(stage.files)")
        }
    }

    @Test func `after a crash a person's file that came out gets its name, or one beside it`() throws {
        let hidden = try #require(FileName(".sleeve-1-1-1.step"))
        for (name, expected) in [
            ("two", ["cover.jpg": "mine"]), ("", ["cover.jpg": "mine"]),
            ("other", ["cover.jpg": "other", "cover.jpg.kept-1": "mine"]),
        ] {
            let stage = try Stage()
            if !name.isEmpty { stage.save(name) }
            stage.save("mine", as: "\(hidden)")
            let step = Step(
                folder: Array("\(stage.path)/music".utf8), name: stage.name, hidden: hidden,
                expected: .init(Digest(of: Array("one".utf8)), isSleeves: true), new: Digest(of: Array("two".utf8)))
            do {
                // Its step is never completed.
                try stage.journal().begin(step)
            }
            #expect(!stage.journal().recover().isEmpty)
            #expect(stage.files == expected)
            #expect(stage.journal().recover().isEmpty)
        }
    }

    @Test func `the steps of a process that lives are its own`() throws {
        let stage = try Stage()
        let journal = stage.journal()
        let hidden = try #require(FileName(".sleeve-1-1-1.step"))
        stage.save("two", as: "\(hidden)")
        try journal.begin(
            Step(
                folder: Array("\(stage.path)/music".utf8), name: stage.name, hidden: hidden,
                expected: .init(Digest(of: Array("one".utf8)), isSleeves: true), new: Digest(of: Array("two".utf8))))
        #expect(stage.journal().recover().isEmpty)
        #expect(stage.files == ["\(hidden)": "two"])
    }
}
