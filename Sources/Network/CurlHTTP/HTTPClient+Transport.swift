/// Requests that something else than libcurl sends.
extension HTTPClient {
    /// Sends a request and returns its response.
    package typealias Transport = @Sendable (TransferRequest) async -> Result<TransferResponse, TransferError>

    /// The requests that a transport sends.
    struct TransportTasks {
        private var tasks: [Transfer.ID: Task<Void, Never>] = [:]
        private var lastID: Transfer.ID = 0
        private var isClosed = false

        /// Returns nil after `close`.
        mutating func add(_ makeTask: (Transfer.ID) -> Task<Void, Never>) -> Token? {
            if isClosed { return nil }
            lastID += 1
            tasks[lastID] = makeTask(lastID)
            return Token(transfer: lastID)
        }

        /// Returns nil if the request was cancelled.
        mutating func remove(_ id: Transfer.ID) -> Task<Void, Never>? { tasks.removeValue(forKey: id) }

        mutating func close() {
            isClosed = true
            for task in tasks.values { task.cancel() }
            tasks = [:]
        }
    }

    func start(
        _ request: TransferRequest, through transport: @escaping Transport, completion: @escaping Transfer.Completion
    ) -> Token? {
        transportTasks.add { id in
            Task {
                let result = await transport(request)
                if transportTasks.remove(id) != nil { completion(result) }
            }
        }
    }
}
