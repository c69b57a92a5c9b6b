/// Names a job of a `DownloadQueue`. No other job ever has the same name.
package struct JobID: Hashable, Sendable {
    /// Small and reused: an index into tables beside the queue.
    package var slot: Int
    package var use: Int

    package init(slot: Int, use: Int) {
        self.slot = slot
        self.use = use
    }
}
