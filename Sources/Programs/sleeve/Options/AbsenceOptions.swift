import ArgumentParser
import CoverLibrary

/// Whether remembered 404 and 410 responses count.
struct AbsenceOptions: ParsableArguments {
    @Flag(help: "Ask servers again that recently answered 404 or 410.")
    var retryAbsent = false

    var cachePolicy: CoverRequest.CachePolicy { retryAbsent ? .ignoreAbsence : .useCache }
}
