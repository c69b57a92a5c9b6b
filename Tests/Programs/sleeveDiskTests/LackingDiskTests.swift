#if os(Linux)
    import Foundation
    import OriginServer
    import SleeveStage
    import Testing

    extension DiskTests {
        /// Disks of other machines, which lack calls that local ones have.
        @Suite struct LackingDiskTests {
            @Test(arguments: [
                "", "fchmod:\(EPERM)", "fchmod:\(ENOTSUP)", "folder:\(EINVAL)", "folder:\(ENOENT)", "folder:\(EACCES)",
                "folder:\(EBADF)", "fsync:\(ENOTSUP)", "fsync:\(EINVAL) folder:\(ENOTSUP) syncfs:\(ENOSYS)",
                "flock:\(ENOLCK)", "flock:\(ENOTSUP) fchmod:\(EPERM)", "syncfs:\(ENOSYS)",
            ])
            func `a library, an export and metrics work on a disk that lacks`(calls: String) async throws {
                try await withStage { stage in
                    let disk = stage.folder + "/disk", library = disk + "/albums.json"
                    try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
                    let url = "\(stage.origin.coverURL(1))?size=4000"
                    func run(_ arguments: String...) async throws {
                        let options = ["--library", library]
                        let result = await
                            (try stage.start(
                                arguments + options, disk: ["DISK_ROOT": disk, "DISK_LACKS": calls])).exit()
                        #expect(result.status == 0, "\(arguments): \(result)")
                    }
                    // Its mode is another one than that of new files.
                    try Data("[{\"title\": \"Low Tide\", \"coverUrl\": \"\(url)\"}]".utf8).write(
                        to: URL(filePath: library))
                    chmod(library, 0o664)
                    for year in ["1971", "1972"] {
                        try await run("album", "edit", "Low Tide", "--year", year)
                        try await run("prefetch", library, "--metrics-file", disk + "/sleeve.prom")
                        try await run("export", disk + "/covers")
                        try await run("get", url, "--output", disk + "/one")
                    }
                    #expect(try stage.albums(of: library).map(\.year) == ["1972"])
                    let names = try FileManager.default.subpathsOfDirectory(atPath: disk)
                    #expect(!names.contains { $0.hasSuffix(".part") || $0.hasSuffix(".step") }, "\(names)")
                    #expect(names.contains { $0.contains("/cover.") })
                }
            }
        }
    }
#endif
