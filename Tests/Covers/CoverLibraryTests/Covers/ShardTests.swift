import Testing

@testable import CoverLibrary

@Suite struct ShardTests {
    @Test(arguments: [
        ("coverartarchive.org", 2), ("archive.org", 6), ("i.scdn.co", 2), ("is1-ssl.mzstatic.com", 4),
    ])
    func `a host is in the shard that the documentation says`(host: String, shard: Int) throws {
        let shards = try (0..<8).map { try #require(Shard("\($0)/8")) }
        #expect(shards.filter { $0.contains(host: host) }.map(\.index) == [shard])
    }

    @Test(arguments: ["8/8", "-1/8", "0/0", "1", "a/b", "1/8/2", "", "/", "1/", "/8", "0/65537", "+1/8", "1/8 "])
    func `a shard outside of its range is refused`(text: String) { #expect(Shard(text) == nil) }

    @Test func `0/1 is the whole list, and 65536 shards are possible`() throws {
        #expect(try #require(Shard("0/1")).contains(host: "archive.org"))
        #expect(Shard("65535/65536") != nil)
    }
}
