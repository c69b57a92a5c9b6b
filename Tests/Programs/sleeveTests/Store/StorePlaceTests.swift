import Foundation
import OriginServer
import SleeveStage
import Testing

extension CacheCommandTests {
    /// Where a cache may be, and how it may get there.
    @Suite struct StorePlaceTests {
        @Test(arguments: [
            ["get"], ["prefetch"], ["cache", "list"], ["cache", "verify", "--repair"], ["cache", "evict", "--to", "0"],
        ])
        func `a folder of a person's is refused, and nothing in it changes`(arguments: [String]) async throws {
            try await withStage { stage in
                let files = ["docs/writing/novel.txt", "docs/covers/ab/holiday.jpg", "docs/reserve", "docs/letter.txt"]
                for file in files {
                    let file = URL(filePath: "\(stage.folder)/\(file)")
                    try FileManager.default.createDirectory(
                        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
                    try Data("mine".utf8).write(to: file)
                }
                let before = try FileManager.default.subpathsOfDirectory(atPath: stage.folder + "/docs").sorted()
                let urls = stage.urls(0..<1)
                let input = try ["get": urls, "prefetch": [stage.list(urls)]][arguments[0]] ?? []
                let result = try await SleeveStage.run(
                    arguments + input + ["--cache", stage.folder + "/docs"], environment: stage.environment)
                #expect(result.status == 1 && result.stderr.contains("--cache"), "\(result)")
                #expect(try FileManager.default.subpathsOfDirectory(atPath: stage.folder + "/docs").sorted() == before)
                for file in files { #expect(try stage.text(of: "\(stage.folder)/\(file)") == "mine") }
            }
        }

        /// A backup does not ask for locks.
        @Test(arguments: ["cp -a \"$1\" \"$2\"", "mkdir \"$2\" && tar cf - -C \"$1\" . | tar xf - -C \"$2\""])
        func `a cache that is copied while a writer works opens, and what it lists is whole`(copy: String) async throws
        {
            try await withStage { stage in
                let old = stage.urls(0..<20)
                try await stage.fill(old)
                let list = try stage.list(stage.urls(20..<620, "size=4000&delay=1"))
                let writer = try stage.start("prefetch", list, "--quiet")
                var number = 0
                while writer.isRunning {
                    number += 1
                    let target = "\(stage.folder)/copy-\(number)"
                    // A file that is gone when tar comes to it is a warning.
                    let copied = try await stage.shell(copy + " 2>/dev/null || [ -d \"$2\" ]", stage.cache, target)
                    #expect(copied.status == 0, "\(copied)")
                    let listed = try await stage.run("cache", "list", "--json", "--cache", target)
                    let entries: [ListLine] = try listed.lines()
                    #expect(listed.status == 0 && Set(entries.map(\.url)).isSuperset(of: old), "\(listed)")
                    let broken = entries.filter { entry in
                        let bytes = try? Data(contentsOf: URL(filePath: stage.coverFile(entry.digest, in: target)))
                        return bytes.map { digest([UInt8]($0)) } != entry.digest
                    }
                    #expect(
                        broken.isEmpty, "copy \(number): \(broken.count) of \(entries.count), first \(broken[0].url)")
                    // Rows of covers that came after the copy of their folder.
                    #expect(try await stage.run("cache", "verify", "--repair", "--cache", target).status == 0)
                    #expect(try await stage.run("cache", "verify", "--cache", target).status == 0)
                    try FileManager.default.removeItem(atPath: target)
                }
                #expect(number > 0)
                #expect(await writer.exit().status == 0)
                #expect(try await stage.entries().count == 620)
            }
        }

        #if os(Linux)
            @Test(.enabled(if: mayMount, "needs a user namespace"))
            func `a cache in the lower layer of an overlay is read, filled, evicted and repaired`() async throws {
                try await withStage { stage in
                    try await stage.fill(stage.urls(0..<6))
                    let more = try stage.list(stage.urls(4..<12))
                    let result = try await stage.shell(
                        """
                        exec unshare -Urm sh -c '
                        mkdir "$1" && mount -t tmpfs tmpfs "$1" && mkdir "$1/upper" "$1/work" "$1/merged" &&
                        mount -t overlay -o "lowerdir=$2,upperdir=$1/upper,workdir=$1/work" overlay "$1/merged" || exit 99
                        export SLEEVE_CACHE="$1/merged"
                        "$SLEEVE" cache list | grep -c http
                        "$SLEEVE" get --offline "$4" >/dev/null; echo get=$?
                        "$SLEEVE" prefetch "$3" --quiet; echo prefetch=$?
                        "$SLEEVE" cache list | grep -c http
                        "$SLEEVE" cache remove "$4" --quiet; echo remove=$?
                        "$SLEEVE" cache verify --quiet; echo verify=$?
                        "$SLEEVE" cache verify --repair --quiet; echo repair=$?
                        "$SLEEVE" cache evict --to 0 --quiet; echo evict=$?
                        "$SLEEVE" cache list | grep -c http
                        ' sh "$@"
                        """, stage.folder + "/disk", stage.cache, more, stage.urls(0..<1)[0])
                    #expect(
                        result.stdout == "6\nget=0\nprefetch=0\n12\nremove=0\nverify=0\nrepair=0\nevict=0\n0\n",
                        "\(result)")
                    #expect(try await stage.entries().count == 6)
                    #expect(try await stage.run("cache", "verify").status == 0)
                }
            }
        #endif
    }
}
