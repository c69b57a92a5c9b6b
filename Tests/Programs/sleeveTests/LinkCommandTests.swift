import Foundation
import OriginServer
import SleeveStage
import Testing

extension CommandTests {
    @Suite struct LinkCommandTests {
        private struct Carried: Decodable { var connections, bytesDown: Int }

        @Test func `a link leads to any server, and says at its end what it has carried`() async throws {
            try await withStage { stage in
                let link = try stage.startLab(["link", "127.0.0.1:\(stage.origin.port)", "--link", "2ms/100mbit"])
                let address = try #require(await link.firstOutputLine())
                let cover = try await stage.run("get", "http://\(address)/covers/1.jpg?size=20000")
                #expect(cover.status == 0 && cover.output.count >= 19_997 && stage.origin.requestCount == 1, "\(cover)")
                link.kill(SIGINT)
                let result = await link.exit()
                #expect(result.status == 130, "\(result)")
                let line = try #require(result.stdout.split(separator: "\n").last)
                let carried = try JSONDecoder().decode(Carried.self, from: Data(line.utf8))
                #expect(carried.connections == 1 && carried.bytesDown > 20_000)
            }
        }
    }
}
