import Foundation
import Testing

@testable import CoverLibrary

extension CommandTests {
    /// `album import` and `album export` with files that they reject.
    @Suite struct AlbumFilesTests {
        @Test func `an import skips albums that add refuses, naming their lines, and imports the others`() async throws
        {
            try await withStage { stage in
                _ = try stage.file("albums.json", "[]")
                let list = try stage.file(
                    "x.csv",
                    "title,year,url\n Good ,1999,\nBad,19,https://a/1\n,1999,https://a/2\nNo,,ftp://a\nAlso,,https://a/3\n"
                )
                let result = try await stage.run("album", "import", list)
                #expect(result.status == 3 && result.stdout == "Imported 2 albums, 3 skipped\n", "\(result)")
                let lines = result.stderr.split(separator: "\n")
                #expect(lines.count == 3)
                for (line, text) in zip(
                    lines,
                    [
                        "3: skipped: year: the year needs four digits", "4: skipped: an album needs a title",
                        "5: skipped: coverUrl: ftp:// is not supported",
                    ])
                { #expect(line.hasPrefix("sleeve: \(list):\(text)"), "\(result)") }
                #expect(try stage.albums(of: stage.folder + "/albums.json").map(\.title) == ["Good", "Also"])
            }
        }

        @Test func `an import names the line of an invalid id`() async throws {
            try await withStage { stage in
                _ = try stage.file("albums.json", "[]")
                let list = try stage.file("x.json", "[{\"title\": \"A\"},\n {\"title\": \"B\", \"mbid\": \"12\"}]")
                let result = try await stage.run("album", "import", list)
                #expect(
                    result.status == 3 && result.stderr.contains("\(list):2:2: skipped: mbid: '12' is not"), "\(result)"
                )
            }
        }

        @Test(arguments: ["x.xml", "x.txt", "x.JSONX", "a.csv/x.xlsx"])
        func `an export to an unknown format fails, names the known ones, and writes nothing`(
            name: String
        ) async throws {
            try await withStage { stage in
                let library = try stage.file("albums.json", "[]")
                let result = try await stage.run("album", "export", stage.folder + "/" + name)
                #expect(result.status == 64)
                #expect(result.stderr.contains("Use .json, .jsonl or .csv"), "\(result)")
                #expect(try FileManager.default.contentsOfDirectory(atPath: stage.folder) == ["albums.json"])
                #expect(try stage.text(of: library) == "[]")
            }
        }

        @Test(
            arguments: [
                (["x.CSV"], "id,title"), (["x.ndjson"], "{\"id\""), (["plain"], "[\n"), ([".hidden"], "[\n"),
                (["x.txt", "--format", "csv"], "id,title"),
            ])
        func `an export's format follows the extension or --format; the default is JSON`(
            arguments: [String], start: String
        ) async throws {
            try await withStage { stage in
                _ = try stage.file("albums.json", "[{\"title\": \"A\"}]")
                let file = stage.folder + "/" + arguments[0]
                let result = try await run(
                    ["album", "export", file] + arguments.dropFirst(), environment: stage.environment)
                #expect(result.status == 0 && result.stderr.contains("wrote 1 album to \(file)"), "\(result)")
                #expect(try stage.text(of: file).hasPrefix(start))
            }
        }
    }
}
