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

    @Test func `a capacity in which no cover fits is an error`() async throws {
        for capacity in [Int.min, 0, 4_095] {
            #expect(try await problem { $0.capacity = capacity }?.contains("capacity must be at least 4096") == true)
        }
        #expect(try await problem { $0.capacity = 4_096 } == nil)
    }

    @Test(arguments: ["https://example.org/x", "sftp://nas/x", "file://nas/x", "x"])
    func `a URL that is none of a file of this machine is an error, and nothing is created`(text: String) async throws {
        let url = try #require(URL(string: text))
        #expect(try await problem { $0.cacheDirectory = url }?.contains("not the URL of a file") == true)
        for change in [\LibraryConfiguration.libraryFile, \.certificateAuthorities, \.certificateDirectory] {
            #expect(try await problem { $0[keyPath: change] = url }?.contains("not the URL of a file") == true)
        }
    }

    @Test func `certificate authorities that cannot be read are an error, unless a transport needs none`() async throws
    {
        let missing = FileManager.default.temporaryDirectory.appending(path: "sleeve-\(UUID().uuidString).pem")
        for authorities in [\LibraryConfiguration.certificateAuthorities, \.certificateDirectory] {
            let message = try await problem { $0[keyPath: authorities] = missing }
            #expect(
                message?.contains("cannot be read: access \(missing.path): No such file") == true,
                "\(message ?? "none")")
            let ofTransport = try await problem {
                $0[keyPath: authorities] = missing
                $0.transport = NoTransport()
            }
            #expect(ofTransport == nil)
        }
    }

    private struct NoTransport: CoverTransport {
        func response(to request: TransportRequest) async throws -> TransportResponse { TransportResponse() }
    }

    @Test func `a relative URL is resolved once, against its base, whatever the working directory is later`() async {
        await #expect(processExitsWith: .success) {
            try await withStage { stage in
                let (work, later) = (stage.folder + "/work", stage.folder + "/later")
                for folder in [work, later] {
                    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
                }
                #expect(chdir(work) == 0)
                let base = URL(filePath: stage.folder, directoryHint: .isDirectory)
                for place in [URL(filePath: "own"), URL(filePath: "based", relativeTo: base)] {
                    let album = place.lastPathComponent + ".json"
                    let configuration = LibraryConfiguration(
                        cacheDirectory: place, libraryFile: URL(filePath: album, relativeTo: place.baseURL))
                    let library = try await LibraryAPI(configuration: configuration)
                    #expect(chdir(later) == 0)
                    _ = try await library.cover(at: stage.url(1))
                    #expect(try library.cached(stage.url(1)) != nil)
                    try await library.albums.add(Album(title: "A"))
                    #expect(try await library.prefetch((2...9).map { stage.url($0) }).summary().failed == 0)
                    await library.close()
                    #expect(chdir(work) == 0)
                }
                func names(_ folder: String) throws -> [String] {
                    try FileManager.default.contentsOfDirectory(atPath: folder).filter { !$0.hasSuffix(".state") }
                        .sorted()
                }
                #expect(try names(later) == [])
                #expect(try names(work) == ["own", "own.json"])
                #expect(try names(stage.folder).filter { $0.hasPrefix("based") } == ["based", "based.json"])
            }
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
