#if os(Linux)
    import Foundation
    import Testing

    extension Stage {
        /// Starts the command with `disk.c`.
        /// - Parameter variables: what to do to its file operations.
        package func start(_ arguments: [String], disk variables: [String: String]) throws -> Child {
            var environment = environment.merging(variables) { $1 }
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
#endif
