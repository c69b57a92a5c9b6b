package import HTTPTypes

/// A response without a request on a connection of HTTP/1.1: a server has sent one twice, say.
///
/// If it arrives after the next request was sent, it is taken for the answer to that, and each answer after it belongs to the request before
/// its own. No client can tell at that moment, as the protocol has no numbers. The surplus shows when the connection is idle.
package struct UnaskedAnswer: Sendable {
    /// The number of bytes at the start of what has arrived that show it.
    static let looksAt = 1_025

    /// The origins that the connection's requests were sent to.
    package var origins: [String]
    /// What may be another's: what the last requests on the connection asked for, without its first.
    package var covers: [RequestedCover]
    /// When the connection was opened, in milliseconds since 1970.
    package var openedAt: Int64

    package init(origins: [String], covers: [RequestedCover], openedAt: Int64) {
        (self.origins, self.covers, self.openedAt) = (origins, covers, openedAt)
    }

    /// Whether bytes on an idle connection begin a response that is another request's answer: a 2xx or 3xx, or an error after which the connection
    /// goes on. Servers that end a connection say errors unasked (408, 503), and others send newlines after a body or the body of a 304: covers that
    /// came before them are not doubted.
    /// - Parameter isOver: the connection has ended behind the bytes.
    static func begins(_ bytes: [UInt8], isOver: @autoclosure () -> Bool) -> Bool {
        // `HTTP/1.1 200`
        let head = bytes.drop { $0 == 13 || $0 == 10 }
        let line = Array(head.prefix(12))
        guard line.count == 12, line.starts(with: "HTTP/1.".utf8), line[8] == UInt8(ascii: " "),
            let status = Int(String(decoding: line[9...], as: UTF8.self)), status >= 200
        else { return false }
        if status < 400 { return true }
        let closes =
            line[7] == UInt8(ascii: "0")
            || String(decoding: head, as: UTF8.self).lowercased().contains("connection: close")
        return status != 400 && status != 408 && !closes && !isOver()
    }
}

extension UnaskedAnswer {
    /// The same over TLS, by the length alone. A session ticket (RFC 8446 section 4.6.1), which servers send before their first answer, has 150 to
    /// 300 bytes, an alert 24. After a 400 or 408 the connection ends.
    /// - Parameter isOver: the connection has ended behind the bytes.
    static func isEncrypted(in bytes: [UInt8], isOver: Bool) -> Bool {
        // RFC 8446 section 5.1: application_data.
        bytes.count >= looksAt || bytes.count >= 320 && bytes[0] == 23 && !isOver
    }
}

/// The cover that a request is for: its own URL, whatever redirects lead to it.
package struct RequestedCover: Sendable, Hashable {
    package var url: HTTPURL
    /// What its callers send to its origin.
    package var headerFields: HTTPFields = [:]
    package var deniesPrivateAddresses = false

    package init(_ url: HTTPURL) { self.url = url }
}

/// The last covers that were requested on a connection.
struct RecentCovers {
    static let limit = 4_096
    /// In no particular order.
    private(set) var all: [RequestedCover] = []
    private var oldest = 0

    mutating func add(_ cover: RequestedCover) {
        if all.count < Self.limit { return all.append(cover) }
        all[oldest] = cover
        oldest = (oldest + 1) % Self.limit
    }
}
