import DequeModule

/// The jobs that wait for one host, the most urgent first. Jobs of one priority are in the order of their turns.
struct WaitingJobs {
    private var immediate: Deque<JobID> = []
    private var normal: Deque<JobID> = []
    private var background: Deque<JobID> = []

    var isEmpty: Bool { immediate.isEmpty && normal.isEmpty && background.isEmpty }
    var count: Int { immediate.count + normal.count + background.count }
    /// Someone waits for the first job.
    var hasImmediate: Bool { !immediate.isEmpty }

    mutating func append(_ id: JobID, _ priority: FetchPriority) { self[priority].append(id) }

    mutating func prepend(_ id: JobID, _ priority: FetchPriority) { self[priority].prepend(id) }

    mutating func popFirst() -> JobID? { immediate.popFirst() ?? normal.popFirst() ?? background.popFirst() }

    /// Returns whether the job was there.
    mutating func remove(_ id: JobID, _ priority: FetchPriority) -> Bool {
        guard let index = self[priority].firstIndex(of: id) else { return false }
        self[priority].remove(at: index)
        return true
    }

    /// The job at a position in the order of `popFirst`.
    subscript(position: Int) -> JobID {
        if position < immediate.count { return immediate[position] }
        let position = position - immediate.count
        return position < normal.count ? normal[position] : background[position - normal.count]
    }

    mutating func remove(at position: Int) -> JobID {
        if position < immediate.count { return immediate.remove(at: position) }
        let position = position - immediate.count
        return position < normal.count ? normal.remove(at: position) : background.remove(at: position - normal.count)
    }

    private subscript(priority: FetchPriority) -> Deque<JobID> {
        _read {
            switch priority {
            case .immediate: yield immediate
            case .normal: yield normal
            case .background: yield background
            }
        }
        _modify {
            switch priority {
            case .immediate: yield &immediate
            case .normal: yield &normal
            case .background: yield &background
            }
        }
    }
}
