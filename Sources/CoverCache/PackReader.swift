import Platform
import Synchronization

/// Reads a pack (`PackTrailer`) once, from its beginning to its end. Every record is verified; damaged ones are skipped.
package final class PackReader: Sendable {
    package enum Item: Sendable {
        /// The bytes match their digest.
        case cover(EntryMetadata, body: [UInt8])
        /// Something is damaged or missing.
        case damage(Defect)
    }

    private struct State {
        var input: PackInput
        var hash = SHA256()
        var records = 0
        var isDamaged = false
        var isFinished = false
        var lastBody: (digest: Digest, bytes: [UInt8])?
    }

    private let state: Mutex<State>
    private let path: String

    /// - Parameters:
    ///   - descriptor: of a file or a pipe. It stays the caller's to close.
    ///   - path: for errors.
    /// - Throws: `CacheError` if it cannot be read, is no pack, or was written by a newer version.
    package init(descriptor: Int32, path: String) throws(CacheError) {
        self.path = path
        var input = PackInput(descriptor: descriptor, path: path)
        let magic = try input.peek()
        guard magic == PackTrailer.packMagic else {
            // The last byte is the version.
            let version: UInt64 = 0xFF << 56
            if let magic, magic & ~version == PackTrailer.packMagic & ~version { throw .newerPack(path) }
            throw .notAPack(path)
        }
        input.consume(8)
        state = Mutex(State(input: input))
    }

    /// The next items, about `length` bytes of them; none at the end.
    /// - Throws: `CacheError` if the file cannot be read.
    package func next(_ length: Int) throws(CacheError) -> [Item] {
        try state.withLock { state throws(CacheError) in
            var items: [Item] = []
            var bytes = 0
            while bytes < length, let item = try next(&state) {
                if case .cover(_, let body) = item { bytes += body.count }
                // Damage is counted too: a file may hold millions of damaged records.
                bytes += RecordHeader.alignment
                items.append(item)
            }
            return items
        }
    }

    private func next(_ state: inout State) throws(CacheError) -> Item? {
        if state.isFinished { return nil }
        switch try state.input.peek() {
        case RecordHeader.magic: return try record(&state)
        case PackTrailer.magic: return try end(&state)
        case nil:
            state.isFinished = true
            return damage("the file ends without a trailer: it is incomplete", &state)
        default: return try skipDamage(&state)
        }
    }

    private func record(_ state: inout State) throws(CacheError) -> Item {
        let offset = state.input.offset
        guard try state.input.fill(RecordHeader.size),
            let header = state.input.withBytes(RecordHeader.size, { RecordHeader($0) })
        else { return try skipDamage(&state) }
        let frontLength = RecordHeader.size + header.metadataLength
        guard try state.input.fill(frontLength), let metadata = state.input.withBytes(frontLength, Self.metadata)
        else { return try skipDamage(&state) }
        var hash = state.hash
        state.input.withBytes(frontLength) { hash.update($0) }
        state.hash = hash
        state.records += 1
        state.input.consume(frontLength)
        func damage(_ problem: String) -> Item { self.damage(problem, key: metadata.key, at: offset, &state) }

        if header.isReference {
            guard let last = state.lastBody, last.digest == header.digest else {
                return damage("the record with its bytes is damaged or missing")
            }
            return .cover(metadata, body: last.bytes)
        }
        // Bytes may be missing: what follows them is not consumed with a body that is not whole.
        state.lastBody = nil
        guard try state.input.fill(header.bodyLength) else {
            try skipToRecord(&state)
            return damage("the file ends within the cover")
        }
        let body = state.input.withBytes(header.bodyLength) { Array($0) }
        guard body.withUnsafeBytes({ Digest(of: $0) }) == header.digest else {
            try skipToRecord(&state)
            return damage("the bytes do not match their digest")
        }
        state.input.consume(header.bodyLength)
        state.lastBody = (header.digest, body)
        return .cover(metadata, body: body)
    }

    /// Consumes what precedes the next bytes that begin like a record or the trailer.
    private func skipToRecord(_ state: inout State) throws(CacheError) {
        if let next = try state.input.peek(), [RecordHeader.magic, PackTrailer.magic].contains(next) { return }
        try state.input.skip(to: RecordHeader.magic, PackTrailer.magic)
    }

    /// Nil if the checksum does not match.
    private static func metadata(_ front: UnsafeRawBufferPointer) -> EntryMetadata? {
        guard RecordHeader.isIntact(front) else { return nil }
        return EntryMetadata(decoding: UnsafeRawBufferPointer(rebasing: front[RecordHeader.size...]))
    }

    /// Compares the trailer with what was read. Nil if everything is there.
    private func end(_ state: inout State) throws(CacheError) -> Item? {
        let offset = state.input.offset
        guard try state.input.fill(PackTrailer.size),
            let trailer = state.input.withBytes(PackTrailer.size, { PackTrailer($0) })
        else { return try skipDamage(&state) }
        state.input.consume(PackTrailer.size)
        state.isFinished = true
        let expected = PackTrailer(records: state.records, offset: offset, hash: state.hash)
        // What is damaged was reported already.
        if !state.isDamaged, trailer != expected {
            return damage("records are missing: the trailer states \(trailer.records)", at: offset, &state)
        }
        if try state.input.fill(1) { return damage("bytes follow the trailer; they are ignored", &state) }
        return nil
    }

    private func skipDamage(_ state: inout State) throws(CacheError) -> Item {
        let offset = state.input.offset
        try state.input.skip(to: RecordHeader.magic, PackTrailer.magic)
        return damage("not a record: \(state.input.offset - offset) bytes are skipped", at: offset, &state)
    }

    private func damage(_ problem: String, key: String? = nil, at offset: Int? = nil, _ state: inout State) -> Item {
        state.isDamaged = true
        return .damage(Defect(key: key, location: "\(path) at \(offset ?? state.input.offset)", problem: problem))
    }
}
