import Foundation
import Testing

/// The systemd units in `Scripts/systemd`.
@Suite struct UnitTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Scripts/systemd").path()
    private static let services = ["sleeve-prefetch.service", "sleeve-refresh.service"]

    private func settings(_ service: String) throws -> Set<String> {
        let text = try String(contentsOfFile: "\(Self.folder)/\(service)", encoding: .utf8)
        return Set(text.split(separator: "\n").filter { !$0.hasPrefix("#") && $0.contains("=") }.map(String.init))
    }

    @Test func `both services have the same user, directories, metrics and restrictions`() throws {
        let own = ["Description", "ExecStart", "SuccessExitStatus", "ConditionPathExists"]
        let shared = try Self.services.map { service in
            try settings(service).filter { line in !own.contains { line.hasPrefix($0 + "=") } }
        }
        #expect(shared[0] == shared[1])
        #expect(shared[0].isSuperset(of: ["User=sleeve", "CacheDirectory=sleeve", "StateDirectoryMode=0755"]))
        for service in Self.services {
            let start = try #require(try settings(service).first { $0.hasPrefix("ExecStart=") })
            #expect(start.contains(" --metrics-file ${STATE_DIRECTORY}/sleeve.prom"), "\(service)")
        }
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/systemd-analyze"), "needs systemd"))
    func `systemd accepts all units`() async throws {
        try await withStage { stage in
            // It checks that the program is there.
            let result = try await stage.shell(
                """
                cd "$1" && for unit in *.service *.timer; do
                sed "s#/usr/local/bin/sleeve#$SLEEVE#" "$unit" >"$2/$unit" || exit 99; done
                exec systemd-analyze verify "$2"/*.service "$2"/*.timer
                """, Self.folder, stage.folder)
            #expect(result.status == 0 && result.stderr.isEmpty, "\(result)")
        }
    }
}
