import Platform

/// The resident memory of the process.
enum ResidentMemory {
    /// The peak, in bytes.
    static var peak: Int {
        #if os(Linux)
            // Not getrusage(2): its figure includes that of the parent process before exec.
            if let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
                let line = status.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM:") }),
                let kilobytes = Int(line.filter(\.isNumber))
            {
                return kilobytes * 1_024
            }
        #endif
        var usage = rusage()
        #if os(Linux)
            getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
            return usage.ru_maxrss * 1_024
        #else
            getrusage(RUSAGE_SELF, &usage)
            return usage.ru_maxrss
        #endif
    }
}
