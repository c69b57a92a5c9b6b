import Dispatch
import Platform

/// Reports changes of the names in a folder, and files there that were written: inotify(7), on macOS kqueue(2), which does not report a file
/// that is overwritten. What another machine changes on a network disk is not reported.
enum FolderChanges {
    /// One element for any number of changes. Ends immediately if the folder cannot be watched.
    static func stream(of folder: String) -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        guard let descriptor = descriptor(watching: folder) else {
            continuation.finish()
            return stream
        }
        // because: Dispatch's sources may be cancelled on any thread.
        nonisolated(unsafe) let source = source(for: descriptor)
        source.setEventHandler {
            // Which names they are does not matter: looking at the library file again is cheap.
            var events = [UInt8](repeating: 0, count: 4_096)
            while read(descriptor, &events, events.count) > 0 {}
            continuation.yield()
        }
        source.setCancelHandler { close(descriptor) }
        continuation.onTermination = { _ in source.cancel() }
        source.activate()
        return stream
    }

    private static func source(for descriptor: Int32) -> any DispatchSourceProtocol {
        #if canImport(Darwin)
            DispatchSource.makeFileSystemObjectSource(fileDescriptor: descriptor, eventMask: .write)
        #else
            DispatchSource.makeReadSource(fileDescriptor: descriptor)
        #endif
    }

    private static func descriptor(watching folder: String) -> Int32? {
        #if canImport(Darwin)
            let descriptor = open(folder, O_EVTONLY | O_CLOEXEC)
            return descriptor < 0 ? nil : descriptor
        #else
            let descriptor = inotify_init1(O_NONBLOCK | O_CLOEXEC)
            guard descriptor >= 0 else { return nil }
            let changes = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_CLOSE_WRITE
            if inotify_add_watch(descriptor, folder, UInt32(changes)) >= 0 { return descriptor }
            close(descriptor)
            return nil
        #endif
    }
}
