import ArgumentParser
import CommandSupport
import Platform

/// A process of a torture: a command of `sleeve` on the tortured cache.
enum TortureJob: Sendable, Equatable {
    /// - Parameter covers: Indices of the catalog.
    case prefetch(covers: [Int])
    case refresh
    case verify
    case repair
    /// - Parameter bytes: The size to shrink the cache to.
    case evict(bytes: Int)
    /// Removes, or pins, the covers whose number ends with a digit.
    case remove(digit: Int)
    case pin(digit: Int)
    case unpin
    case pack
    /// Stores the covers of a pack of the whole catalog.
    case unpack
    case list
    /// Reads one cover offline. - Parameter cover: An index of the catalog.
    case get(cover: Int)

    enum Kind: String, Sendable, CaseIterable {
        case prefetch, refresh, verify, repair, evict, remove, pin, unpin, pack, unpack, list, get
    }

    /// Whether it may take covers out of the cache that have been acknowledged.
    var mayEvict: Bool { [.evict, .remove].contains(kind) }

    var kind: Kind {
        switch self {
        case .prefetch: .prefetch
        case .refresh: .refresh
        case .verify: .verify
        case .repair: .repair
        case .evict: .evict
        case .remove: .remove
        case .pin: .pin
        case .unpin: .unpin
        case .pack: .pack
        case .unpack: .unpack
        case .list: .list
        case .get: .get
        }
    }

    /// The files of one process, by their names in the torture's folder.
    struct Files: Sendable {
        /// The folder in which all processes have their files.
        static let directory = "jobs"
        /// The name of a pack of the whole catalog, which all processes share.
        static let pack = "covers.pack"

        let folder: TemporaryFolder
        /// The number of the process.
        let number: Int

        var list: String { name("urls") }
        var report: String { name("report") }
        var cover: String { name("cover") }
        var output: String { name("output") }
        var errors: String { name("errors") }
        private func name(_ kind: String) -> String { "\(Self.directory)/\(number).\(kind)" }
    }

    /// The arguments of `sleeve`, without `--cache` and `--library`.
    func arguments(_ files: Files, _ catalog: TortureCatalog) -> [String] {
        func path(_ name: String) -> String { files.folder.file(name) }
        return switch self {
        case .prefetch: ["prefetch", path(files.list), "--report", path(files.report), "--quiet"]
        case .refresh: ["refresh", "--all", "--report", path(files.report), "--quiet"]
        case .verify: ["verify", "--quiet"]
        case .repair: ["verify", "--repair", "--json", "--quiet"]
        case .evict(let bytes): ["evict", "--to", "\(bytes)", "--quiet"]
        case .remove(let digit): ["remove", "--matching", "*\(digit).jpg*", "--force", "--quiet"]
        case .pin(let digit): ["pin", "--matching", "*\(digit).jpg*", "--quiet"]
        case .unpin: ["unpin", "--all", "--quiet"]
        case .pack: ["pack", path(files.cover), "--quiet"]
        case .unpack: ["unpack", path(Files.pack), "--quiet"]
        case .list: ["list", "--json"]
        case .get(let cover): ["get", "--offline", "--quiet", catalog.urls[cover], "-o", path(files.cover)]
        }
    }

    /// The exit codes of a process that nothing has disturbed.
    var goodStatuses: Set<Int32> {
        switch self {
        // Another refresh is running.
        case .refresh: [0, ExitStatus.tryLater.rawValue]
        // The cover is not cached, or none is.
        case .get, .pack: [0, ExitStatus.someFailed.rawValue]
        // The covers of the list exceed the capacity.
        case .prefetch: [0, ExitStatus.someFailed.rawValue]
        default: [0]
        }
    }
}

/// The end of a process.
enum TortureFate: Sendable, Equatable {
    /// It runs to its end.
    case undisturbed
    /// SIGKILL.
    /// - Parameter moment: A share of the job's typical duration.
    case killed(moment: Double)
    /// SIGSTOP, and SIGCONT after `pause`.
    case stopped(moment: Double, pause: Duration)

    /// A signal to send, unless the process has ended by then.
    struct Step: Sendable, Equatable {
        /// The time since the step before, or since the start of the process.
        var delay: Duration
        var signal: Int32
    }

    /// - Parameter typical: The job's typical duration.
    func steps(typical: Duration) -> [Step] {
        switch self {
        case .undisturbed: []
        case .killed(let moment): [Step(delay: typical * moment, signal: SIGKILL)]
        case .stopped(let moment, let pause):
            [Step(delay: typical * moment, signal: SIGSTOP), Step(delay: pause, signal: SIGCONT)]
        }
    }
}
