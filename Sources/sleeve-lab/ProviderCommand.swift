import ArgumentParser
import CommandSupport
import OriginServer
import Platform

struct ProviderCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "provider",
        abstract: "Imitate the services that have covers, and watch the manners of their clients.",
        discussion: """
            Answers as the Cover Art Archive, MusicBrainz, iTunes and Deezer do, below the paths /caa, /musicbrainz, /itunes and /deezer, for the \
            albums of a JSON file: an array of objects with artist, title, year, tracks, release, group (ids), on (the services that \
            have it), largest (the side of iTunes' artwork) and traits: wrongFirst, placeholder, plain, same, pdf, noThumbnails, groupOnly.

            More requests than a service allows are throttled in its way, and are violations, as are requests to MusicBrainz at one time or \
            without a contact. /report has the counts and the violations as one JSON object, which is printed at the end, too. Exit code 3 if \
            there are violations.

              sleeve-lab provider --albums albums.json
            """)

    @Option(help: ArgumentHelp("The albums, as a JSON array.", valueName: "file"), completion: .file())
    var albums: String

    @Option(help: ArgumentHelp("The port to listen on; 0 chooses a free one.", valueName: "port"))
    var port = 0

    @Option(help: ArgumentHelp("Throttle each n-th search of a service, whatever the rate.", valueName: "n"))
    var throttleEvery: Int?

    @Option(help: ArgumentHelp("Delay of every answer to a search, in milliseconds.", valueName: "ms"))
    var delay = 20.0

    @Option(help: ArgumentHelp("Shorten the services' intervals to this part of them.", valueName: "factor"))
    var scale = 1.0

    @Option(name: .customLong("for"), help: ArgumentHelp("Stop after this time.", valueName: "seconds"))
    var seconds = 600.0

    func validate() throws {
        guard (0...65_535).contains(port) else { throw ValidationError("--port must be between 0 and 65535") }
        guard throttleEvery ?? 1 > 0 else { throw ValidationError("--throttle-every must be at least 1") }
        guard (0...60_000).contains(delay) else { throw ValidationError("--delay must be between 0 and 60000 ms") }
        guard (0...1).contains(scale) else { throw ValidationError("--scale must be between 0 and 1") }
        guard (0.1...86_400).contains(seconds) else {
            throw ValidationError("--for must be between 0.1 and 86400 seconds")
        }
    }

    func run() async throws {
        let list: [ProviderAlbum]
        do {
            list = try JSONDecoder().decode([ProviderAlbum].self, from: Data(contentsOf: URL(filePath: albums)))
        } catch {
            throw fail("cannot read the albums in \(albums): \(error)")
        }
        let provider = Provider(
            list, manners: ProviderManners(scale: scale, throttleEvery: throttleEvery),
            delay: .microseconds(Int(delay * 1_000)))
        var options = OriginOptions()
        options.port = port
        options.service = provider.service
        let origin: Origin
        do {
            origin = try await Origin.start(options)
        } catch {
            throw fail("\(error)")
        }
        let bases = Provider.Service.allCases.map { "\($0)=\(origin.url)/\($0)" }
        let signals = Signals.stream()
        Terminal.standardOutput.write("\(origin.url)\n")
        Log.info("imitating the services; SLEEVE_SOURCE_BASE=\(bases.joined(separator: ","))")
        let signal = await withTimeLimit(.milliseconds(Int(seconds * 1_000))) { await signals.first { _ in true } }
        await origin.stop()
        let report = provider.report
        Terminal.standardOutput.write(report + "\n")
        if !provider.isMannerly { throw ExitStatus.someFailed }
        if let signal, let signal { throw ExitStatus.stopped(by: signal) }
    }
}
