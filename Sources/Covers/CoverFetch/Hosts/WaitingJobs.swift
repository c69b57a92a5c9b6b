import DequeModule

/// The jobs that wait for one host: first those that someone waits for, then those of runs, each in the order of their turns.
struct WaitingJobs {
    private var immediate: Deque<JobID> = []
    private var normal: Deque<JobID> = []

    var isEmpty: Bool { immediate.isEmpty && normal.isEmpty }
    var count: Int { immediate.count + normal.count }
    /// Someone waits for the first job.
    var hasImmediate: Bool { !immediate.isEmpty }

    mutating func append(_ id: JobID, _ priority: FetchPriority) { self[priority].append(id) }

    mutating func prepend(_ id: JobID, _ priority: FetchPriority) { self[priority].prepend(id) }

    mutating func popFirst() -> JobID? { immediate.popFirst() ?? normal.popFirst() }

    /// Returns whether the job was there.
    mutating func remove(_ id: JobID, _ priority: FetchPriority) -> Bool {
        guard let index = self[priority].firstIndex(of: id) else { return false }
        self[priority].remove(at: index)
        return true
    }

    /// The job at a position among those of runs.
    subscript(position: Int) -> JobID { normal[position] }

    /// Removes the job at a position among those of runs.
    mutating func remove(at position: Int) -> JobID { normal.remove(at: position) }

    private subscript(priority: FetchPriority) -> Deque<JobID> {
        _read {
            switch priority {
            case .immediate: yield immediate
            case .normal: yield normal
            }
        }
        _modify {
            switch priority {
            case .immediate: yield &immediate
            case .normal: yield &normal
            }
        }
    }
}
