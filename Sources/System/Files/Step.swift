package import Platform
import Synchronization

/// What takes a file of a person away from its name, for a moment.
///
/// In a replacement, the new file is at `hidden`, and then exchanged with the one at `name`; without exchanges the old one goes to `spare`
/// before. In a removal, the old one goes to `spare`.
package struct Step: Sendable, Hashable {
    package var folder: [UInt8]
    package var name: FileName
    package var hidden: FileName
    package var expected: OwnFile.Expected
    /// What is put in the place; nil for a removal.
    package var new: Digest?

    /// Where the old file goes if names cannot be exchanged.
    var spare: FileName { FileName(hidden.bytes + ".old".utf8)! }

    private static let serial = Atomic(0)

    /// A name that no other step has, also after a restart of the machine. `OpenFolder.sweep` leaves it alone.
    static func hiddenName() -> FileName {
        let number = serial.wrappingAdd(1, ordering: .relaxed).newValue
        return FileName(".sleeve-\(getpid())-\(WallClock.milliseconds())-\(number).step")!
    }

    // MARK: After a crash

    /// What has a name.
    enum Found: Sendable, Hashable {
        case nothing
        case bytes(Digest)
        /// A folder, a link, or what cannot be read.
        case other
    }

    /// What to do with a file that is under a hidden name.
    enum Repair: Sendable, Hashable {
        /// There is nothing to do.
        case none
        /// It has bytes that Sleeve wrote.
        case delete
        /// Nothing has the name.
        case putBack
        /// Sleeve's new file has the name: it goes, and the file gets its name back.
        case takeOver
        /// A person's file has the name.
        case moveAside
    }

    /// Decides from what is there. Only bytes that Sleeve wrote are ever deleted.
    func repair(hidden: Found, name: Found) -> Repair {
        if hidden == .nothing { return .none }
        if let new, hidden == .bytes(new) { return .delete }
        if expected.isSleeves, hidden == .bytes(expected.digest) {
            // A removal, and a replacement whose new file has its name, are complete. Else it is the only cover there is.
            return new == nil || name != .nothing ? .delete : .putBack
        }
        if name == .nothing { return .putBack }
        if let new, name == .bytes(new) { return .takeOver }
        return .moveAside
    }
}

extension Step {
    /// The step as a line of the journal.
    var line: String {
        let parts = [folder, name.bytes, hidden.bytes].map { bytes in
            bytes.map {
                String(UnicodeScalar(Hexadecimal.digit($0 >> 4))) + String(UnicodeScalar(Hexadecimal.digit($0 & 15)))
            }
            .joined()
        }
        let digests = ["\(expected.digest)", expected.isSleeves ? "own" : "theirs", new.map { "\($0)" } ?? "none", "."]
        return (parts + digests).joined(separator: " ")
    }

    /// Nil for a line that was cut off.
    init?(line: some StringProtocol) {
        let parts = line.split(separator: " ")
        guard parts.count == 7, parts[6] == ".", let name = FileName(Self.bytes(parts[1])),
            let hidden = FileName(Self.bytes(parts[2])), let digest = Digest(String(parts[3]))
        else { return nil }
        self.init(
            folder: Self.bytes(parts[0]), name: name, hidden: hidden,
            expected: .init(digest, isSleeves: parts[4] == "own"), new: Digest(String(parts[5])))
    }

    private static func bytes(_ text: some StringProtocol) -> [UInt8] {
        var (bytes, rest) = ([UInt8](), Array(text.utf8)[...])
        while !rest.isEmpty, let byte = Hexadecimal.byte(rest.prefix(2)) {
            bytes.append(byte)
            rest = rest.dropFirst(2)
        }
        return rest.isEmpty ? bytes : []
    }
}
