import AlbumLibrary
import ArgumentParser
import CommandSupport
import CoverLibrary
import CoverSources
import Platform

/// Options of commands that look for covers of albums without an address.
struct SourceOptions: ParsableArguments {
    /// Nil is the tags.
    @Option(
        help: ArgumentHelp(
            "In order: \(Self.names.replacing(",", with: ", ")). (default: all)", valueName: "names"),
        transform: Self.places)
    var source: [[SourceName?]] = []

    @Option(
        help: ArgumentHelp(
            "Use another address for a service. Repeat the option for more. (default: $SLEEVE_SOURCE_BASE, separated by commas)",
            valueName: "name=url", visibility: .hidden))
    var sourceBase: [String] = []

    @OptionGroup var absences: AbsenceOptions

    /// The places of an option, separated by commas.
    private static func places(_ text: String) throws -> [SourceName?] {
        try text.split(separator: ",", omittingEmptySubsequences: false).map { word in
            if word == "tags" { return nil }
            if let service = services.first(where: { $0.rawValue == word }) { return service }
            throw ValidationError(
                word.isEmpty
                    ? "a name is missing, before, behind or between commas: sources are \(names)"
                    : "“\(word)” is no source: \(names)")
        }
    }

    func validate() throws {
        for text in sourceBase {
            let parts = text.split(separator: ",").map(String.init)
            let isList = parts.dropFirst().contains { part in Self.services.contains { part.hasPrefix("\($0)=") } }
            if !isList { continue }
            let options = parts.map { "--source-base \($0)" }.joined(separator: " ")
            throw ValidationError("--source-base takes one service: write \(options)")
        }
        do throws(BaseProblem) {
            _ = try Self.bases(sourceBase)
        } catch {
            throw ValidationError("--source-base \(error.text): expected NAME=URL; names are \(error.names)")
        }
    }

    /// Sets the address of the Cover Art Archive.
    /// - Throws: An exit code, after an error message, if a variable cannot be used.
    func apply(to configuration: inout LibraryConfiguration) throws {
        if let base = try bases()[.caa] { configuration.coverArtArchive = try URL(base, option: "--source-base") }
    }

    /// The places that options name, in order; nil if none does.
    private var places: [SourceName?]? { source.isEmpty ? nil : source.flatMap(\.self) }

    /// The sources to ask, in order.
    /// - Throws: An exit code, after an error message, if a variable cannot be used.
    func sources() throws -> [CoverSource] {
        CoverSource.table(places?.compactMap(\.self), bases: try bases(), keys: try Self.keys())
    }

