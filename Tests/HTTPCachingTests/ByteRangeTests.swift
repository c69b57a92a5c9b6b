import HTTPCaching
import Testing

@Suite
struct ByteRangeTests {
    @Test(arguments: [
        ("bytes=0-9", ByteRange.part(0..<10)), ("bytes=90-", .part(90..<100)), ("bytes=-30", .part(70..<100)),
        ("bytes=50-5000", .part(50..<100)), ("bytes=-500", .part(0..<100)), ("bytes=100-", .unsatisfiable),
        ("bytes=-0", .unsatisfiable), ("bytes=9-1", .whole), ("bytes=0-1,5-6", .whole), ("lines=1-2", .whole),
        ("bytes=--5", .whole),
    ])
    func `a range is limited to the length; an invalid one selects everything`(field: String, expected: ByteRange) {
        #expect(ByteRange(field, length: 100) == expected)
    }
}
