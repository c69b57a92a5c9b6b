import CZlib

/// The gzip content coding (RFC 1952).
enum Gzip {
    /// The compressed bytes; nil if zlib has no memory.
    static func compressed(_ bytes: [UInt8]) -> [UInt8]? {
        var stream = z_stream()
        // 16 more than the window's size selects gzip.
        let code = deflateInit2_(
            &stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size))
        guard code == Z_OK, let length = UInt32(exactly: bytes.count) else { return nil }
        defer { deflateEnd(&stream) }
        var input = bytes
        var output = [UInt8](repeating: 0, count: Int(deflateBound(&stream, UInt(length))))
        let isComplete = input.withUnsafeMutableBufferPointer { input in
            output.withUnsafeMutableBufferPointer { output in
                stream.next_in = input.baseAddress
                stream.avail_in = length
                stream.next_out = output.baseAddress
                stream.avail_out = UInt32(clamping: output.count)
                return deflate(&stream, Z_FINISH) == Z_STREAM_END
            }
        }
        return isComplete ? Array(output.prefix(Int(stream.total_out))) : nil
    }
}
