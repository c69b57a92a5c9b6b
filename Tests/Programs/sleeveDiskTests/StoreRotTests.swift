#if os(Linux)
    import Foundation
    import Platform
    import SleeveStage
    import Testing

    extension DiskTests {
        /// A file of the cache changes by itself.
        @Suite(.serialized) struct StoreRotTests {
            private enum Damage: CaseIterable {
                case flip, zeros, cut, longer, gone, noise

                func apply(to path: String, _ random: inout SplitMix64) throws {
                    var bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
                    let position = bytes.isEmpty ? 0 : Int.random(in: bytes.indices, using: &random)
                    switch self {
                    case .flip where !bytes.isEmpty: bytes[position] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                    case .zeros:
                        for index in position..<min(position + 512, bytes.count) { bytes[index] = 0 }
                    case .cut: bytes.removeLast(bytes.count - position)
                    case .flip, .longer: bytes += (0..<100).map { _ in UInt8.random(in: 0...255, using: &random) }
                    case .gone: return try FileManager.default.removeItem(atPath: path)
                    case .noise: bytes = bytes.map { _ in UInt8.random(in: 0...255, using: &random) }
                    }
                    try Data(bytes).write(to: URL(filePath: path))
                }

                /// Whether an index that is damaged so cannot be taken for a whole one.
                var isGross: Bool { [.gone, .noise].contains(self) }
            }

            @Test func `a damaged file gives no wrong cover, can be repaired, and costs no other cover`() async throws {
                try await withStage { stage in
                    let urls = stage.urls(0..<12) + stage.urls(12..<16, "size=4000&same=3")
                    try await stage.fill(urls)
                    let expected = Dictionary(
                        uniqueKeysWithValues: try await stage.entries().map { ($0.url, $0.digest) })
                    #expect(expected.count == urls.count)
                    let base = stage.folder + "/base"
                    try FileManager.default.moveItem(atPath: stage.cache, toPath: base)
                    let files = try FileManager.default.subpathsOfDirectory(atPath: base).sorted().filter { name in
                        var isDirectory: ObjCBool = false
                        return FileManager.default.fileExists(atPath: "\(base)/\(name)", isDirectory: &isDirectory)
                            && !isDirectory.boolValue && !name.hasSuffix("-shm")
                    }
                    // The index and its log, as often as all covers.
                    let others = files.filter { !$0.hasPrefix("covers/") }
                    let covers = files.filter { $0.hasPrefix("covers/") }
                    try #require(!covers.isEmpty && others.count > 2, "\(files)")
                    var random = SplitMix64(seed: 11)
                    // Each kind of damage to a cover once, and twice to another file.
                    for round in 0..<(isThorough ? 600 : 18) {
                        try? FileManager.default.removeItem(atPath: stage.cache)
                        try FileManager.default.copyItem(atPath: base, toPath: stage.cache)
                        let kind = round.quotientAndRemainder(dividingBy: Damage.allCases.count)
                        let damage = Damage.allCases[kind.remainder]
                        let name = (kind.quotient % 3 == 0 ? covers : others).randomElement(using: &random)!
                        try damage.apply(to: "\(stage.cache)/\(name)", &random)
                        let place = "\(damage) in \(name), round \(round)"
                        // The log has what was not yet moved into the index: what is lost with it, no other file knows for sure.
                        let isIndex = name.hasPrefix("index.sqlite3")
                        let mayLack = isIndex && (name.hasSuffix("-wal") || !damage.isGross)
                        let hit = Set(expected.filter { name.hasSuffix("/" + $0.value) }.keys)
                        let found = try? await CacheCheck.digests(in: stage.cache)
                        for (url, digest) in found ?? [:] {
                            if let digest { #expect(expected[url] == digest, "\(url), \(place)") }
                        }
                        let repair = try await stage.run("cache", "verify", "--repair")
                        #expect(repair.status == 0, "\(place): \(repair)")
                        let check = CacheCheck(
                            required: mayLack ? [:] : expected.filter { !hit.contains($0.key) }.mapValues { [$0] },
                            allowed: expected.mapValues { [$0] }, findsLitter: true)
                        let faults = await check.faults(in: stage.cache)
                        #expect(faults.isEmpty, "\(place): \(faults)")
                        let verified = try await stage.run("cache", "verify")
                        #expect(verified.status == 0, "\(place): \(verified)")
                    }
                }
            }
        }
    }
#endif
