import Platform

/// A temporary folder with everything that a bench writes: lists, caches, reports, the rivals' files.
struct BenchFolder {
    let path: String

    /// - Parameter parent: The directory to create it in. It decides which disk is measured.
    init(in parent: String) throws(SystemError) {
        try? FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
        var template = Array("\(parent)/sleeve-bench-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw SystemError("create a folder", path: parent) }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    func file(_ name: String) -> String { "\(path)/\(name)" }

    func text(of name: String) -> String { (try? String(contentsOfFile: file(name), encoding: .utf8)) ?? "" }

    func write(_ text: String, to name: String) throws {
        try text.write(toFile: file(name), atomically: false, encoding: .utf8)
    }

    /// Creates an empty folder, and removes what was there.
    func makeFolder(_ name: String) throws -> String {
        remove(name)
        try FileManager.default.createDirectory(atPath: file(name), withIntermediateDirectories: false)
        return file(name)
    }

    /// The number of files in a folder that are not empty.
    func countFiles(in name: String) -> Int {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: file(name))) ?? []
        return names.count { entry in
            let attributes = try? FileManager.default.attributesOfItem(atPath: file("\(name)/\(entry)"))
            return (attributes?[.size] as? Int ?? 0) > 0
        }
    }

    func remove(_ name: String) { try? FileManager.default.removeItem(atPath: file(name)) }

    func removeAll() { try? FileManager.default.removeItem(atPath: path) }
}
