package import HTTPTypes

/// A line of the fields that an entry keeps: `name: value`.
package struct KeptLine {
    package var name: Bytes
    package var value: Bytes

    /// Takes the next line that has a colon; nil when there is none any more. A name with a space in it is none that a server
    /// could send, but something that is taken down of the entry.
    package init?(_ rest: inout Bytes) {
        while !rest.isEmpty {
            let line = rest.take(before: UInt8(ascii: "\n"))
            guard let colon = line.place(of: UInt8(ascii: ":")) else { continue }
            name = line[to: colon]
            value = line[from: min(colon + 2, line.count)]
            return
        }
        return nil
    }
}

/// Lines to be kept, as they are written.
package struct KeptLines {
    private let buffer: UnsafeMutableBufferPointer<UInt8>
    private var count = 0

    /// - Parameter length: what they come to at the most, in bytes.
    package static func text(upTo length: Int, _ write: (inout KeptLines) -> Void) -> String {
        String(unsafeUninitializedCapacity: length) { buffer in
            var lines = KeptLines(buffer: buffer)
            write(&lines)
            return lines.count
        }
    }

    /// What a line comes to, in bytes.
    package static func length(_ name: Int, _ value: Int) -> Int { name + value + 3 }

    package mutating func add(_ name: Bytes, _ value: Bytes) {
        put(name)
        put(UInt8(ascii: ":"))
        put(UInt8(ascii: " "))
        put(value)
        put(UInt8(ascii: "\n"))
    }

    private mutating func put(_ bytes: Bytes) {
        _ = buffer[count...].update(fromContentsOf: bytes)
        count += bytes.count
    }

    private mutating func put(_ byte: UInt8) {
        buffer[count] = byte
        count += 1
    }
}

/// The fields that the entries of covers keep, seen in their lines: these alone, and each once, as nearly always.
///
/// A refresh reads and renews those of every entry. What is done here is done by way of `StoredResponse` for all other entries,
/// and comes to the same there; that takes ten times as long.
package struct KeptFields {
    private var eTag, lastModified, cacheControl, expires, date, age, vary: Bytes?

    /// Nil where there are others, or one of them several times.
    package init?(_ lines: Bytes) {
        var rest = lines
        while let line = KeptLine(&rest) {
            let isNew =
                switch line.name.count {
                case 3 where line.name.is("age"): Self.put(line.value, in: &age)
                case 4 where line.name.is("etag"): Self.put(line.value, in: &eTag)
                case 4 where line.name.is("date"): Self.put(line.value, in: &date)
                case 4 where line.name.is("vary"): Self.put(line.value, in: &vary)
                case 7 where line.name.is("expires"): Self.put(line.value, in: &expires)
                case 13 where line.name.is("last-modified"): Self.put(line.value, in: &lastModified)
                case 13 where line.name.is("cache-control"): Self.put(line.value, in: &cacheControl)
                default: false
                }
            if !isNew { return nil }
        }
    }

    private static func put(_ value: Bytes, in place: inout Bytes?) -> Bool {
        defer { place = value }
        return place == nil
    }

    /// As `StoredResponse.conditions`.
    package var conditions: HTTPFields {
        StoredResponse.conditions(tag: eTag?.string, modified: lastModified?.string)
    }

    /// As `StoredResponse.updated`. - Parameter told: the fields of the 304.
    package func updated(by told: KeptFields) -> KeptFields? {
        if let new = told.eTag, !new.starts(with: "W/", { $0 }), let eTag {
            let opaque = eTag.starts(with: "W/", { $0 }) ? eTag[from: 2] : eTag
            guard opaque.elementsEqual(new) else { return nil }
        }
        var updated = told
        updated.eTag = told.eTag ?? eTag
        updated.lastModified = told.lastModified ?? lastModified
        updated.cacheControl = told.cacheControl ?? cacheControl
        updated.expires = told.expires ?? expires
        updated.vary = told.vary ?? vary
        return updated
    }

    package var lines: String {
        func length(_ value: Bytes?) -> Int { value.map { KeptLines.length(Self.longestName, $0.count) } ?? 0 }
        let most =
            length(eTag) + length(lastModified) + length(cacheControl) + length(expires) + length(date) + length(age)
            + length(vary)
        return KeptLines.text(upTo: most) { lines in
            func add(_ name: StaticString, _ value: Bytes?) {
                if let value { lines.add(Bytes(start: name.utf8Start, count: name.utf8CodeUnitCount), value) }
            }
            add("etag", eTag)
            add("last-modified", lastModified)
            add("cache-control", cacheControl)
            add("expires", expires)
            add("date", date)
            add("age", age)
            add("vary", vary)
        }
    }

    private static let longestName = 13

    package func freshness(requestTime: Int64, responseTime: Int64) -> Freshness {
        var freshness = Freshness(status: 200, requestTime: requestTime, responseTime: responseTime)
        if let cacheControl { freshness.take(cacheControl: cacheControl) }
        if let vary { freshness.take(vary: vary) }
        if let age { freshness.take(age: age) }
        if let date { freshness.take(date: date) }
        if let expires { freshness.take(expires: expires) }
        if let lastModified { freshness.take(lastModified: lastModified) }
        return freshness
    }
}

extension StoredResponse {
    /// What is of its day, and the type, which the entry knows itself.
    private static let dropped: Set<HTTPField.Name> = [
        .contentType, .retryAfter, .rateLimit, .rateLimitRemaining, .rateLimitReset, .xRateLimitRemaining,
        .xRateLimitReset,
    ]

    /// The fields an entry keeps, as lines of `name: value`, the values to the byte.
    package var keptFields: String {
        let kept = fields.filter { !Self.dropped.contains($0.name) }
        let most = kept.reduce(0) { $0 + KeptLines.length($1.name.canonicalName.utf8.count, $1.value.utf8.count) }
        return KeptLines.text(upTo: most) { lines in
            for field in kept {
                field.name.canonicalName.withBytes { name in field.value.withBytes { lines.add(name, $0) } }
            }
        }
    }
}

extension HTTPFields {
    /// - Parameter lines: `name: value` each.
    package init(kept lines: Bytes) {
        self.init()
        var rest = lines
        while let line = KeptLine(&rest) {
            guard let name = HTTPField.Name(line.name.string) else { continue }
            append(HTTPField(name: name, value: line.value.string))
        }
    }
}
