import Foundation
import Testing
import Wire

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

extension CommandTests {
    @Suite struct TortureRunTests {
        private struct Report: Decodable {
            var rounds, kills, stops, processes, acknowledged, required, read, lost, seed: Int
            var seconds, peakShare: Double
            var directory, fileSystem: String
            var violations: [Violation]
            var interrupted: Bool?
        }
        private struct Violation: Decodable { var kind, detail: String }

        @Test func `a torture kills processes, finds what they acknowledged, and leaves nothing behind`() async throws {
            try await withStage { stage in
                let result = try await stage.lab(
                    "torture", stage.folder + "/new", "--rounds", "4", "--seed", "7", "--json")
                #expect(result.status == 0, "\(result)")
                let report: Report = try result.json()
                #expect(report.rounds == 4 && report.seed == 7)
                #expect(report.kills > 0 && report.processes == 4 * 3 * 6)
                #expect(report.acknowledged > 0 && report.required > 0 && report.read >= report.required)
                #expect(report.peakShare > 0)
                #expect(report.lost == 0 && report.violations.isEmpty)
                #expect(
                    result.stderr.contains("\(stage.folder)/new (") && result.stderr.contains("seed 7"), "\(result)")
                #expect(try FileManager.default.contentsOfDirectory(atPath: stage.folder) == [])
                #expect(processes(of: stage) == 0)
            }
        }

        @Test func `by default the directory is a new one beside the cache; --keep leaves it`() async throws {
            try await withStage { stage in
                let result = try await stage.lab(
                    "torture", "--rounds", "1", "--processes", "1", "--keep", "--json", "--quiet")
                #expect(result.status == 0 && result.stderr.isEmpty, "\(result)")
                let report: Report = try result.json()
                #expect(report.directory.hasPrefix(stage.folder + "/sleeve-torture-"))
                #expect(FileManager.default.fileExists(atPath: report.directory + "/cache/index.sqlite3"))
                #expect(!FileManager.default.fileExists(atPath: stage.cache))
            }
        }

        @Test func `an empty directory is used and stays; a full one and the user's cache are refused`() async throws {
            try await withStage { stage in
                let empty = stage.folder + "/empty"
                try FileManager.default.createDirectory(atPath: empty, withIntermediateDirectories: false)
                let result = try await stage.lab("torture", empty, "--rounds", "1", "--processes", "1", "--quiet")
                #expect(result.status == 0 && result.output.isEmpty, "\(result)")
                #expect(try FileManager.default.contentsOfDirectory(atPath: empty) == [])

                let file = try stage.file("empty/precious", "x")
                let refused = try await stage.lab("torture", empty)
                #expect(refused.status == 1 && refused.stderr.contains("\(empty) is not empty"), "\(refused)")
                #expect(try stage.text(of: file) == "x")
                for directory in [stage.cache, stage.cache + "/", stage.folder + "/./cache"] {
                    let own = try await stage.lab("torture", directory)
                    #expect(own.status == 1 && own.stderr.contains("in your cache directory"), "\(own)")
                }
                #expect(!FileManager.default.fileExists(atPath: stage.cache))
            }
        }

        @Test func `a stopped torture ends its processes, checks, reports, and removes its directory`() async throws {
            try await withStage { stage in
                let folder = stage.folder + "/new"
                let child = try stage.startLab(["torture", folder, "--time", "1h", "--json", "--quiet"])
                // A process of the first round has begun to report.
                try await eventually {
                    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder + "/jobs")) ?? []
                    return names.contains { $0.hasSuffix(".report") }
                }
                child.kill(SIGINT)
                let result = await child.exit()
                #expect(result.status == 130, "\(result)")
                let report: Report = try result.json()
                #expect(report.interrupted == true && report.violations.isEmpty)
                #expect(report.rounds >= 1)
                #expect(!FileManager.default.fileExists(atPath: folder))
                #expect(processes(of: stage) == 0)
            }
        }

        /// The number of running processes with the stage's environment; 0 on systems without `/proc`.
        private func processes(of stage: Stage) -> Int {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
            return names.count { name in
                guard Int(name) != nil, let data = FileManager.default.contents(atPath: "/proc/\(name)/environ") else {
                    return false
                }
                return String(decoding: data, as: UTF8.self).contains("HOME=\(stage.folder)\0")
            }
        }
    }
}