    /// The keys that the person has for services.
    /// - Throws: An exit code, after an error message, if a variable cannot be used.
    private static func keys() throws -> [SourceName: String] {
        var keys: [SourceName: String] = [:]
        for service in SourceService.all {
            guard let variable = service.key?.variable, let key = Environment.value(variable) else { continue }
            // It becomes a part of a header field.
            guard key.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
                throw fail("$\(variable) is no key: it has other characters than printable ASCII, or a space")
            }
            keys[service.name] = key
        }
        return keys
    }

    /// The services that are asked before the tags are looked at; nil to leave those out.
    var servicesBeforeTags: Set<SourceName>? {
        guard let places else { return [] }
        return places.firstIndex(of: nil).map { Set(places[..<$0].compactMap(\.self)) }
    }

    /// The options that were given, for another process.
    var words: [String] {
        (places.map { ["--source=" + $0.map { $0?.rawValue ?? "tags" }.joined(separator: ",")] } ?? [])
            + sourceBase.map { "--source-base=\($0)" }
    }

    /// - Throws: An exit code, after an error message, if a source that was named is not asked without a contact.
    func requireContact(_ userAgent: String) throws {
        guard places != nil else { return }
        for source in try sources() { if let refusal = source.refusal(userAgent: userAgent) { throw fail(refusal) } }
    }

    /// A queue that asks the sources with the library's client.
    /// - Parameter memory: nil to remember nothing.
    func queue(for library: LibraryAPI, memory: SourceMemory?) throws -> SourceQueue {
        let sources = try sources()
        return SourceQueue(
            sources: sources,
            others: CoverSource.all(bases: try bases()).filter { one in !sources.contains { $0.name == one.name } },
            userAgent: library.configuration.userAgent, memory: memory,
            rates: SourceRates.open(for: library.configuration), retriesMissing: absences.retryMissing,
            notice: { Log.warning($0) }
        ) { url, key in
            do throws(CoverFailure) {
                let document = try await library.document(
                    at: url, maximumSize: SourceResponse.maximumSize,
                    authorization: key?.authorization)
                return SourceResponse(
                    status: document.status, retryAfter: document.retryAfter, body: document.body)
            } catch {
                throw SourceTransportError(error.detail)
            }
        }
    }

    // MARK: Addresses

    private struct BaseProblem: Error { var text, names: String }
    private static var services: [SourceName] { SourceService.all.map(\.name) }
    private static var names: String { (["tags"] + services.map(\.rawValue)).joined(separator: ",") }

    private func bases() throws -> [SourceName: String] { try Self.bases(replacedBy: sourceBase) }

    /// The addresses in the variable.
    /// - Throws: An exit code, after an error message, if it cannot be used.
    static func bases(replacedBy others: [String] = []) throws -> [SourceName: String] {
        let variable = Environment.value("SLEEVE_SOURCE_BASE").map { $0.split(separator: ",").map(String.init) } ?? []
        do throws(BaseProblem) {
            return try bases(variable).merging(bases(others)) { $1 }
        } catch {
            throw fail(
                "$SLEEVE_SOURCE_BASE: '\(error.text)': expected NAME=URL,NAME=URL without spaces; names are \(error.names)"
            )
        }
    }

    private static func bases(_ texts: [String]) throws(BaseProblem) -> [SourceName: String] {
        var bases: [SourceName: String] = [:]
        for text in texts {
            let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2, let name = services.first(where: { $0.rawValue == parts[0] }),
                ["http://", "https://"].contains(where: parts[1].hasPrefix),
                !parts[1].contains(where: { $0 == "?" || $0.isWhitespace })
            else {
                throw BaseProblem(text: text, names: services.map(\.rawValue).joined(separator: ", "))
            }
            bases[name] = parts[1]
        }
        return bases
    }
}

extension LibraryConfiguration {
    /// The path of what sources were asked for the library's albums.
    var sourceMemory: String { SourceMemory.path(in: AlbumStore.stateDirectory(of: libraryPath)) }
}

extension SourceMemory {
    /// The memory of a library, as `open` has it; nil if no source was ever asked: opening the memory would create it.
    static func existing(for configuration: LibraryConfiguration) -> SourceMemory? {
        guard configuration.libraryFile != nil,
            FileManager.default.fileExists(atPath: configuration.sourceMemory)
        else { return nil }
        return open(for: configuration)
    }

    /// Opens the memory of a library; nil, after a warning, if it cannot be used: the sources are asked without it.
    static func open(for configuration: LibraryConfiguration) -> SourceMemory? {
        guard configuration.libraryFile != nil else { return nil }
        do throws(SourceMemoryError) {
            return try SourceMemory(path: configuration.sourceMemory) { Log.warning($0) }
        } catch {
            Log.warning("\(error)")
            return nil
        }
    }
}

extension SourceRates {
    /// Opens the user's count of requests; where that cannot be written, such as in a sandbox, one for the library.
    static func open(for configuration: LibraryConfiguration) -> SourceRates? {
        if let path = Environment.requestsFile, let rates = try? SourceRates(path: path) { return rates }
        guard configuration.libraryFile != nil else { return nil }
        return try? SourceRates(
            path: AlbumStore.stateDirectory(of: configuration.libraryPath) + "/requests.sqlite3")
    }
}
