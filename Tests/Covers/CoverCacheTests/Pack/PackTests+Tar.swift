import Foundation
import Platform
import Testing

@testable import CoverCache
@testable import CoverPack

/// Tars that programs make of a cache.
extension PackTests {
    @Test(arguments: ["gnu", "oldgnu", "pax", "posix", "ustar"], [1, 60, 120])
    func `names that are too long for a header are read, in other alphabets, too`(format: String, length: Int) throws {
        // A name of 120 bytes has no place in a header of that format, which tar refuses to write.
        if format == "ustar", length > 100 { return }
        try withFolder { folder in
            try fill(folder)
            let home = String(repeating: "é", count: length / 2) + String(repeating: "n", count: length % 2) + "/x.y"
            try FileManager.default.createDirectory(
                atPath: "\(folder.root)/home/\(home)", withIntermediateDirectories: true)
            try Bytes.move(folder.path, to: "\(folder.root)/home/\(home)/cache")
            let path = folder.root + "/long.tar"
            try tar("cf", path, "--format=\(format)", "-C", folder.root, "home")
            let contents = try read(path)
            #expect(contents.covers == all && contents.problems == [])
        }
    }

    @Test func `links, devices and binary lengths between the covers cost none`() throws {
        try withFolder { folder in
            let bytes = try pack(folder)
            let start = try #require(Data(bytes).range(of: Data("covers/".utf8))?.lowerBound)
            func header(_ kind: Character, _ name: String, length: [UInt8], _ body: [UInt8] = []) -> [UInt8] {
                var block = TarHeader(name, length: 0).bytes
                block.replaceSubrange(124..<124 + length.count, with: length)
                block[156] = kind.asciiValue ?? 0
                for index in 148..<156 { block[index] = UInt8(ascii: " ") }
                let sum = String(block.reduce(0) { $0 + Int($1) }, radix: 8)
                block.replaceSubrange(
                    148..<155, with: Array((String(repeating: "0", count: 6 - sum.count) + sum).utf8) + [0])
                return block + body + [UInt8](repeating: 0, count: -body.count & 511)
            }
            // A hard link has the length of its file and no bytes. GNU tar writes large numbers in binary.
            let others =
                header("1", name(picture(1)), length: Array("00000011610".utf8))
                + header("2", "covers/link", length: Array("77777777777".utf8)) + header("5", "covers", length: [])
                + header(
                    "0", "large", length: [0x80] + [UInt8](repeating: 0, count: 9) + [2, 0], picture(9, bytes: 512))
                + header("D", "covers", length: Array("00000000005".utf8), [1, 2, 3, 4, 5])
                + header("g", "g", length: Array("00000000021".utf8), Array("17 path=nonsense\n".utf8))
                + header("x", "x", length: Array("00000000021".utf8), Array("99 path=nonsense\n".utf8))
            for offset in [0, start] {
                let contents = try read(bytes[..<offset] + others + bytes[offset...], folder)
                #expect(contents.covers == all && contents.problems == [], "\(contents.problems)")
            }
        }
    }

    @Test func `a cover that tar has written without its holes is reported`() throws {
        try withFolder { folder in
            var body = picture(1, bytes: 300_000)
            body.replaceSubrange(20_000..<280_000, with: repeatElement(0, count: 260_000))
            try folder.written { try $0.store(url(1), body) }
            let file = try FileHandle(forUpdating: URL(fileURLWithPath: folder.file(body)))
            try file.truncate(atOffset: 20_000)
            try file.truncate(atOffset: 280_000)
            try file.seek(toOffset: 280_000)
            try file.write(contentsOf: body[280_000...])
            try file.close()
            for format in ["gnu", "pax"] {
                let path = folder.root + "/sparse.tar"
                try tar("cSf", path, "--format=\(format)", "-C", folder.path, "entries.jsonl", "covers")
                let contents = try read(path)
                #expect(contents.covers.isEmpty == contents.damaged.contains(url(1)), "\(contents.problems)")
            }
        }
    }
}
