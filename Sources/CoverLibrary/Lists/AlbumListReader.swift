#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Streams a list of covers from a file or from standard input, in bounded memory whatever the list's length.
///
/// It blocks in `read(2)`, so it belongs on a thread of its own, never on Swift's cooperative pool; one thread at a time.
/// A problem with one element is an element; an error thrown means that nothing more can be read.
package final class AlbumListReader {
    private let descriptor: CInt
    private let file: String
    private let asked: ListFormat?
    private let keepsOtherFields: Bool
    private let chunk: UnsafeMutableRawBufferPointer

    /// What was read before the format was known.
    private var opening: [UInt8] = []
    private var parser: (any ListParser)?
    private var isEnded = false
    /// Thrown by the next call: the elements before it are given first.
    private var pending: ListProblem?

    /// Opens a list; `-` is standard input. `format` overrides what extension and content say. Throws when the file is
    /// missing, a directory or not readable.
    ///
    /// `keepsOtherFields`: for those who write the albums again; those who want their covers do without.
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

    /// The elements of the next chunk that has any, in order; `nil` at the end. Waits until there is one, but never to
    /// gather more. Throws, once, when the rest cannot be read; `nil` from then on.
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

    /// Chooses the parser once enough is read, and feeds it what was read until then.
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

    /// For those who give a cover in place of a list.
    private static func advice(_ path: String) -> String {
        guard path.hasPrefix("http://") || path.hasPrefix("https://") else { return "" }
        return "; for one cover use `sleeve get`, or pipe URLs into `sleeve prefetch -`"
    }

    private static func open(_ path: String, _ place: ListPlace) throws(ListProblem) -> CInt {
        let descriptor = path == "-" ? STDIN_FILENO : systemOpen(path)
        guard descriptor >= 0 else {
            throw ListProblem(place: place, message: "cannot be opened: \(errorText())\(advice(path))")
        }
        var status = stat()
        if fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
            if descriptor != STDIN_FILENO { close(descriptor) }
            throw ListProblem(place: place, message: "is a directory; name a list of albums or URLs in it")
        }
        return descriptor
    }

    /// Reads at most a chunk, as soon as there is something; 0 at the end.
    private func read() throws(ListProblem) -> Int {
        while true {
            let count = systemRead(descriptor, chunk)
            if count >= 0 { return count }
            switch errno {
            case EINTR: continue
            case EAGAIN:
                // Standard input may have been made non-blocking by whoever shares it.
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
