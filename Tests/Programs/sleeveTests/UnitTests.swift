import Foundation
import SleeveStage
import Testing

/// The systemd units in `Scripts/systemd`.
@Suite struct UnitTests {
    private static let folder = repository.appending(path: "Scripts/systemd").path()
    private static let shared = "sleeve-.service.d/sandbox.conf"

    private func lines(_ unit: String) throws -> [String] {
        let text = try String(contentsOfFile: "\(Self.folder)/\(unit)", encoding: .utf8)
        return text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map(String.init)
    }

    @Test(arguments: [
        "sleeve-prefetch.service", "sleeve-refresh.service", "sleeve-fill.service", "sleeve-serve.service",
    ])
    func `the services share their user, directories and restrictions`(service: String) throws {
        let names = Set(try lines(Self.shared).compactMap { $0.contains("=") ? $0.prefix { $0 != "=" } : nil })
        #expect(names.isSuperset(of: ["User", "CacheDirectory", "StateDirectory", "Environment", "ProtectSystem"]))
        let own = try lines(service).filter { $0.contains("=") }.map { $0.prefix { $0 != "=" } }
        #expect(names.isDisjoint(with: own))
    }

    @Test func `both runs write their metrics into the state directory`() throws {
        for service in ["sleeve-prefetch.service", "sleeve-refresh.service"] {
            let start = try #require(try lines(service).first { $0.hasPrefix("ExecStart=") })
            #expect(start.contains(" --metrics-file ${STATE_DIRECTORY}/sleeve.prom"), "\(service)")
        }
    }

    @Test func `the fill may write into one folder, which its drop-in names`() throws {
        let dropIn = try lines("sleeve-fill.service.d/music.conf")
        let folder = try #require(dropIn.first { $0.hasPrefix("Environment=MUSIC=") }?.dropFirst(18))
        #expect(dropIn.contains("ReadWritePaths=-\(folder)") && dropIn.contains("ConditionPathIsDirectory=\(folder)"))
        #expect(try lines("sleeve-fill.service").contains { $0.hasPrefix("ExecStart=") && $0.hasSuffix("${MUSIC}") })
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/systemd-analyze"), "needs systemd"))
    func `systemd accepts all units`() async throws {
        try await withStage { stage in
            // It checks that the program is there.
            let result = try await stage.shell(
                """
                cp -r "$1"/sleeve-* "$2" && sed -i "s#^ExecStart=sleeve#ExecStart=$SLEEVE#" "$2"/*.service || exit 99
                exec systemd-analyze verify "$2"/*.service "$2"/*.timer
                """, Self.folder, stage.folder)
            #expect(result.status == 0 && result.stderr.isEmpty, "\(result)")
        }
    }
}
