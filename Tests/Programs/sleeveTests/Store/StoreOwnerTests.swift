#if os(Linux)
    import Foundation
    import Glibc
    import OriginServer
    import Platform
    import SleeveStage
    import Testing

    extension CacheCommandTests {
        /// A cache and a library that the superuser uses, too, and files that their owner may not read.
        @Suite struct StoreOwnerTests {
            /// Runs a script in which `user` runs a command as the owner of the stage's folder.
            private func run(_ stage: Stage, _ script: String, _ arguments: String...) async throws -> RunResult {
                let start = """
                    user() { setpriv --reuid 54321 --regid 54321 --clear-groups "$@"; }
                    chmod 755 "$HOME"; chown -R 54321:54321 "$HOME"

                    """
                return try await Child(
                    "/bin/sh", ["-c", start + script, "sh"] + arguments, environment: stage.environment
                )
                .exit()
            }

            @Test(.enabled(if: mayBeOther, "needs the superuser"))
            func `what the superuser runs on someone's cache and library leaves nothing that is not theirs`()
                async throws
            {
                try await withStage { stage in
                    let result = try await run(
                        stage,
                        """
                        user "$SLEEVE" prefetch "$1" --quiet; echo $?
                        "$SLEEVE" prefetch "$2" --quiet --report "$HOME/report.jsonl" --metrics-file "$HOME/sleeve.prom"
                        "$SLEEVE" refresh --all --quiet
                        "$SLEEVE" get --size 150 "$3" -o "$HOME/out.jpg"
                        "$SLEEVE" album add --title T --artist A >"$HOME/root.txt"
                        "$SLEEVE" export "$HOME/export/covers" >>"$HOME/root.txt"
                        "$SLEEVE" cache verify --repair --quiet
                        rm "$HOME/root.txt"
                        find "$HOME" ! -user 54321
                        user "$SLEEVE" prefetch "$2" --quiet; echo $?
                        user "$SLEEVE" cache verify --quiet; echo $?
                        user "$SLEEVE" album add --title U --artist A >/dev/null; echo $?
                        user "$SLEEVE" cache evict --to 0 --quiet; echo $?
                        """, try stage.list(stage.urls(0..<10)), try stage.list(stage.urls(5..<80), name: "more.txt"),
                        stage.urls(90..<91)[0])
                    #expect(result.stdout == "0\n0\n0\n0\n0\n", "\(result)")
                    #expect(CacheCheck.files(in: stage.cache).isEmpty)
                }
            }

            @Test(.enabled(if: mayBeOther, "needs the superuser"))
            func `a folder of covers that may not be read costs its covers, and no index is rebuilt without it`()
                async throws
            {
                try await withStage { stage in
                    let urls = stage.urls(0..<20)
                    let result = try await run(
                        stage,
                        """
                        user "$SLEEVE" prefetch "$1" --quiet; echo $?
                        cd "$SLEEVE_CACHE"; folder=covers/$(ls covers | head -1); chmod 000 "$folder"
                        # As a killed process leaves it.
                        user touch writing/99999999.1
                        for url in $(cat "$1"); do user "$SLEEVE" get --offline --quiet "$url" -o "$HOME/out" && echo cover; done
                        user "$SLEEVE" prefetch "$2" --quiet; echo $?
                        user "$SLEEVE" cache verify >/dev/null; echo $?
                        head -c 9000 /dev/urandom >"$HOME/damaged"; rm -f index.sqlite3-*; cp "$HOME/damaged" index.sqlite3
                        user "$SLEEVE" cache list; echo $?
                        cmp index.sqlite3 "$HOME/damaged"
                        chmod 000 entries.jsonl; chmod 700 "$folder"
                        user "$SLEEVE" cache list; echo $?
                        cmp index.sqlite3 "$HOME/damaged"; rm -f index.sqlite3 index.sqlite3-*
                        user "$SLEEVE" cache list; echo $?
                        chmod 600 entries.jsonl
                        user "$SLEEVE" cache verify --repair --quiet; echo $?
                        user "$SLEEVE" cache list --json | wc -l
                        """, try stage.list(urls), try stage.list(stage.urls(20..<21), name: "more.txt"))
                    let folder = (0..<20).map { digest(cover($0)).prefix(2) }.min()
                    let readable = (0..<20).count { digest(cover($0)).prefix(2) != folder }
                    let covers = String(repeating: "cover\n", count: readable)
                    #expect(result.stdout == "0\n\(covers)0\n3\n1\n1\n1\n0\n21\n", "\(result)")
                    #expect(
                        result.stderr.contains("could not be tidied up: cannot read \(stage.cache)/covers/"),
                        "\(result)")
                }
            }

            @Test(.enabled(if: mayMount, "needs a user namespace"))
            func `a folder of covers that may not be written costs its covers alone`() async throws {
                try await withStage { stage in
                    let folder = String(digest(cover(7)).prefix(2))
                    let failing = (0..<15).count { digest(cover($0)).hasPrefix(folder) }
                    try await stage.fill(stage.urls(20..<21))
                    let result = try await stage.shell(
                        """
                        exec unshare -Urm sh -c '
                        mkdir -p "$1" && mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" || exit 99
                        "$SLEEVE" prefetch "$2" --quiet; echo $?
                        "$SLEEVE" get --quiet "$3" | wc -c
                        ' sh "$@"
                        """, "\(stage.cache)/covers/\(folder)", try stage.list(stage.urls(0..<15)), stage.urls(7..<8)[0]
                    )
                    #expect(result.stdout == "3\n\(cover(7).count)\n", "\(result)")
                    #expect(result.stderr.contains("cannot be written: Read-only file system"), "\(result)")
                    #expect(try await stage.entries().count == 16 - failing)
                    #expect(try await stage.run("cache", "verify").status == 0)
                }
            }

            @Test func `what only reads waits for no process that was stopped with the writer's lock`() async throws {
                try await withStage { stage in
                    let url = stage.urls(0..<1)[0]
                    try await stage.fill([url])
                    let lock = try FileLock(path: stage.cache + "/writer.lock")
                    #expect(try lock.tryLock())
                    for arguments in [["get", "--offline", url], ["get", url]] {
                        let result = try await SleeveStage.run(arguments, environment: stage.environment)
                        #expect(result.status == 0 && result.output == cover(0), "\(result)")
                    }
                    for arguments in [["cache", "list"], ["cache", "stats"], ["cache", "stats", "--json"]] {
                        let result = try await SleeveStage.run(arguments, environment: stage.environment)
                        #expect(result.status == 0, "\(result)")
                    }
                    lock.unlock()
                }
            }
        }
    }
#endif
