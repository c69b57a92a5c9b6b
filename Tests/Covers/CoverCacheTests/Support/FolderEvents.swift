#if os(Linux)
    import Foundation
    import Testing

    /// What happens to folders and to the files in them, in order (inotify(7)).
    struct FolderEvents: ~Copyable {
        struct Event: Equatable {
            var folder: Int
            /// One of `IN_OPEN`, `IN_CREATE` and so on.
            var kind: Int
            /// The file's name; empty for the folder itself.
            var name: String
        }

        private let descriptor = inotify_init1(O_NONBLOCK | O_CLOEXEC)
        private var folders: [Int32] = []

        /// - Parameter kinds: The kinds of events to watch for in all `folders`, which events name by their indices.
        init(in folders: [String], _ kinds: Int) throws {
            for folder in folders { self.folders.append(inotify_add_watch(descriptor, folder, UInt32(kinds))) }
            try #require(self.folders.allSatisfy { $0 >= 0 })
        }

        deinit { close(descriptor) }

        /// Those since the last call.
        func next() -> [Event] {
            var buffer = [UInt8](repeating: 0, count: 64 << 10)
            let count = buffer.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
            var (events, offset) = ([Event](), 0)
            while offset < count {
                // Four numbers of 32 bits: the folder, the kind, one that connects the halves of a rename, the name's length.
                let numbers = (0..<4).map { number in
                    buffer.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset + 4 * number, as: Int32.self) }
                }
                let name = buffer[(offset + 16)..<(offset + 16 + Int(numbers[3]))].prefix { $0 != 0 }
                events.append(
                    Event(
                        folder: folders.firstIndex(of: numbers[0]) ?? -1, kind: Int(numbers[1]) & 0xFFF,
                        name: String(decoding: name, as: UTF8.self)))
                offset += 16 + Int(numbers[3])
            }
            return events
        }
    }
#endif
