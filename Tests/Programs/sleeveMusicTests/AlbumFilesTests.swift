import Foundation
import SleeveStage
import Testing

@testable import CoverLibrary

extension MusicTests {
    /// `album import` with files that it rejects.
    @Suite struct AlbumFilesTests {
        /// A list, the titles in the library afterwards, what is printed, and what is said of each album that is skipped.
        @Test(
            arguments: [
                (
                    "x.csv",
                    "title,year,url\n Good ,1999,\nBad,19,https://a/1\n,1999,https://a/2\nNo,,ftp://a\nAlso,,https://a/3\n",
                    ["Good", "Also"], "Imported 2 albums, 3 skipped\n",
                    [
                        ":3: skipped: year: the year needs four digits", ":4: skipped: an album needs a title",
                        ":5: skipped: coverUrl: ftp:// is not supported",
                    ]
                ),
                (
                    "x.json", "[{\"title\": \"A\"},\n {\"title\": \"B\", \"mbid\": \"12\"}]", ["A"],
                    "Imported 1 album, 1 skipped\n", [":2:2: skipped: mbid: '12' is not"]
                ),
                (
                    "x.jsonl", "{\"title\":\"B\",\"mbid\":[1.0]}\n\"https://a/1\"\nnonsense\n", ["B"],
                    "Imported 1 album, 2 skipped\n", [":2: skipped: this is a URL", ":3:1: malformed JSON"]
                ),
                (
                    "more.csv", "Title;Year\nLow Tide;1971\nPaper Suns;\n", ["Low Tide", "Paper Suns"],
                    "Imported 2 albums\n", []
                ),
                ("none.csv", "A;B\n1;2\n", [], "", [":1: no column"]),
                ("cut.json", "[{\"title\":\"B\"},{\"title\":", [], "", [":1:"]),
            ] as [(String, String, [String], String, [String])])
        func `an import skips what is no album, naming its line, and imports the others with all fields`(
            name: String, text: String, titles: [String], output: String, problems: [String]
        ) async throws {
            try await withStage { stage in
                let (library, list) = (try stage.file("albums.json", "[]"), try stage.file(name, text))
                let result = try await stage.run("album", "import", list)
                #expect(result.status == (titles.isEmpty ? 1 : problems.isEmpty ? 0 : 3), "\(result)")
                #expect(result.stdout == output, "\(result)")
                for problem in problems { #expect(result.stderr.contains("sleeve: \(list)\(problem)"), "\(result)") }
                #expect(result.stderr.split(separator: "\n").count >= problems.count)
                #expect(try stage.albums(of: library).map(\.title) == titles)
                if name == "x.jsonl" { #expect(try stage.text(of: library).contains("\"mbid\": [1.0]")) }
            }
        }
    }
}
