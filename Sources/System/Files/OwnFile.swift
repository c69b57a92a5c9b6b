package import Platform

/// A file in a folder that belongs to a person. The only code that creates, replaces or removes such a file.
///
/// Other programs save while it acts. So what has the name is not looked at before it is replaced, but after: it comes out under a hidden
/// name, and goes back unless it is, byte for byte, what was expected, and no program has it open for writing.
/// Each step is in the journal before the first rename, which tells after a crash what to put back.
package struct OwnFile {
    /// Why a file stays as it is.
    package enum Refusal: Error, Sendable, Hashable {
        /// The file has other bytes than expected, is gone, or is no regular file.
        case changed
        case openForWriting
        /// The file changed in the last seconds, on a file system that does not tell whether a program has it open.
        case changedJustNow
        /// It has other names that would keep the old bytes.
        case hasHardLinks
        /// The new file cannot get the owner, the permissions or the attributes of the old one.
        case attributes(SystemError)
        /// Two programs saved in the same moment. One file is under the name, the other one under this one.
        case movedAside(FileName)

        package var reason: String {
            switch self {
            case .changed: "was changed meanwhile"
            case .openForWriting: "another program has it open for writing"
            case .changedJustNow: "was changed a few seconds ago"
            case .hasHardLinks: "has several names (hard links)"
            case .attributes(let error): "its owner, permissions or attributes cannot be kept: \(error.reason)"
            case .movedAside(let name): "was changed meanwhile; another version of it is now \(name)"
            }
        }
    }

    /// What is expected under the name.
    package struct Expected: Sendable, Hashable {
        package var digest: Digest
        /// Sleeve wrote these bytes, so they may be deleted after a crash.
        package var isSleeves: Bool

        package init(_ digest: Digest, isSleeves: Bool) { (self.digest, self.isSleeves) = (digest, isSleeves) }
    }

    package let name: FileName
    package let folder: OpenFolder
    private let journal: StepJournal?

    /// - Parameter journal: Nil to write no step down: a crash may leave a hidden file then.
    package init(_ name: FileName, in folder: OpenFolder, _ journal: StepJournal?) {
        (self.name, self.folder, self.journal) = (name, folder, journal)
    }

    /// The digest of a regular file of this name; nil if there is none.
    /// - Throws: `SystemError` if it cannot be read.
    package func digest() throws(SystemError) -> Digest? { try Self.digest(of: name, in: folder) }

    static func digest(of name: FileName, in folder: OpenFolder) throws(SystemError) -> Digest? {
        guard let status = try folder.status(of: name), status.st_mode & S_IFMT == S_IFREG else { return nil }
        do throws(SystemError) { return try folder.file(name).digest() } catch {
            if error.cause == .missing || error.cause == .notAFolder { return nil }
            throw error
        }
    }

    // MARK: Creating

    /// Gives a new file, which is complete and synced, this name.
    /// - Throws: `SystemError`, with the cause `exists` if there is a file of this name.
    package func create(_ new: NewFile) throws(SystemError) { try new.commit(as: name) }

    // MARK: Replacing

    /// Replaces the file by a new one, which is complete, and gets its owner, permissions and attributes.
    /// - Parameter keepsHardLinks: Refuse a file that has other names.
    /// - Throws: `Refusal` or `SystemError`; the file is as it was then.
    package func replace(_ expected: Expected, by new: NewFile, keepsHardLinks: Bool = false) throws {
        do {
            let old = try folder.file(name)
            if keepsHardLinks, old.status.st_nlink > 1 { throw Refusal.hasHardLinks }
            if let refusal = old.refusal(isSleeves: expected.isSleeves, clock: { try? new.status() }) { throw refusal }
            do throws(SystemError) { try new.copyAttributes(of: old) } catch { throw Refusal.attributes(error) }
        } catch let error as SystemError where Self.isOtherFile(error) {
            throw Refusal.changed
        }
        try new.sync()
        let step = Step(
            folder: folder.absolutePath, name: name, hidden: Step.hiddenName(), expected: expected,
            new: try new.source().digest())
        try journal?.begin(step)
        defer { end(step) }
        try exchange(new, step)
        try folder.sync()
    }

    private func exchange(_ new: NewFile, _ step: Step) throws {
        let clock = { try? new.status() }
        try new.hide(as: step.hidden)
        let error = folder.exchange(step.hidden, name)
        if NameChange.isUnsupported(error) { return try moveIn(step, clock) }
        if error != 0 {
            _ = folder.unlink(step.hidden)
            throw error == ENOENT ? Refusal.changed : SystemError("write", path: folder.path(of: name), number: error)
        }
        if let objection = objection(to: step.hidden, step.expected, clock) {
            throw exchangeBack(step) ?? objection
        }
        try delete(step.hidden)
    }

    /// What came out goes back. - Returns: What to say if that is not all.
    private func exchangeBack(_ step: Step) -> Refusal? {
        let error = folder.exchange(step.hidden, name)
        // A person has removed the file that was in its place for a moment.
        if error == ENOENT { return putBack(step.hidden) }
        if error != 0 { return moveAside(step.hidden) }
        if (try? Self.digest(of: step.hidden, in: folder)) == step.new {
            _ = folder.unlink(step.hidden)
            return nil
        }
        // A person has saved it again in between: the later file gets the name.
        _ = folder.exchange(step.hidden, name)
        return moveAside(step.hidden)
    }

    /// The old file to a name of its own, and a look. - Throws: `Refusal` or `SystemError`; the file has its name again then.
    private func moveOut(_ step: Step, _ clock: () -> stat?, _ purpose: String) throws {
        let error = folder.rename(name, to: step.spare)
        guard error == 0 else {
            throw error == ENOENT ? Refusal.changed : SystemError(purpose, path: folder.path(of: name), number: error)
        }
        if let objection = objection(to: step.spare, step.expected, clock) { throw putBack(step.spare) ?? objection }
    }

    /// Where names cannot be exchanged: the old file out, and the new one in.
    private func moveIn(_ step: Step, _ clock: () -> stat?) throws {
        do { try moveOut(step, clock, "write") } catch {
            _ = folder.unlink(step.hidden)
            throw error
        }
        let failure = folder.moveExclusively(step.hidden, to: name)
        if failure == 0 { return try delete(step.spare) }
        _ = folder.unlink(step.hidden)
        guard failure == EEXIST else {
            throw putBack(step.spare) ?? SystemError("write", path: folder.path(of: name), number: failure)
        }
        // A person has saved another file under the name.
        guard step.expected.isSleeves else { throw moveAside(step.spare) }
        try delete(step.spare)
        throw Refusal.changed
    }

    // MARK: Removing

    /// Removes the file.
    /// - Throws: `Refusal` or `SystemError`; the file is as it was then.
    package func remove(_ expected: Expected) throws {
        let clock = { try? NewFile(in: folder).status() }
        if let objection = objection(to: name, expected, clock) { throw objection }
        let step = Step(
            folder: folder.absolutePath, name: name, hidden: Step.hiddenName(), expected: expected, new: nil)
        try journal?.begin(step)
        defer { end(step) }
        try moveOut(step, clock, "remove")
        try delete(step.spare)
        try folder.sync()
    }

    // MARK: Steps

    /// Nil if a file is what was expected, and no program writes it. A `SystemError` if it cannot be read: it may be what was expected.
    private func objection(to name: FileName, _ expected: Expected, _ clock: () -> stat?) -> (any Error)? {
        do throws(SystemError) {
            let file = try folder.file(name)
            if let refusal = file.refusal(isSleeves: expected.isSleeves, clock: clock) { return refusal }
            return try file.digest() == expected.digest ? nil : Refusal.changed
        } catch {
            return Self.isOtherFile(error) ? Refusal.changed : error
        }
    }

    /// Whether the name has no regular file any more.
    private static func isOtherFile(_ error: SystemError) -> Bool {
        [.missing, .notAFolder].contains(error.cause) || error.number == EINVAL
    }

    /// A step that has left something under a hidden name stays in the journal.
    private func end(_ step: Step) {
        if folder.has(step.hidden) || folder.has(step.spare) { return }
        journal?.end(step)
    }

    private func delete(_ name: FileName) throws(SystemError) {
        let error = folder.unlink(name)
        guard error == 0 else { throw SystemError("remove", path: folder.path(of: name), number: error) }
    }

    private func putBack(_ hidden: FileName) -> Refusal? { folder.putBack(hidden, as: name) }
    private func moveAside(_ hidden: FileName) -> Refusal { .movedAside(folder.moveAside(hidden, of: name)) }
}

extension OpenFolder {
    func has(_ name: FileName) -> Bool { (try? status(of: name)) ?? nil != nil }

    /// Gives a person's file its name again; another one, which everyone sees, if something has the name by now.
    func putBack(_ hidden: FileName, as name: FileName) -> OwnFile.Refusal? {
        moveExclusively(hidden, to: name) == 0 ? nil : .movedAside(moveAside(hidden, of: name))
    }

    /// Gives a person's file a name beside another one. - Returns: The name.
    func moveAside(_ hidden: FileName, of name: FileName) -> FileName {
        for number in 1..<1_000 {
            guard let visible = FileName(name.bytes + ".kept-\(number)".utf8) else { continue }
            switch moveExclusively(hidden, to: visible) {
            case 0: return visible
            case EEXIST: continue
            default: return hidden
            }
        }
        return hidden
    }

    /// The path from the root, for the journal.
    var absolutePath: [UInt8] {
        if pathBytes.first == UInt8(ascii: "/") { return pathBytes }
        return Array("\(FileManager.default.currentDirectoryPath)/".utf8) + pathBytes
    }
}
