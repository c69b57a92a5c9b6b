import CoverFetch
import Logging

/// Covers that may be another's, at the end of a run.
extension CoverPipeline {
    /// Says which hosts sent answers that nobody asked for, and what became of the covers.
    func warnOfSuspects() {
        for (host, count) in recheck.takeCounts().sorted(by: { $0.key < $1.key }) {
            let covers = "\(count) cover\(count == 1 ? "" : "s") that came over the same connections"
            let consequence = isClosed ? "what was stored of that is removed" : "requested again"
            configuration.logger.warning(
                "\(host) has sent answers that nobody asked for; \(covers) may have been another's: \(consequence)",
                metadata: ["host": "\(host)"], source: CoverFailure.logSource)
        }
    }

    /// Has a run count what its covers are, after those that may be another's were downloaded again.
    func settle(_ run: Run) async {
        guard let scheduler = startedScheduler else { return }
        await withTaskCancellationHandler {
            var isFound = true
            while isFound {
                isFound = await scheduler.lookForUnaskedAnswers()
                if Task.isCancelled { cancelAsks(of: recheck) }
                for correction in await recheck.corrections() { run.correct(correction.former, correction.outcome) }
            }
        } onCancel: {
            cancelAsks(of: recheck)
        }
        warnOfSuspects()
    }
}
