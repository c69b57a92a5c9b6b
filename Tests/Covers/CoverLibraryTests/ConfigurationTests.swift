import Foundation
import Testing

@testable import CoverLibrary

@Suite struct ConfigurationTests {
    private func problem(_ configure: (inout LibraryConfiguration) -> Void) async throws -> String? {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("sleeve-\(UUID().uuidString)").path
        var configuration = LibraryConfiguration(
            cacheDirectory: URL(filePath: folder), libraryFile: URL(filePath: folder + "/albums.json"))
        configure(&configuration)
        do {
            await (try LibraryAPI(configuration: configuration)).close()
            try FileManager.default.removeItem(atPath: folder)
            return nil
        } catch let error as LibraryError {
            #expect(!FileManager.default.fileExists(atPath: folder), "nothing is created")
            return error.message
        }
    }

    @Test func `a rate that is not above 0 and finite, or a number of transfers outside 1 to 65536, is an error`()
        async throws
    {
        for rate in [0, -1, Double.infinity, -.infinity, .nan] {
            #expect(try await problem { $0.rate = rate }?.contains("rate must be above 0") == true)
        }
        for count in [0, -1, Int.min, Int.max] {
            #expect(try await problem { $0.parallel = count }?.contains("parallel must be") == true)
            #expect(try await problem { $0.perHost = count }?.contains("perHost must be") == true)
        }
    }

    @Test func `covers arrive with the smallest and largest values`() async throws {
        for rate in [Double.leastNonzeroMagnitude, .greatestFiniteMagnitude] {
            try await withStage { configuration in
                configuration.rate = rate
                configuration.parallel = 1
                configuration.perHost = 65_536
            } _: { stage in
                let failure = await stage.library.failure(stage.url(1))
                #expect(failure == nil)
            }
        }
    }

    @Test func `a cover fails while no descriptor is left, and arrives once there are some`() async {
        await #expect(processExitsWith: .success) {
            try await withStage { stage in
                var limit = rlimit()
                getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
                let before = limit
                let next = dup(0)
                close(next)
                limit.rlim_cur = rlim_t(next)
                setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
                let failure = await stage.library.failure(stage.url(1))
                #expect(failure?.detail.contains("Too many open files") == true, "\(failure?.detail ?? "none")")
                limit = before
                setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
                #expect(fcntl(0, F_GETFL) & O_NONBLOCK == 0, "stdin is left alone")
                #expect(await stage.library.failure(stage.url(1)) == nil)
            }
        }
    }
}
