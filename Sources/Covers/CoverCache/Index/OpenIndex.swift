import SQLite

/// The index as a writer has opened it, with what reads and changes its rows.
struct OpenIndex: ~Copyable {
    let connection: Connection
    /// The inodes of its file, and of the memory that its connections share.
    let number, memoryNumber: UInt64
    let table: IndexTable
    let pins: PinTable
    let hints: HintTable
    let replacements: ReplacementTable

    /// Opens the index, and creates what is missing. One that is corrupt is set aside. Call it with the writer's lock held.
    init(_ directory: CacheDirectory) throws {
        connection = try directory.usingReserve {
            do {
                return try IndexFile.openForWriting(directory)
            } catch let error as SQLiteError where error.isCorruption {
                try IndexFile.setAside(directory)
                return try IndexFile.openForWriting(directory)
            }
        }
        (number, memoryNumber) = (directory.indexNumber, directory.memoryNumber)
        (table, pins, hints) = (IndexTable(connection), PinTable(connection), HintTable(connection))
        replacements = ReplacementTable(connection)
    }
}
