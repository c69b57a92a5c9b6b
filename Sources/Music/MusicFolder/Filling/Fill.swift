import AlbumLibrary
package import CoverLibrary
import CoverSizes
package import CoverSources
import ImageHeader
import Platform

/// Finds, downloads and writes the covers of albums: one prefetch for all of them, to which a search adds what it finds. `FillRun` decides
/// what is done for each.
package struct Fill: Sendable {
    let library: LibraryAPI
    let queue: SourceQueue
    let sources: Set<SourceName>
    let writer: CoverWriter
    let options: FillOptions
    private let tags: TagPictures
    private let scratch: BytePath
    let pictures: RepeatedPictures
    let likenesses: Likenesses

    /// - Parameters:
    ///   - sources: The names of the queue's sources.
    ///   - scratch: A folder of this process, for pictures that are not in the cache.
    ///   - pictures: Those of earlier fills.
    ///   - likenesses: What is known of pictures. It is given what the fill reads.
    package init(
        _ library: LibraryAPI, asking queue: SourceQueue, _ sources: Set<SourceName>, writer: CoverWriter,
        tags: TagPictures, scratch: BytePath, options: FillOptions, pictures: RepeatedPictures = .init(),
        likenesses: Likenesses = .init()
    ) {
        (self.library, self.queue, self.sources) = (library, queue, sources)
        (self.writer, self.tags, self.scratch, self.options) = (writer, tags, scratch, options)
        (self.pictures, self.likenesses) = (pictures, likenesses)
    }

    /// Runs to the end, or until its task is cancelled; covers that were written stay.
    /// - Parameters:
    ///   - onEvent: Called for each file and each album without one.
    ///   - progress: Called with the counts after each of them.
    /// - Throws: `LibraryError`.
    package func run(
        _ jobs: [FillJob], onEvent: @escaping @Sendable (FillEvent) -> Void = { _ in },
        progress: @escaping @Sendable (FillSummary) -> Void = { _ in }
    ) async throws -> FillSummary {
        try await noteCovers()
        if jobs.isEmpty { return FillSummary() }
        let decisions = try await writer.decisions()
        let (requests, feed) = AsyncStream<CoverRequest>.makeStream()
        let (lookups, work) = AsyncStream<FillRun.Lookup>.makeStream()
        let (messages, inbox) = AsyncStream<FillRun.Message>.makeStream()
        let outcomes = library.prefetch(requests)
        var run = FillRun(self, jobs, decisions, feed, work, onEvent, progress)
        await withTaskGroup { group in
            group.addTask {
                do throws(LibraryError) {
                    for try await outcome in outcomes { inbox.yield(.outcome(outcome)) }
                    inbox.yield(.ended(nil))
                } catch {
                    inbox.yield(.ended(error))
                }
                inbox.finish()
            }
            group.addTask {
                await withDiscardingTaskGroup { tasks in
                    for await lookup in lookups {
                        tasks.addTask { if let message = await answer(lookup) { inbox.yield(message) } }
                    }
                    tasks.cancelAll()
                }
            }
            await run.start()
            for await message in messages { await run.take(message) }
            work.finish()
            group.cancelAll()
        }
        run.summary.stopReason = outcomes.progress.stopReason
        run.summary.isCancelled = !run.unfinished.isEmpty
        try await noteCovers()
        try await forget(run.takenBack)
        if let problem = run.problem { throw problem }
        return run.summary
    }

    private func answer(_ lookup: FillRun.Lookup) async -> FillRun.Message? {
        switch lookup {
        case .search(let number, let query, let decisions, let skipped):
            (try? await queue.find(query, decisions, skipping: skipped)).map { .found(number, $0) }
        case .tags(let number, let picture, let folders):
            .tags(number, await tags.file(of: picture, in: folders))
        case .comparison(let number, let covers, let picture, let folders):
            .compared(number, await comparison(covers, picture, in: folders))
        }
    }

    /// Downloads what is compared. What cannot be had is left out. - Returns: Nil if the picture in the tags cannot be read.
    private func comparison(
        _ covers: [SourceCandidate], _ picture: Digest, in folders: [BytePath]
    ) async -> CoverComparison? {
        guard let tags = await tags.likeness(of: picture, in: folders, likenesses) else { return nil }
        let shown = await withTaskGroup { group in
            for (index, cover) in covers.enumerated() {
                group.addTask { (index, await preview(of: cover)) }
            }
            var found: [(index: Int, CoverComparison.Shown)] = []
            for await (index, one) in group { if let one { found.append((index, one)) } }
            return found.sorted { $0.index < $1.index }.map(\.1)
        }
        return CoverComparison(shown: shown, tags: tags)
    }

    private func preview(of cover: SourceCandidate) async -> CoverComparison.Shown? {
        let urls = cover.previews.isEmpty ? cover.pictures : cover.previews
        var album = Album(title: "", coverURL: urls.first)
        album.alternateCoverURLs = Array(urls.dropFirst())
        var request = CoverRequest(album: album)
        request.priority = .normal
        guard let preview = try? await library.cover(for: request), let digest = Digest(preview.digest) else {
            return nil
        }
        let likeness = likenesses.likeness(of: digest) { preview.data.withUnsafeBytes { Likeness($0) } }
        return likeness.map { .init(cover: cover, digest: digest, likeness: $0) }
    }

    // MARK: One album

    func steps(of job: FillJob, _ decisions: Decisions) async -> FillSteps {
        // In place of an accepted cover no other one is written, but where nothing was ever seen at an address that the person gave.
        let acceptance = decisions.acceptance?.picture
        let isCovered = job.kept.count == job.folders.count
        if options.writesAcceptedOnly || acceptance.map({ !$0.isAddress || isCovered }) == true {
            var steps = FillSteps(for: job.query, decisions)
            steps.reject(
                "the cover that you accepted is not on its server any more; `sleeve fill allow` takes that back")
            return steps
        }
        var filled: [String] = []
        if let address = job.filled, await isCertain(address, for: job.query, decisions) { filled = [address.url] }
        var steps = FillSteps(
            for: job.query, decisions, filled: filled,
            servicesBeforeTags: job.embedded == nil ? nil : options.servicesBeforeTags, hasPicture: job.embedded != nil,
            isLastResort: job.embedded?.isLastResort == true, sources: job.whyUnsearchable == nil ? sources : [])
        steps.reject(job.whyUnsearchable)
        if let url = job.album.coverURL, job.filled == nil,
            decisions.ruling(on: PictureName(.picture, job.query, urls: [url])) == .refused
        {
            steps.reject(SourceCandidate.refusal)
        }
        return steps
    }

    /// Whether the cover that an earlier fill gave the album is its cover by today's facts, as far as is remembered.
    private func isCertain(_ address: FilledAddress, for query: AlbumQuery, _ decisions: Decisions) async -> Bool {
        // An acceptance that was taken back is no judgement.
        let ruling = decisions.ruling(on: PictureName(.picture, query, urls: [address.url]))
        let isSame = address.facts.hasFacts(of: query) && address.facts.hasNamesake == query.hasNamesake
        if isSame, ruling != .allowed { return true }
        return await queue.cover(at: address.url, for: query, decisions)?.certainty == .certain
    }

    /// Writes a picture, smaller if that is wanted.
    func write(_ picture: FillPicture, to target: FillJob.Target, of job: FillJob) async -> CoverWriter.Result {
        var (picture, path) = (picture, "\(picture.path)")
        var smaller: BytePath?
        defer { smaller?.withCString { _ = unlink($0) } }
        if let side = options.longestSide, let bytes = FileManager.default.contents(atPath: path) {
            if let small = Cover.resized(bytes, longestSide: side) {
                picture.digest = Digest(of: small)
                picture.path = scratch.appending(Array("small-\(picture.digest)".utf8))
                (smaller, path) = (picture.path, "\(picture.path)")
                guard FileManager.default.createFile(atPath: path, contents: Data(small)) else {
                    return .failed(
                        folder: target.folder, reason: "the smaller picture cannot be written into \(scratch)")
                }
            } else if let header = bytes.withUnsafeBytes({ ImageHeader($0) }), let size = header.size,
                max(size.width, size.height) > side
            {
                let type = header.mediaType.split(separator: "/").last.map { $0.uppercased() } ?? ""
                return .failed(folder: target.folder, reason: "its cover is \(type), which Sleeve makes no smaller")
            }
        }
        return await writer.write(
            picture, to: target, of: job.album.id, titles: job.titles,
            foundAt: picture.offer == nil || picture.giver == .address ? nil : picture.url,
            facts: picture.origin == .tags ? nil : job.query,
            keepsFormer: target.former.map { access(library.coverFile($0.digest), R_OK) != 0 } ?? false)
    }

    // MARK: The library

    /// Gives albums of the library without a URL those at which sources had their covers, of this fill and of one that was killed, or the files
    /// that were written from their tags: the gallery shows them. An address of an earlier fill gives way to a new one, and stays if the new
    /// cover is of the tags.
    func noteCovers() async throws {
        let (urls, files, filled) = try await writer.unnotedCovers()
        if urls.isEmpty, files.isEmpty { return }
        let decisions = try await writer.decisions()
        try await edit { album in
            // What a person has accepted since is the album's cover in place of an address that was given before.
            let isAccepted = urls[album.id].map { decisions[album.id]?.acceptance?.picture.urls.contains($0) == true }
            guard
                album.coverURL?.isEmpty != false || filled[album.id]?.isAddress(of: album) == true || isAccepted == true
            else { return }
            if let url = urls[album.id] {
                album.coverURL = url
            } else if let file = files[album.id],
                album.coverFilePath.map({ BytePath(bytes: $0).parent == file.folder }) ?? true
            {
                album.coverFilePath = file.path.bytes
            }
        }
        try await writer.didNoteCovers()
    }

    /// Takes URLs away from albums to which this run gave them.
    private func forget(_ takenBack: [Album.ID: [String]]) async throws {
        if takenBack.isEmpty { return }
        try await edit { album in
            if let url = album.coverURL, takenBack[album.id]?.contains(url) == true { album.coverURL = nil }
        }
        try await writer.forgetTakenBack()
    }

    private func edit(_ change: (inout Album) -> Void) async throws {
        let edits = try await library.albums.all().compactMap { former -> (former: Album, album: Album)? in
            var album = former
            change(&album)
            return album == former ? nil : (former, album)
        }
        if !edits.isEmpty { try await library.albums.edit(edits, run: "fill \(writer.run)") }
    }
}
