/// An array of a source's answer without the elements that have another form: one odd album costs only itself.
struct LenientArray<Element: Decodable>: Decodable {
    private struct Lenient: Decodable {
        var value: Element?
        init(from decoder: any Decoder) throws { value = try? Element(from: decoder) }
    }

    var values: [Element]

    init(from decoder: any Decoder) throws {
        values = try decoder.singleValueContainer().decode([Lenient].self).compactMap(\.value)
    }
}
