import SleeveStage

/// What power loss leaves of a change that was not synced.
enum Fate: Equatable {
    case applied
    case absent
    /// The file has grown, but its new blocks hold zeros.
    case zeroed
    /// Only the blocks before this one, counted from the start of the write, are new.
    case torn(blocks: Int)

    static let block = 4_096

    func apply(_ change: DiskOperation, to bytes: inout [UInt8]) {
        if self == .absent { return }
        let end = change.offset + change.length
        func grow(to length: Int) {
            if bytes.count < length { bytes += [UInt8](repeating: 0, count: length - bytes.count) }
        }
        switch change.kind {
        case .write:
            grow(to: end)
            switch self {
            case .applied, .absent: bytes.replaceSubrange(change.offset..<end, with: change.data)
            case .zeroed: bytes.replaceSubrange(change.offset..<end, with: repeatElement(0, count: change.length))
            case .torn(let blocks):
                let length = max(
                    0, min((change.offset / Self.block + blocks) * Self.block - change.offset, change.length))
                bytes.replaceSubrange(change.offset..<change.offset + length, with: change.data.prefix(length))
            }
        case .truncate:
            if change.length < bytes.count { bytes.removeLast(bytes.count - change.length) }
            grow(to: change.length)
        case .allocate: grow(to: end)
        default: break
        }
    }
}
