#if os(Linux)
    import CFiles
#endif
package import Platform

/// Copies of files that differ in a few places.
extension NewFile {
    /// Bytes that take the place of others.
    package struct Splice: Sendable, Hashable {
        /// Where they are in the original.
        package var range: Range<Int>
        package var bytes: [UInt8]

        package init(_ range: Range<Int>, _ bytes: [UInt8]) { (self.range, self.bytes) = (range, bytes) }
    }

    /// Takes over the bytes of another file with changes: a reflink with some blocks of its own if no byte moves, else a copy.
    /// - Parameter splices: In the order of their ranges, which do not overlap.
    /// - Throws: `SystemError`.
    package func copy(_ source: borrowing SourceFile, with splices: [Splice]) throws(SystemError) {
        if splices.allSatisfy({ $0.range.count == $0.bytes.count }) {
            try copy(source)
            for splice in splices { try overwrite(splice.bytes, at: splice.range.lowerBound) }
            return
        }
        var offset = 0
        for splice in splices {
            try copy(source, offset..<splice.range.lowerBound)
            try write(splice.bytes)
            offset = splice.range.upperBound
        }
        try copy(source, offset..<source.length)
    }

    private func copy(_ source: borrowing SourceFile, _ range: Range<Int>) throws(SystemError) {
        var offset = range.lowerBound
        while offset < range.upperBound {
            let bytes = try source.bytes(at: offset, count: min(1 << 20, range.upperBound - offset))
            // It is shorter than when it was opened.
            if bytes.isEmpty { throw SystemError("read", path: source.path, number: EIO) }
            try write(bytes)
            offset += bytes.count
        }
    }

    private func overwrite(_ bytes: [UInt8], at offset: Int) throws(SystemError) {
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes {
                pwrite(descriptor, $0.baseAddress! + written, $0.count - written, off_t(offset + written))
            }
            if count >= 0 { written += count } else if errno != EINTR { throw SystemError("write", path: folder.path) }
        }
    }

    /// Takes over the owner, the permissions, the access control list and the `user.` attributes of another file. Labels that the system
    /// gives, such as SELinux's, and the capabilities of programs are not taken over.
    /// - Throws: `SystemError`; `EPERM` if this user may not give a file to the owner.
    package func copyAttributes(of source: borrowing SourceFile) throws(SystemError) {
        let wanted = source.status
        let hasModes = setOwner(wanted.st_uid, wanted.st_gid, mode: wanted.st_mode)
        #if os(Linux)
            try copyExtendedAttributes(of: source)
        #else
            guard fcopyfile(source.descriptor, descriptor, nil, copyfile_flags_t(COPYFILE_ACL | COPYFILE_XATTR)) == 0
            else { throw SystemError("write", path: folder.path) }
        #endif
        let status = try status()
        guard status.st_uid == wanted.st_uid, status.st_gid == wanted.st_gid,
            !hasModes || status.st_mode == wanted.st_mode
        else { throw SystemError("chown", path: folder.path, number: EPERM) }
    }

    #if os(Linux)
        private static let accessList = "system.posix_acl_access"

        private func copyExtendedAttributes(of source: borrowing SourceFile) throws(SystemError) {
            let names = source.extendedAttributeNames()
            // The folder may give its own list to new files.
            if !names.contains(Self.accessList) { _ = fremovexattr(descriptor, Self.accessList) }
            for name in names
            where name.hasPrefix("user.") || name == Self.accessList || name == "system.nfs4_acl" {
                guard let value = source.extendedAttribute(name) else { continue }
                guard fsetxattr(descriptor, name, value, value.count, 0) == 0 else {
                    throw SystemError("write", path: folder.path)
                }
            }
        }
    #endif
}

#if os(Linux)
    extension SourceFile {
        /// The largest list of names, and the largest value (xattr(7)).
        private static let maximumLength = 64 << 10

        fileprivate func extendedAttributeNames() -> [String] {
            let bytes = [UInt8](unsafeUninitializedCapacity: Self.maximumLength) { buffer, count in
                buffer.withMemoryRebound(to: CChar.self) {
                    count = max(0, flistxattr(descriptor, $0.baseAddress, $0.count))
                }
            }
            return bytes.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
        }

        fileprivate func extendedAttribute(_ name: String) -> [UInt8]? {
            var size = 0
            let bytes = [UInt8](unsafeUninitializedCapacity: Self.maximumLength) { buffer, count in
                size = fgetxattr(descriptor, name, buffer.baseAddress, buffer.count)
                count = max(0, size)
            }
            return size < 0 ? nil : bytes
        }
    }
#endif
