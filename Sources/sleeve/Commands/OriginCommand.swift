import ArgumentParser
import CommandSupport

struct OriginCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "origin", _superCommandName: "sleeve",
        abstract: "Serve generated covers on this machine, with latency and faults on demand.",
        discussion: """
            For demos, tests and benchmarks. Each number is a different cover of 8 to 250 KB, such as \
            http://127.0.0.1:8731/covers/1.jpg. The page at / lists the query parameters: delay, rate, status, fault, redirect \
            and more. Only programs on this machine can connect.

              sleeve origin &
              sleeve origin --urls 5000 | sleeve prefetch -
              sleeve origin --port 0 --delay 50 --fault 503 --fault-every 10

            `sleeve-lab origin`, which is built separately, also serves HTTPS with HTTP/2 (--tls) and emulates links (--link).
            """)

    @OptionGroup var origin: OriginArguments

    @Flag(help: .hidden) var tls = false
    @Option(help: .hidden) var link: String?

    func validate() throws {
        guard !tls, link == nil else {
            throw ValidationError(
                "--tls and --link are options of `sleeve-lab origin`: swift build -c release --product sleeve-lab")
        }
    }

    func run() async throws {
        if try !origin.writeCovers(scheme: "http") { try await origin.run(try origin.options()) }
    }
}
