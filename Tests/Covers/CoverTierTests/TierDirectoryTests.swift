import CoverCache
import CoverTier
import Foundation
import Platform
import Testing

struct TierDirectoryTests {
    private func withDirectory(_ body: (TierDirectory, _ path: String) async throws -> Void) async throws {
        let path = FileManager.default.temporaryDirectory.path() + "sleeve-tier-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: path) }
        try await body(TierDirectory(path), path)
    }

    private func cover(_ number: Int, _ body: [UInt8]) -> TierCover {
        TierCover(
            EntryMetadata(
                key: "https://a.example/\(number).jpg", mediaType: "image/jpeg", width: 5, storedAt: 1_764_000_000_000,
                freshUntil: 1_764_000_001_000, fields: "etag: \"\(number)\"\nrequest URL: https://a.example/é\n"),
            Digest(of: body), body: body)
    }

    private func files(_ path: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: path).filter { name in
            var isFolder: ObjCBool = false
            return FileManager.default.fileExists(atPath: "\(path)/\(name)", isDirectory: &isFolder)
                && !isFolder.boolValue
        }.sorted()
    }

    /// The case of the error that `body` throws; nil if it throws none.
    private func problem(_ body: () async throws(TierError) -> Void) async -> String? {
        do throws(TierError) {
            try await body()
            return nil
        } catch {
            return switch error {
            case .unreachable: "unreachable"
            case .refused: "refused"
            case .damaged: "damaged"
            case .full: "full"
            case .unsuitable: "unsuitable"
            case .otherVersion: "otherVersion"
            }
        }
    }

    @Test func `a cover is read as it was put, and equal bytes are one file that any program can open`() async throws {
        try await withDirectory { tier, path in
            try await tier.check(isReadOnly: false)
            let covers = [cover(1, [1, 2, 3]), cover(2, [1, 2, 3]), cover(3, [])]
            for cover in covers { try await tier.put(cover) }
            for cover in covers {
                let found = try #require(try await tier.cover(for: cover.key))
                #expect(found.entry == cover.entry && found.body == cover.body)
            }
            #expect(try await tier.cover(for: TierKey("https://a.example/4.jpg")) == nil)
            let files = try files(path)
            #expect(files.filter { $0.hasPrefix("entries/") }.count == 3 && files.count == 6, "\(files)")
            let name = covers[0].entry.digest.description
            let bytes = try Data(contentsOf: URL(filePath: "\(path)/covers/\(name.prefix(2))/\(name)"))
            #expect(Array(bytes) == [1, 2, 3])
        }
    }

    @Test(arguments: ["rotten", "cut", "longer", "gone", "another's", "not JSON", "empty", "a folder"])
    func `a damaged cover is noticed, and the next put mends it`(damage: String) async throws {
        try await withDirectory { tier, path in
            let (good, other) = (cover(1, Array(repeating: 7, count: 999)), cover(2, [1, 2, 3]))
            try await tier.check(isReadOnly: false)
            for cover in [good, other] { try await tier.put(cover) }
            let name = good.entry.digest.description
            let file = URL(filePath: "\(path)/covers/\(name.prefix(2))/\(name)")
            let entry = URL(filePath: "\(path)/entries/\(good.key.path)")
            switch damage {
            case "rotten": try Data([8] + good.body.dropFirst()).write(to: file)
            case "cut": try Data(good.body.dropLast(1)).write(to: file)
            case "longer": try Data(good.body + [7]).write(to: file)
            case "gone": try FileManager.default.removeItem(at: file)
            case "another's": try Data(other.entry.line).write(to: entry)
            case "not JSON": try Data("{".utf8).write(to: entry)
            case "empty": try Data().write(to: entry)
            default:
                try FileManager.default.removeItem(at: entry)
                try FileManager.default.createDirectory(at: entry, withIntermediateDirectories: false)
            }
            #expect(await problem { () throws(TierError) in _ = try await tier.cover(for: good.key) } == "damaged")
            if damage == "a folder" { try FileManager.default.removeItem(at: entry) }
            try await tier.put(good)
            #expect(try await tier.cover(for: good.key)?.body == good.body)
        }
    }

    @Test func `many writers of one cover leave a whole one, and no other file`() async throws {
        try await withDirectory { tier, path in
            try await tier.check(isReadOnly: false)
            let body = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
            let machines = (0..<4).map { _ in TierDirectory(path) }
            await withTaskGroup { group in
                for number in 0..<64 {
                    let (tier, cover) = (machines[number % 4], cover(number % 2, body))
                    group.addTask {
                        await #expect(throws: Never.self) { try await tier.put(cover) }
                        let found = try? await tier.cover(for: cover.key)
                        #expect(found?.body == body)
                    }
                }
            }
            #expect(try files(path).count == 4)
        }
    }

    @Test func `a tier whose disk is unmounted gets nothing, and is one again when the disk is back`() async throws {
        try await withDirectory { tier, path in
            try await tier.check(isReadOnly: false)
            try await tier.put(cover(1, [1]))
            try FileManager.default.moveItem(atPath: path, toPath: path + "-disk")
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            #expect(await problem { () throws(TierError) in try await tier.put(cover(2, [2])) } == "refused")
            let key = cover(1, [1]).key
            #expect(await problem { () throws(TierError) in _ = try await tier.cover(for: key) } == "refused")
            #expect(try files(path).isEmpty)
            try FileManager.default.removeItem(atPath: path)
            try FileManager.default.moveItem(atPath: path + "-disk", toPath: path)
            try await tier.put(cover(2, [2]))
            #expect(try await tier.cover(for: key)?.body == [1])
        }
    }

    @Test(arguments: [(mode_t(0o2775), mode_t(0o664)), (0o700, 0o600), (0o777, 0o666)])
    func `folders have the permissions of the tier, and files its rights to read and write`(
        folders: mode_t, files: mode_t
    ) async throws {
        try await withDirectory { tier, path in
            #expect(chmod(path, folders) == 0)
            try await tier.check(isReadOnly: false)
            try await tier.put(cover(1, [1]))
            for name in try FileManager.default.subpathsOfDirectory(atPath: path) {
                var status = stat()
                #expect(stat("\(path)/\(name)", &status) == 0)
                let wanted = status.st_mode & S_IFMT == S_IFDIR ? folders : files
                #expect(status.st_mode & 0o7777 == wanted, "\(name)")
            }
        }
    }

    @Test func `a tier is written once: a full or read-only disk keeps nothing from being read`() async throws {
        try await withDirectory { tier, path in
            try await tier.check(isReadOnly: false)
            let file = path + "/sleeve-tier"
            var (before, after) = (stat(), stat())
            #expect(stat(file, &before) == 0)
            try await tier.check(isReadOnly: false)
            #expect(stat(file, &after) == 0 && before.st_ino == after.st_ino)
        }
    }

    @Test func `a directory that is missing, a cache, or of another version is no tier, and nothing is written`()
        async throws
    {
        try await withDirectory { tier, path in
            let missing = TierDirectory(path + "/none")
            #expect(await problem { () throws(TierError) in try await missing.check(isReadOnly: false) } == "refused")
            #expect(
                await problem { () throws(TierError) in try await missing.put(cover(1, [1])) } == "refused")
            #expect(await problem { () throws(TierError) in try await tier.check(isReadOnly: true) } == "refused")
            #expect(try files(path).isEmpty && !FileManager.default.fileExists(atPath: path + "/none"))

            try Data().write(to: URL(filePath: path + "/index.sqlite3"))
            #expect(await problem { () throws(TierError) in try await tier.check(isReadOnly: false) } == "refused")
            try FileManager.default.removeItem(atPath: path + "/index.sqlite3")
            try Data().write(to: URL(filePath: path + "/01 - Low Tide.flac"))
            #expect(await problem { () throws(TierError) in try await tier.check(isReadOnly: false) } == "refused")
            try FileManager.default.removeItem(atPath: path + "/01 - Low Tide.flac")
            for name in ["lost+found", ".snapshot", "@eaDir", "#recycle", "Thumbs.db", ".stfolder", "._x", ".DS_Store"]
            {
                try FileManager.default.createDirectory(atPath: "\(path)/\(name)", withIntermediateDirectories: false)
            }

            try await tier.check(isReadOnly: false)
            try await tier.check(isReadOnly: true)
            #expect(try String(contentsOfFile: path + "/sleeve-tier", encoding: .utf8) == "sleeve tier 1\n")
            try Data("sleeve tier 2\n".utf8).write(to: URL(filePath: path + "/sleeve-tier"))
            for isReadOnly in [true, false] {
                let found = await problem { () throws(TierError) in try await tier.check(isReadOnly: isReadOnly) }
                #expect(found == "otherVersion")
            }
            #expect(try String(contentsOfFile: path + "/sleeve-tier", encoding: .utf8) == "sleeve tier 2\n")
        }
    }
}
