/// Why a tier could not be used, with a sentence that holds no secret and ends without a full stop.
package enum TierError: Error, Sendable, Hashable, CustomStringConvertible {
    /// No answer in time, or an error that says nothing about the request: a few of them close the gate (`TierGate`).
    case unreachable(String)
    /// This user may not, there is no such bucket, or a clock is wrong: trying again is of no use.
    case refused(String)
    /// What is stored is not the whole cover of its URL. The next download replaces it.
    case damaged(String)
    /// The disk, the quota or the bucket is full.
    case full(String)
    /// The cover is not one that this storage can hold.
    case unsuitable(String)
    /// Another version of Sleeve has made the tier, or it is none.
    case otherVersion(String)

    package var description: String {
        switch self {
        case .unreachable(let reason), .refused(let reason), .damaged(let reason), .full(let reason),
            .unsuitable(let reason), .otherVersion(let reason):
            reason
        }
    }
}
