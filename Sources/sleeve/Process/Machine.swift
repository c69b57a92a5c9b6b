import CommandSupport
import Platform

/// The machine that the process runs on.
enum Machine {
    /// The system, the processor and the number of cores: `Linux 6.18.1, AMD EPYC, 2 cores`.
    static var description: String {
        var name = utsname()
        uname(&name)
        func text<T>(_ field: T) -> String {
            withUnsafeBytes(of: field) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        }
        let lines = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8))?.split(separator: "\n") ?? []
        let model = lines.first { $0.hasPrefix("model name") }?.split(separator: ":").last
        let processor = model.map { $0.drop { $0 == " " } }.map(String.init) ?? text(name.machine)
        let cores = Decimals.count(sysconf(Int32(_SC_NPROCESSORS_ONLN)), "core")
        return "\(text(name.sysname)) \(text(name.release)), \(processor), \(cores)"
    }

    /// The work of the processors since the system started, in ticks.
    struct Load {
        var busy, total: Double

        /// Nil where the system does not have `/proc/stat` (proc_stat(5)).
        static var now: Self? {
            guard let text = try? String(contentsOfFile: "/proc/stat", encoding: .utf8),
                let line = text.split(separator: "\n").first, line.hasPrefix("cpu ")
            else { return nil }
            let ticks = line.split(separator: " ").dropFirst().prefix(8).compactMap { Double($0) }
            guard ticks.count == 8 else { return nil }
            // user, nice, system, idle, iowait, irq, softirq, steal.
            let total = ticks.reduce(0, +)
            return Self(busy: total - ticks[3] - ticks[4], total: total)
        }

        /// The busy share of the time since `start`, 0…1; nil if that was less than a tick.
        func share(since start: Self) -> Double? {
            total > start.total ? min(1, max(0, (busy - start.busy) / (total - start.total))) : nil
        }
    }
}
