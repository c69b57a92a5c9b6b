#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Streams a list of covers from a file or from standard input, in bounded memory whatever the list's length.
///
/// It blocks in `read(2)`: use it on a thread of its own, never on Swift's cooperative pool, and on one thread at a time.
/// A problem with one element is an element; a thrown error means that the rest of the list cannot be read.
package final class AlbumListReader {
    private let descriptor: CInt
    private let file: String
    private let asked: ListFormat?
    private let keepsOtherFields: Bool
    private let chunk: UnsafeMutableRawBufferPointer

    /// Bytes read before the format was recognised.
    private var opening: [UInt8] = []
    private var parser: (any ListParser)?
    private var isEnded = false
    /// Thrown by the next call, after the elements that precede it.
    private var pending: ListProblem?

    /// Opens a list; `-` is standard input. `format` overrides extension and content.
    /// - Parameter keepsOtherFields: keep fields that Sleeve does not know, for callers that write the albums again.
    /// - Throws: `ListProblem`: the file is missing, a directory or not readable.
    package init(path: String, format: ListFormat? = nil, keepsOtherFields: Bool = false) throws(ListProblem) {
        file = path == "-" ? "stdin" : path
        asked = format
        self.keepsOtherFields = keepsOtherFields
        descriptor = try Self.open(path, ListPlace(file: file))
        chunk = .allocate(byteCount: ListLimit.chunk, alignment: 16)
    }

    deinit {
        chunk.deallocate()
        if descriptor != STDIN_FILENO { close(descriptor) }
    }

    /// The elements of the next chunk that has any, in order; `nil` at the end. Returns as soon as there is one.
    /// - Throws: `ListProblem`, once, if the rest cannot be read; later calls return `nil`.
    package func next() throws(ListProblem) -> [ListElement]? {
        var elements: [ListElement] = []
        while elements.isEmpty {
            if let pending {
                self.pending = nil
                throw pending
            }
            if isEnded { return nil }
            do throws(ListProblem) {
                try step(&elements)
            } catch {
                isEnded = true
                pending = error
            }
        }
        return elements
    }

    private func step(_ elements: inout [ListElement]) throws(ListProblem) {
        let bytes = UnsafeRawBufferPointer(rebasing: chunk[..<(try read())])
        isEnded = bytes.isEmpty
        if parser == nil {
            opening.append(contentsOf: bytes)
            try begin(&elements)
        } else {
            try parser?.feed(bytes, into: &elements)
        }
        if isEnded { try parser?.finish(into: &elements) }
    }

    /// Chooses the parser once enough bytes are read, and feeds it those bytes.
    private func begin(_ elements: inout [ListElement]) throws(ListProblem) {
        let held = opening
        guard let found = try recognise(held) else { return }
        opening = []
        var parser: any ListParser =
            switch found.format {
            case .json: JSONArrayParser(file: file, keepsOtherFields: keepsOtherFields)
            case .jsonl: JSONLinesParser(file: file, keepsOtherFields: keepsOtherFields)
            case .csv: CSVParser(file: file, separator: found.separator, needsCovers: !keepsOtherFields)
            case .urls: URLListParser(file: file)
            }
        defer { self.parser = parser }
        try held.withBytes { (bytes) throws(ListProblem) in
            try parser.feed(UnsafeRawBufferPointer(rebasing: bytes[found.markLength...]), into: &elements)
        }
    }

    private func recognise(_ held: [UInt8]) throws(ListProblem) -> ListOpening? {
        try held.withBytes { (bytes) throws(ListProblem) in
            try ListOpening.recognise(bytes, isWhole: isEnded, file: file, asked: asked)
        }
    }

    // MARK: The file

    /// What to do if the path is the URL of a cover.
    private static func advice(_ path: String) -> String {
        guard path.hasPrefix("http://") || path.hasPrefix("https://") else { return "" }
        return
            "; to download one cover, run `sleeve get URL -o FILE`; to download several, pipe URLs into `sleeve prefetch -`"
    }

    private static func open(_ path: String, _ place: ListPlace) throws(ListProblem) -> CInt {
        let descriptor = path == "-" ? STDIN_FILENO : systemOpen(path)
        guard descriptor >= 0 else {
            throw ListProblem(place: place, message: "cannot be opened: \(errorText())\(advice(path))")
        }
        var status = stat()
        if fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
            if descriptor != STDIN_FILENO { close(descriptor) }
            throw ListProblem(place: place, message: "is a directory; \(ListOpening.expected)")
        }
        return descriptor
    }

    /// Reads at most one chunk, as soon as bytes are available; 0 at the end.
    private func read() throws(ListProblem) -> Int {
        while true {
            let count = systemRead(descriptor, chunk)
            if count >= 0 { return count }
            switch errno {
            case EINTR: continue
            case EAGAIN:
                // Another process that shares standard input may have made it non-blocking.
                var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                poll(&wait, 1, -1)
            default:
                throw ListProblem(place: ListPlace(file: file), message: "cannot be read: \(Self.errorText())")
            }
        }
    }

    private static func errorText() -> String { String(cString: strerror(errno)) }
}

// `open` and `read` are also names of members above.
private func systemOpen(_ path: String) -> CInt { open(path, O_RDONLY | O_CLOEXEC) }

private func systemRead(_ descriptor: CInt, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
    read(descriptor, buffer.baseAddress, buffer.count)
}
