/// The order of the requests to one host. None exceeds a limit.
package enum FetchPriority: Sendable {
    /// Of a run.
    case normal
    /// Before all others, and before other hosts' turns: someone waits for the cover.
    case immediate
}
