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
}
