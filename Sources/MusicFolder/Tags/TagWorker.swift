import Platform

/// The process that reads tags for another one. It reads paths that end with NUL, and answers each with a record before it reads the next,
/// so that the other process knows which file it died of.
package struct TagWorker {
    /// Bytes of memory that it may allocate.
    var memoryLimit: Int
    /// Seconds for a file, after which it ends itself if the other process has not ended it.
    var lifetime: UInt32

    package init(memoryLimit: Int, lifetime: UInt32) { (self.memoryLimit, self.lifetime) = (memoryLimit, lifetime) }

    /// Runs to the end of the input.
    /// - Returns: Whether everything was answered.
    package func run(input: Int32, output: Int32) -> Bool {
        limitMemory()
        guard write(TagRecord.greeting, to: output) else { return false }
        let reader = TagReader()
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
        defer { buffer.deallocate() }
        var path: [UInt8] = []
        while true {
            let count = readSome(buffer, from: input)
            if count <= 0 { return count == 0 && path.isEmpty }
            for byte in buffer[..<count] {
                if byte != 0 {
                    path.append(byte)
                    continue
                }
                alarm(lifetime)
                guard write(TagRecord(reader.read(BytePath(bytes: path))).bytes, to: output) else { return false }
                alarm(0)
                path.removeAll(keepingCapacity: true)
            }
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
