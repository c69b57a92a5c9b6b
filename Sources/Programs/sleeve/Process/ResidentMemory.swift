import Platform

/// The resident memory of the process.
enum ResidentMemory {
    /// The peak, in bytes.
    static var peak: Int {
        #if os(Linux)
            // Not getrusage(2): its figure includes that of the parent process before exec.
            let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
            let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
            return (line.flatMap { Int($0.filter(\.isNumber)) } ?? 0) * 1_024
        #else
            var usage = rusage()
            getrusage(RUSAGE_SELF, &usage)
            return usage.ru_maxrss
        #endif
    }
}
