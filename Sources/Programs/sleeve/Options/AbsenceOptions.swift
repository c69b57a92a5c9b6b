import ArgumentParser
import CoverLibrary

/// Whether it counts that a cover was not found lately.
struct AbsenceOptions: ParsableArguments {
    @Flag(help: "Ask again where no cover was found lately.")
    var retryMissing = false

    var cachePolicy: CoverRequest.CachePolicy { retryMissing ? .ignoreAbsence : .useCache }
}
