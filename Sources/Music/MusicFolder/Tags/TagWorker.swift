import Platform

/// The process that reads tags, and makes changed copies of files, for another one. It answers each request with a line before it reads
/// the next, so that the other process knows which file it died of.
package struct TagWorker {
    /// Bytes of memory that it may allocate.
    var memoryLimit: Int
    /// Seconds for a file, after which it ends itself if the other process has not ended it; 0 for no end. A copy has a second more for
    /// each mebibyte.
    var lifetime: UInt32

    package init(memoryLimit: Int, lifetime: UInt32) { (self.memoryLimit, self.lifetime) = (memoryLimit, lifetime) }

    /// Runs to the end of the input.
    /// - Returns: Whether everything was answered.
    package func run(input: Int32, output: Int32) -> Bool {
        limitMemory()
        guard write(TagLine.greeting, to: output) else { return false }
        let reader = TagReader()
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
        defer { buffer.deallocate() }
        var bytes: [UInt8] = []
        while true {
            let count = readSome(buffer, from: input)
            if count <= 0 { return count == 0 && bytes.isEmpty }
            bytes += buffer[..<count]
            for line in TagLine.take(from: &bytes) {
                guard let request: TagRequest = TagLine.message(line) else { return false }
                guard write(answer(request, reader), to: output) else { return false }
            }
        }
    }

    private func answer(_ request: TagRequest, _ reader: TagReader) -> [UInt8] {
        defer { alarm(0) }
        switch request {
        case .read(let path):
            alarm(lifetime)
            switch reader.read(path) {
            case .success(let tags): return TagLine.bytes(TagAnswer(tags: tags))
            case .failure(let failure): return TagLine.bytes(TagAnswer(failure: failure))
            }
        case .change(let change) where change.action == .take:
            alarm(lifetime)
            return TagLine.bytes(reader.take(change))
        case .change(let change):
            let length = (try? FileStatus(change.path.bytes, in: AT_FDCWD, followsLinks: false))?.size ?? 0
            if lifetime > 0 { alarm(lifetime + UInt32(clamping: length >> 20)) }
            return TagLine.bytes(ChangedCopy(read: reader.read).make(change))
        }
    }

    private func limitMemory() {
        #if os(Linux)
            var limit = rlimit(rlim_cur: rlim_t(memoryLimit), rlim_max: rlim_t(memoryLimit))
            setrlimit(__rlimit_resource_t(RLIMIT_DATA.rawValue), &limit)
            // A core file for each hostile file would fill the disk.
            var none = rlimit(rlim_cur: 0, rlim_max: 0)
            setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        #endif
    }

    private func write(_ bytes: [UInt8], to output: Int32) -> Bool {
        bytes.withUnsafeBytes { writeAll($0, to: output) }
    }
}

/// A running worker, as the program that starts it knows it.
package struct TagWorkerProcess: Sendable {
    /// Ends it immediately.
    package var kill: @Sendable () -> Void
    /// Waits for its end. Returns the exit code; 128+N if signal N ended it.
    package var wait: @Sendable () -> Int32

    package init(kill: @escaping @Sendable () -> Void, wait: @escaping @Sendable () -> Int32) {
        (self.kill, self.wait) = (kill, wait)
    }

    /// Starts a worker whose standard input and output are these descriptors.
    package typealias Start = @Sendable (_ input: Int32, _ output: Int32) throws -> TagWorkerProcess
}
