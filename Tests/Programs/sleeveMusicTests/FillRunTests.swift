import CoverSources
import Foundation
import MusicFiles
import Platform
import SleeveStage
import Testing
import Wire

extension MusicTests {
    /// A fill as a whole: beside another one, stopped, on a full disk, and what the library has of it.
    @Suite struct FillRunTests: FillSuite {
        @Test func `of two fills that meet, the second does nothing and exits with 75`() async throws {
            try await withMusic { stage, fill in
                _ = try await run(stage, fill)
                #expect(try await stage.run("fill", "undo").status == 0)
                // This process holds the lock like a fill that is running.
                let lock = try FileLock(path: stage.folder + "/albums.json.state/music.lock")
                #expect(try lock.tryLock())
                for words in [fill, ["fill", "undo"]] {
                    let result = try await SleeveStage.run(words, environment: stage.environment)
                    #expect(result.status == 75 && result.stderr.contains("another scan or fill"), "\(result)")
                }
                #expect(pictures(stage).isEmpty)
            }
        }

        @Test func `what a person says while a fill runs is kept, and the next fill writes what was accepted`()
            async throws
        {
            let certain = ServiceAlbum(
                artist: "Someone", title: "Reissued", year: 2001, tracks: 2, services: [.itunes], largest: 3_000)
            try await withMusic(albums: [Self.albums[2]], provided: Self.provided + [certain]) { stage, fill in
                let deezer = fill.map { $0 == "caa,itunes,deezer" ? "deezer" : $0 }
                #expect(try await run(stage, deezer).0.doubtful == 1)
                let review = try await stage.run("fill", "review").stdout.split(separator: "\n")
                let url = try #require(review.first { $0.contains("://") }).trimmingCharacters(in: .whitespaces)
                #expect(try await run(stage, fill.map { $0 == "caa,itunes,deezer" ? "itunes" : $0 }).0.filled == 1)
                let former = pictures(stage)
                let lock = try FileLock(path: stage.folder + "/albums.json.state/music.lock")
                #expect(try lock.tryLock())
                let accepted = try await SleeveStage.run(
                    ["fill", "accept", "Reissued", url] + fill.dropFirst(2), environment: stage.environment)
                #expect(accepted.status == 0 && accepted.stderr.contains("the next fill writes"), "\(accepted)")
                #expect(pictures(stage) == former)
                lock.unlock()
                let (counts, result) = try await run(stage, fill)
                #expect(counts.filled == 1 && pictures(stage) != former, "\(result)")
                #expect(try await run(stage, fill).0.filled == 0)
                #expect(try await stage.run("fill", "undo").stdout == "1 cover put back.\n")
                #expect(pictures(stage) == former)
            }
        }

        @Test func `the addresses of a fill are one step of undo, and reach the remote library as any edit`()
            async throws
        {
            let remote = try RemoteLibrary()
            defer { remote.stop() }
            try await withMusic { stage, fill in
                _ = try await run(stage, fill + ["--remote", remote.url])
                let found = ["Low Tide", "The Spaghetti Incident?", "With an Id"]
                #expect(Set(remote.edits) == Set(Self.albums.map { "add \($0.1)" } + found.map { "edit \($0)" }))
                #expect(try await stage.run("album", "undo", "--remote", remote.url).status == 0)
                #expect(Set(remote.edits.suffix(3)) == Set(found.map { "edit \($0)" }))
                #expect(!(try stage.text(of: stage.folder + "/albums.json").contains("coverUrl")))
                #expect(try stage.albums(of: stage.folder + "/albums.json").count == 5)
            }
        }

        @Test func `undo finds the covers of a music folder that was moved`() async throws {
            try await withMusic { stage, fill in
                _ = try await run(stage, fill)
                let (music, moved) = (stage.folder + "/music", stage.folder + "/moved")
                try FileManager.default.moveItem(atPath: music, toPath: moved)
                #expect(try await stage.run("album", "scan", moved).status == 0)
                let undone = try await stage.run("fill", "undo")
                #expect(undone.status == 0 && undone.stdout == "3 covers taken back.\n", "\(undone)")
                let left = FileManager.default.enumerator(atPath: moved)?.compactMap { $0 as? String } ?? []
                #expect(!left.contains { $0.hasSuffix(".jpg") }, "\(left)")
            }
        }

