import Logging
import Platform

extension AlbumStore {
    /// Removes pictures that no album has ever had. A failure is logged: the next start tries again.
    /// - Parameter now: In seconds since 1970.
    package func removeUnusedPictures(now: Int64 = WallClock.milliseconds() / 1_000) {
        guard let pictures, access(pictures.path, F_OK) == 0 else { return }
        do throws(LibraryError) {
            try withNamedDigests { used, state in try pictures.removeUnused(used, state: state, now: now) }
        } catch {
            logger.warning("unused pictures stay in \(pictures.path): \(error)")
        }
    }

    /// Calls `body` with each SHA-256 digest that the library, its copies or its whole history name, in hexadecimal, and with the path of its state
    /// directory. The library does not change meanwhile.
    private func withNamedDigests(_ body: (Set<String>, String) throws -> Void) throws(LibraryError) {
        try perform {
            let state = try file.openState()
            try state.lock.withLock {
                var digests = Self.digests(in: AlbumFile.text(of: try file.readOrRepair(state)))
                try state.journal.everyText { digests.formUnion(Self.digests(in: $0.utf8)) }
                for name in try FileManager.default.contentsOfDirectory(atPath: state.path)
                where name.hasSuffix(".json") {
                    let path = "\(state.path)/\(name)"
                    guard let bytes = FileManager.default.contents(atPath: path) else {
                        throw SystemError("read", path: path)
                    }
                    digests.formUnion(Self.digests(in: bytes))
                }
                try body(digests, state.path)
            }
        }
    }

    /// The runs of exactly 64 hexadecimal digits in lower case.
    private static func digests(in text: some Sequence<UInt8>) -> Set<String> {
        var digests: Set<String> = []
        var run: [UInt8] = []
        func end() {
            if run.count == 64 { digests.insert(String(decoding: run, as: UTF8.self)) }
            run.removeAll(keepingCapacity: true)
        }
        for byte in text {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"): run.append(byte)
            default: end()
            }
        }
        end()
        return digests
    }
}
