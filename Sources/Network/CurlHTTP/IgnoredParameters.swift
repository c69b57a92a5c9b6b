extension HTTPURL {
    /// Parameters that do not tell resources apart, by the end of the path. `LibraryConfiguration.ignoredParameters` adds some for all paths.
    ///
    /// In the Subsonic API, which Navidrome, Airsonic, gonic and others have, every client sends another user, token and salt, so that
    /// one cover has any number of addresses (subsonic.org/pages/api.jsp). `apiKey` is OpenSubsonic's.
    private static let ignoredParameters: [(path: [UInt8], names: Set<String>)] =
        ["/rest/getCoverArt", "/rest/getCoverArt.view"].map {
            (Array($0.utf8), ["u", "p", "t", "s", "v", "c", "f", "apiKey"])
        }

    /// What the table has for a URL or a request target; nil for most.
    static func ignoredParameters(of bytes: some BidirectionalCollection<UInt8>) -> Set<String>? {
        let path = bytes.prefix { $0 != UInt8(ascii: "?") }
        return ignoredParameters.first { path.reversed().starts(with: $0.path.reversed()) }?.names
    }

    /// A normalized request target without these parameters. If it had any of them, the others are in the order of their text.
    static func target(_ target: [UInt8], without names: Set<String>) -> [UInt8] {
        guard !names.isEmpty, let question = target.firstIndex(of: UInt8(ascii: "?")) else { return target }
        let parameters = target[(question + 1)...].split(separator: UInt8(ascii: "&"))
        let kept = parameters.filter { parameter in
            !names.contains(String(decoding: parameter.prefix { $0 != UInt8(ascii: "=") }, as: UTF8.self))
        }
        if kept.count == parameters.count { return target }
        let query = kept.sorted { $0.lexicographicallyPrecedes($1) }.joined(separator: [UInt8(ascii: "&")])
        return target[..<question] + (kept.isEmpty ? [] : [UInt8(ascii: "?")] + query)
    }
}
