import Foundation
import Synchronization

/// The response to one request.
package struct Reply: Sendable {
    package enum Ending: Sendable { case complete, closed, reset }

    package var status = 0
    /// The head as it came, without its last empty line.
    package var head = ""
    /// By lower-case name.
    package var fields: [String: String] = [:]
    package var body: [UInt8] = []
    /// How it ended: `complete` leaves the connection open.
    package var ending = Ending.complete

    package var text: String { String(decoding: body, as: UTF8.self) }
}

/// A client's connection made of plain blocking calls: it sees what a library hides, such as a reset.
package final class Wire: Sendable {
    private let socket: Int32
    /// Bytes that arrived behind the reply that was read.
    private let unread = Mutex<ArraySlice<UInt8>>([])

    package struct Failure: Error { package let call: String, code: Int32 }

    /// - Parameter receiveBuffer: what the kernel may hold of what the server sends, in bytes; nil for its own choice.
    package init(port: Int, receiveBuffer: Int32? = nil) throws {
        socket = Loopback.makeSocket()
        guard socket >= 0 else { throw Failure(call: "socket", code: errno) }
        if var size = receiveBuffer {
            setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        }
        // A bug fails a test; it does not hang it.
        var limit = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        // Nor is a client that writes to a closed connection killed by a signal.
        #if canImport(Darwin)
            var isOn: Int32 = 1
            setsockopt(socket, SOL_SOCKET, SO_NOSIGPIPE, &isOn, socklen_t(MemoryLayout<Int32>.size))
        #endif
        guard Loopback.connect(socket, to: port) else { throw Failure(call: "connect", code: errno) }
    }

    deinit { close(socket) }

    package func send(_ text: String) throws { try send(Array(text.utf8)) }

    package func send(_ bytes: [UInt8]) throws {
        guard Loopback.send(bytes, to: socket) else { throw Failure(call: "send", code: errno) }
    }

    /// Closes this side: nothing more is sent.
    package func endSending() throws {
        guard shutdown(socket, Int32(SHUT_WR)) == 0 else { throw Failure(call: "shutdown", code: errno) }
    }

    /// Reads until the other side ends the connection, but not more than `most` bytes.
    package func drain(most: Int = .max) throws -> Reply {
        var bytes: [UInt8] = []
        var ending = Reply.Ending.complete
        while bytes.count < most, let piece = try receive(&ending) { bytes += piece }
        var reply = Reply()
        reply.body = bytes
        reply.ending = ending
        return reply
    }

    /// Reads until `text` has come. What came, with `text` in it, or what there was before the end.
    package func receive(until text: String) throws -> String {
        var bytes: [UInt8] = []
        var ending = Reply.Ending.complete
        while !String(decoding: bytes, as: UTF8.self).contains(text), let piece = try receive(&ending) {
            bytes += piece
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Reads one response, or its head. What follows a head, or a body of a known length, is for the next to read.
    package func reply(toHead: Bool = false) throws -> Reply {
        var reply = Reply()
        var bytes: [UInt8] = []
        while bytes.headEnd == nil {
            guard let piece = try receive(&reply.ending) else { return reply }
            bytes += piece
        }
        let end = bytes.headEnd ?? 0
        reply.head = String(decoding: bytes[..<(end - 4)], as: UTF8.self)
        let lines = reply.head.components(separatedBy: "\r\n")
        reply.status = Int(lines[0].split(separator: " ")[1]) ?? 0
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            reply.fields[parts[0].lowercased()] = parts.count > 1 ? parts[1].trimmingCharacters(in: .whitespaces) : ""
        }
        bytes.removeFirst(end)
        if toHead || reply.status == 304 || reply.status == 204 {
            unread.withLock { [bytes] in $0 = bytes[...] }
            return reply
        }
        let isChunked = reply.fields["transfer-encoding"] == "chunked"
        let length = reply.fields["content-length"].flatMap { Int($0) } ?? .max
        while isChunked ? !bytes.hasLastChunk : bytes.count < length {
            guard let piece = try receive(&reply.ending) else { break }
            bytes += piece
        }
        reply.body = isChunked ? bytes.unchunked : Array(bytes.prefix(length))
        if !isChunked { unread.withLock { [bytes] in $0 = bytes.dropFirst(length) } }
        return reply
    }

    private func receive(_ ending: inout Reply.Ending) throws -> ArraySlice<UInt8>? {
        let rest = unread.withLock { kept -> ArraySlice<UInt8> in
            defer { kept = [] }
            return kept
        }
        if !rest.isEmpty { return rest }
        var piece = [UInt8](repeating: 0, count: 65_536)
        let count = recv(socket, &piece, piece.count, 0)
        if count > 0 { return piece[..<count] }
        if count < 0, errno != ECONNRESET { throw Failure(call: "recv", code: errno) }
        ending = count == 0 ? .closed : .reset
        return nil
    }
}

extension [UInt8] {
    /// Where the head's empty line ends.
    fileprivate var headEnd: Int? {
        guard count >= 4 else { return nil }
        return (4...count).first { self[($0 - 4)..<$0] == [13, 10, 13, 10] }
    }

    fileprivate var hasLastChunk: Bool { suffix(5) == [0x30, 13, 10, 13, 10] }

    fileprivate var unchunked: [UInt8] {
        var result: [UInt8] = []
        var rest = self[...]
        while let end = rest.firstIndex(of: 13) {
            guard let size = Int(String(decoding: rest[..<end], as: UTF8.self), radix: 16), size > 0 else { break }
            result += rest[(end + 2)..<(end + 2 + size)]
            rest = rest[(end + 4 + size)...]
        }
        return result
    }
}
