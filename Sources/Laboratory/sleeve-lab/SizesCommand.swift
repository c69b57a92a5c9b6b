import ArgumentParser
import CoverSizes
import Foundation

struct SizesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sizes",
        abstract: "Time the making of smaller pictures, for Scripts/bench.",
        discussion: """
            Prints the CPU time of each file in microseconds, the median of the rounds, as one JSON object.
            """)

    @Option(help: ArgumentHelp("The longest side of the smaller pictures. Default: 300.", valueName: "pixels"))
    var size: Int?

    @Option(help: ArgumentHelp("Rounds of each file. Default: 5.", valueName: "n"))
    var rounds: Int?

    @Option(
        help: ArgumentHelp("Write the smaller pictures here, under the names of the files.", valueName: "directory"))
    var writeTo: String?

    @Argument(help: ArgumentHelp("Pictures.", valueName: "file"))
    var files: [String]

    func validate() throws {
        guard 1...16_384 ~= size ?? 1 else { throw ValidationError("--size must be between 1 and 16384") }
        guard rounds ?? 1 > 0 else { throw ValidationError("--rounds must be at least 1") }
    }

    func run() throws {
        var times: [Double] = []
        for file in files {
            let url = URL(filePath: file)
            let bytes = [UInt8](try Data(contentsOf: url))
            times.append(
                median(rounds ?? 5) {
                    bytes.withUnsafeBytes { _ = SmallPicture.reduce($0, to: size ?? 300) }
                })
            guard let writeTo else { continue }
            guard case .made(let small) = bytes.withUnsafeBytes({ SmallPicture.reduce($0, to: size ?? 300) }) else {
                throw ValidationError("\(file) is used as it is")
            }
            try Data(small.bytes).write(to: URL(filePath: writeTo).appending(path: url.lastPathComponent))
        }
        let list = times.map { "\($0)" }.joined(separator: ",")
        print("{\"micros\":[\(list)]}")
    }

    /// The CPU time of this thread, in microseconds.
    private func median(_ rounds: Int, _ body: () -> Void) -> Double {
        let times = (0..<rounds).map { _ in
            let start = Self.cpuTime()
            body()
            return Self.cpuTime() - start
        }
        return times.sorted()[rounds / 2]
    }

    private static func cpuTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1e6 + Double(time.tv_nsec) / 1e3
    }
}
