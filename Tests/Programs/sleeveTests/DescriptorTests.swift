import Foundation
import SleeveStage
import Testing
import Wire

extension CommandTests {
    /// Processes that are started without some of the descriptors 0, 1 and 2.
    @Suite struct DescriptorTests {
        @Test func `a run without standard descriptors stores its covers, and the cache stays intact`() async throws {
            try await withStage { stage in
                let list = try stage.list(stage.urls(0..<40))
                for closed in ["<&- >&- 2>&-", "<&-", "2>&-"] {
                    // The failing URL writes a message to stderr.
                    let bad = try stage.list(stage.urls(50..<51, "status=404"), name: "bad.txt")
                    let result = try await stage.shell(
                        "\"$SLEEVE\" prefetch \"$1\" \"$2\" --quiet --retry-missing \(closed)", list, bad)
                    #expect(result.status == 3, "\(closed): \(result)")
                    #expect(try await stage.run("cache", "verify").status == 0, "\(closed)")
                    #expect(try await stage.entries().count == 40)
                    try FileManager.default.removeItem(atPath: stage.cache)
                }
            }
        }

        @Test(arguments: [40, 64, 96])
        func `a run has as many transfers in flight as there are descriptors for`(limit: Int) async throws {
            try await withStage { stage in
                let list = try stage.list(stage.urls(0..<60, "delay=20"))
                let result = try await stage.shell("ulimit -n \(limit); \"$SLEEVE\" prefetch \"$1\" --quiet", list)
                #expect(result.status == 0, "\(result)")
                #expect(try await stage.entries().count == 60)
            }
        }

        @Test(arguments: ["stats", "list", "list --json", "verify"])
        func `a result for a closed stdout is an error, and is written nowhere else`(command: String) async throws {
            try await withStage { stage in
                try await stage.fill(stage.urls(0..<3))
                let result = try await stage.shell("\"$SLEEVE\" cache \(command) >&-")
                #expect(result.status == 1 && result.stderr.contains("cannot write the result to stdout"), "\(result)")
                #expect(try await stage.run("cache", "verify").status == 0)
            }
        }

        @Test func `reading a closed stdin is an error`() async throws {
            try await withStage { stage in
                for command in ["prefetch -", "cache unpack -"] {
                    let result = try await stage.shell("\"$SLEEVE\" \(command) <&-")
                    #expect(result.status == 1, "\(command): \(result)")
                    #expect(result.stderr.contains("Bad file descriptor"), "\(command): \(result)")
                }
            }
        }

        @Test(.enabled(if: FileManager.default.fileExists(atPath: "/proc/self/fd"), "needs /proc"))
        func `closed descriptors are opened on the null device`() async throws {
            try await withStage { stage in
                // A pipe in place of stderr tells when the server listens.
                let child = try Child(
                    "/bin/sh", ["-c", "exec \"$SLEEVE\" serve --port 0 --quiet <&- >&-"],
                    environment: stage.environment)
                try await eventually { child.errors.contains("cannot write the address http://127.0.0.1:") }
                for descriptor in [0, 1] {
                    let target = try FileManager.default.destinationOfSymbolicLink(
                        atPath: "/proc/\(child.pid)/fd/\(descriptor)")
                    #expect(target == "/dev/null", "descriptor \(descriptor)")
                }
                child.kill(SIGTERM)
                #expect(await child.exit().status == 143)
            }
        }
    }

    /// A cache of another user.
    @Suite(.enabled(if: geteuid() == 0 && access("/usr/bin/setpriv", X_OK) == 0, "root alone may become another user"))
    struct OtherUserTests {
        @Test(arguments: [0o700, 0o755, 0o777])
        func `reading the cache of another user says whose it is, and creates nothing`(mode: Int) async throws {
            try await withStage { stage in
                let url = stage.urls(0..<1)[0]
                try await stage.fill([url])
                let manager = FileManager.default
                try manager.setAttributes([.posixPermissions: mode], ofItemAtPath: stage.cache)
                let before = try manager.subpathsOfDirectory(atPath: stage.folder).sorted()
                for command in [
                    "cache stats", "cache list", "cache verify", "cache evict --to 0", "cache pack \(stage.folder)/x",
                    "refresh",
                    "get --offline \(url) -o \(stage.folder)/x",
                ] {
                    let result = try await stage.shell(
                        "exec setpriv --reuid 65534 --clear-groups \"$SLEEVE\" \(command)")
                    #expect(result.status == 1 && result.stdout.isEmpty, "\(command): \(result)")
                    #expect(
                        result.stderr.hasPrefix("sleeve: cannot read \(stage.cache)")
                            && result.stderr.contains("Permission denied") && result.stderr.contains("belongs to root"),
                        "\(command): \(result)")
                }
                #expect(try manager.subpathsOfDirectory(atPath: stage.folder).sorted() == before)
            }
        }

        @Test func `a cache in a directory of another user that cannot be entered is not created`() async throws {
            try await withStage { stage in
                try await stage.fill(stage.urls(0..<1))
                try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: stage.folder)
                let result = try await stage.shell("exec setpriv --reuid 65534 --clear-groups \"$SLEEVE\" cache stats")
                #expect(result.status == 1 && result.stderr.contains("cannot read \(stage.cache)"), "\(result)")
                #expect(!result.stderr.contains("create"), "\(result)")
            }
        }
    }
}
