import Foundation
import OriginServer
import Testing

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

extension CommandTests {
    @Suite struct LabOriginTests {
        private struct Carried: Decodable { var connections, bytesDown: Int }

        @Test func `an origin over HTTPS behind a link serves a cover, and says at its end what the link has carried`()
            async throws
        {
            try await withStage { stage in
                let certificate = stage.folder + "/origin.pem"
                let origin = try stage.startLab(
                    ["origin", "--port", "0", "--tls", "--certificate", certificate, "--link", "2ms/100mbit"])
                let url = try #require(await origin.firstOutputLine())
                #expect(url.hasPrefix("https://127.0.0.1:"))
                let cover = try await stage.run("get", url + "/covers/1.jpg?size=20000", "--cacert", certificate)
                #expect(cover.status == 0 && cover.output.count >= 19_997, "\(cover)")
                origin.kill(SIGINT)
                let result = await origin.exit()
                #expect(result.status == 130, "\(result)")
                let line = try #require(result.stdout.split(separator: "\n").last)
                let carried = try JSONDecoder().decode(Carried.self, from: Data(line.utf8))
                #expect(carried.connections == 1 && carried.bytesDown > 20_000)
            }
        }

        @Test func `a link leads to any server`() async throws {
            try await withStage { stage in
                let link = try stage.startLab(
                    ["origin", "--port", "0", "--link", "2ms/100mbit", "--before", "127.0.0.1:\(stage.origin.port)"])
                let address = try #require(await link.firstOutputLine())
                let cover = try await stage.run("get", "http://\(address)/covers/1.jpg")
                #expect(cover.status == 0 && stage.origin.requestCount == 1, "\(cover)")
            }
        }
    }
}
