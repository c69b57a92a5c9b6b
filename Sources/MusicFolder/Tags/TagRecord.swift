import Platform

/// What a worker answers for a file: a field that ends with NUL, with JSON, then an empty field.
///
/// ```
/// {"tags":{"album":"Low Tide","albumArtist":"The Harbour Lights","year":"1971",…}}␀␀
/// {"failure":{"reason":"is not a file of its format","isTransient":false}}␀␀
/// ```
struct TagRecord {
    /// Why a file has no tags.
    struct Failure: Error, Hashable, Codable {
        var reason: String
        /// Whether another scan may succeed, although the file is the same.
        var isTransient = false
    }

    private struct Fields: Codable {
        var tags: AudioTags?
        var failure: Failure?
    }

    var result: Result<AudioTags, Failure>

    /// The worker's first record: it is ready.
    static let greeting: [UInt8] = Array("+\0\0".utf8)

    var bytes: [UInt8] {
        var fields = Fields()
        switch result {
        case .success(let tags): fields.tags = tags
        case .failure(let failure): fields.failure = failure
        }
        // Texts and numbers can always be encoded.
        return Array((try? JSONEncoder().encode(fields)) ?? Data()) + [0, 0]
    }

    init(_ result: Result<AudioTags, Failure>) { self.result = result }

    /// Reads one record.
    /// - Parameter bytes: without the NUL of the empty field.
    init(_ bytes: ArraySlice<UInt8>) {
        let fields = try? JSONDecoder().decode(Fields.self, from: Data(bytes.prefix { $0 != 0 }))
        let failure = fields?.failure ?? Failure(reason: "its tags cannot be parsed")
        result = fields?.tags.map { .success($0) } ?? .failure(failure)
    }
}
