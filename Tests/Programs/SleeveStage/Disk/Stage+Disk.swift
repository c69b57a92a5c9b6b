#if os(Linux)
    import Foundation
    import Testing

    extension Stage {
        /// Starts the command with `disk.c`.
        /// - Parameters:
        ///   - variables: what to do to its file operations.
        ///   - isDiskBusy: other programs have written much that is not on the disk yet.
        package func start(
            _ arguments: [String], disk variables: [String: String], isDiskBusy: Bool = false
        ) throws -> Child {
            var environment = environment.merging(variables) { $1 }
            environment["DISK_MEMORY"] = try memoryInformation(isDiskBusy)
            environment["DISK_ROOT"] = environment["DISK_ROOT"] ?? folder
            environment["LD_PRELOAD"] = try diskLibrary.get()
            return try Child(sleeveBinary, arguments, environment: environment)
        }
    }

    /// `disk.c`, compiled.
    private let diskLibrary = Result {
        let source = (#filePath as NSString).deletingLastPathComponent + "/disk.c"
        let library = (sleeveBinary as NSString).deletingLastPathComponent + "/disk.so"
        let compiler = Process()
        compiler.executableURL = URL(filePath: "/usr/bin/env")
        compiler.arguments = ["clang", "-shared", "-fPIC", "-O1", "-o", library, source]
        try compiler.run()
        compiler.waitUntilExit()
        try #require(compiler.terminationStatus == 0, "clang could not compile \(source)")
        return library
    }

    /// What the command reads as /proc/meminfo, so that it does the same on every machine.
    private func memoryInformation(_ isDiskBusy: Bool) throws -> String {
        let path = (sleeveBinary as NSString).deletingLastPathComponent + "/meminfo-\(isDiskBusy ? "busy" : "idle")"
        let text = "MemTotal: 9000000 kB\nDirty: \(isDiskBusy ? 4_000_000 : 0) kB\nWriteback: 0 kB\n"
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }
#endif
