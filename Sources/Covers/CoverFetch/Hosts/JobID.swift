/// Names a job of a `DownloadQueue`. No other job ever has the same name.
struct JobID: Hashable, Sendable {
    /// Small and reused: an index into tables beside the queue.
    var slot: Int
    var use: Int
}
