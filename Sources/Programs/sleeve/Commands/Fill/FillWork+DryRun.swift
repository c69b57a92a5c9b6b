import CommandSupport
import CoverLibrary
import CoverSources
import MusicFolder
import Platform

/// What a fill would do.
extension FillWork {
    func preview(_ planned: Planned) async throws {
        let (steps, idle) = try await steps(planned.plan)
        let tags = arguments.covers.embed ? try await embed(planned, run: nil) : nil
        try print(planned.plan, steps, idle: idle, tags, leftOut: planned.outcome.leftOut)
        let news = try state.news(planned.messages.known, of: planned.folders)
        planned.messages.print(isQuiet: arguments.options.quiet, news: news)
        if planned.missing > 0 || !news.isDisjoint(with: planned.messages.problems) { throw ExitStatus.someFailed }
    }

    /// - Returns: What would be done for each folder, and the number of albums for which nothing would be.
    private func steps(_ plan: FillPlan) async throws -> (steps: [FillPlanResult.Step], idle: Int) {
        let queue = try sources.queue(for: library, memory: .existing(for: library.configuration))
        let decisions = try state.decisions()
        var (found, asked, idle): ([FillPlanResult.Step], Set<SourceName>, Int) = ([], [], 0)
        for job in plan.jobs {
            let (names, known) = await queue.plan(job.query, decisions[job.album.id] ?? .init())
            asked.formUnion(names)
            var steps = job.ownURLs.prefix(1).map { "would download \($0)" }
            if job.embedded != nil, options.servicesBeforeTags != nil {
                steps.append("would take the picture in its tags")
            }
            if !names.isEmpty { steps.append("would ask \(names.map(\.rawValue).joined(separator: ", "))") }
            if let cover = known.certain { steps.append("would download \(cover.pictures[0]) (\(cover.source.title))") }
            let refused = known.areRefused ? ", you refused its covers" : ""
            let again = known.answers.isEmpty ? "" : " again yet\(refused); `sleeve why` tells what each answered"
            if steps.isEmpty { idle += 1 }
            if names.isEmpty, known.certain == nil { steps.append("would ask no source\(again)") }
            let text = Redaction.redact(steps.joined(separator: ", else "))
            let lacking = job.targets.map { target in
                let former = target.outdated == nil ? "would be replaced by a larger one" : OutdatedCover.reason
                return (target.folder, target.former == nil ? "no cover" : former)
            }
            for (folder, reason) in lacking + job.tagFolders.map({ ($0, "no cover in the tags") }) {
                found.append(
                    .init(
                        folder: "\(folder)", album: job.album.id, artist: job.album.artist, title: job.album.title,
                        reason: reason, plan: text))
            }
        }
        if arguments.options.json || arguments.options.quiet { return (found, idle) }
        for source in try sources.sources() where !asked.isEmpty {
            source.refusal(userAgent: library.configuration.userAgent).map { Log.info($0) }
        }
        return (found, idle)
    }

    private func print(
        _ plan: FillPlan, _ steps: [FillPlanResult.Step], idle: Int, _ tags: EmbedSummary?, leftOut: String
    ) throws {
        var result = FillPlanResult(
            albums: plan.jobs.count - idle, covered: plan.covered, blocked: plan.blocked.count, plan: steps)
        (result.embedded, result.embeddedBytes) = (tags?.embedded, tags?.bytes)
        var text = steps.map { step in
            let album = [step.artist, step.title].filter { !$0.isEmpty }.joined(separator: ", ")
            return "\(step.folder): \(step.reason); \(album): \(step.plan)".withoutControls + "\n"
        }.joined()
        text += "\(Decimals.count(result.albums, "album")) would be looked for; "
        if idle > 0 { text += "\(Decimals.grouped(idle)) not again yet; " }
        text += "\(Decimals.grouped(result.covered)) \(result.covered == 1 ? "has" : "have") a cover file"
        let blocked = "; \(Decimals.count(result.blocked, "folder")) cannot get one"
        text += (result.blocked == 0 ? ".\n" : blocked + ".\n") + leftOut
        if let tags {
            text += "\(Decimals.count(tags.embedded, "file")) would get a cover in the tags, and those of albums "
            text += "whose covers would be found.\n" + tags.otherFormatsText
        }
        try arguments.options.printResult(result, text: text)
    }
}