        #if os(Linux)
            @Test(.enabled(if: mayMount, "needs a user namespace"))
            func `a music disk that is full ends the writing there, which is said once, and not elsewhere`()
                async throws
            {
                try await withMusic { stage, fill in
                    let sources = fill.dropFirst(2).joined(separator: " ")
                    let other = stage.folder + "/other"
                    try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: false)
                    try FileManager.default.moveItem(atPath: stage.folder + "/music/Id", toPath: other + "/Id")
                    let result = try await stage.shell(
                        """
                        exec unshare -Urm sh -c '
                        disk="$1"; music="$2"; shift 2
                        mkdir "$disk" && mount -t tmpfs -o size=4m tmpfs "$disk" && cp -r "$music/." "$disk" || exit 99
                        cat /dev/zero >"$disk/ballast" 2>/dev/null
                        "$SLEEVE" fill "$disk" "$1" $2; echo status=$?
                        find "$disk" -name "*cover*" -o -name ".sleeve*"' sh "$@"
                        """, stage.folder + "/disk", stage.folder + "/music", other, sources)
                    #expect(result.stdout.hasSuffix("status=3\n"), "\(result)")
                    let said = result.stderr.components(separatedBy: "no more covers are written to its disk")
                    #expect(said.count == 2, "\(result)")
                    #expect(FileManager.default.fileExists(atPath: other + "/Id/With an Id/cover.jpg"), "\(result)")
                }
            }

            @Test(.enabled(if: mayMount, "needs a user namespace"))
            func `a full disk of the cache ends a fill with its reason, and what is left is for the next one`()
                async throws
            {
                try await withMusic { stage, fill in
                    let report = stage.folder + "/report"
                    let result = try await stage.shell(
                        """
                        exec unshare -Urm sh -c '
                        disk="$1"
                        mkdir "$disk" && mount -t tmpfs -o size=4m tmpfs "$disk" && export SLEEVE_CACHE="$disk/cache" || exit 99
                        echo | "$SLEEVE" prefetch - --quiet
                        cat /dev/zero >"$disk/ballast" 2>/dev/null
                        "$SLEEVE" $3 --report "$2" >/dev/null; echo full=$?
                        rm "$disk/ballast"; "$SLEEVE" $3 >/dev/null' sh "$@"
                        """, stage.folder + "/disk", report, fill.joined(separator: " "))
                    #expect(result.stdout == "full=3\n", "\(result)")
                    #expect(result.stderr.components(separatedBy: " is full, or a quota").count == 2, "\(result)")
                    #expect(!(try stage.text(of: report).contains("\"failed\"")))
                    #expect(pictures(stage).count == 3, "\(result)")
                }
            }
        #endif

        /// `itunes` is searched for an album, and `origin` is asked for the picture of another.
        @Test(arguments: ["itunes", "origin"]) func `Ctrl-C ends a fill that waits for a server`(_ stage: String)
            async throws
        {
            let (requests, inbox) = AsyncStream<Void>.makeStream()
            let isOver = Gate()
            let server = try ScriptedServer { _ in
                inbox.yield()
                isOver.wait()
                return nil
            }
            defer { server.stop() }
            defer { isOver.open() }
            try await withMusic(albums: [Self.albums[0]]) { place, _ in
                let music = place.folder + "/music"
                if stage == "origin" {
                    #expect(try await place.run("album", "scan", music).status == 0)
                    #expect(
                        try await place.run("album", "edit", "1", "--cover-url", server.url + "/1.jpg").status == 0)
                }
                let child = try place.start(
                    "fill", music, "--source", "itunes", "--source-base", "itunes=\(server.url)/itunes")
                for await _ in requests { break }
                child.kill(SIGINT)
                let result = await child.exit()
                #expect(result.status == 130, "\(result)")
                #expect(pictures(place).isEmpty)
            }
        }
    }
}

/// Closed until it is opened.
private final class Gate: Sendable {
    private let condition = NSCondition()
    private nonisolated(unsafe) var isOpen = false  // because `condition` guards it

    func wait() { condition.withLock { while !isOpen { condition.wait() } } }

    func open() {
        condition.withLock { isOpen = true }
        condition.broadcast()
    }
}
