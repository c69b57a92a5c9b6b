/// A client's position in the library: the chosen album and the scroll position.
public struct LibraryMemento: Codable, Hashable, Sendable {
    /// The chosen album's id; `nil` if none was chosen.
    public var album: String?
    /// The chosen album's index in the library, from 0.
    public var index: Int
    /// The scroll position in covers: 3.5 is half-way between the fourth and the fifth.
    public var position: Double
    /// The client's own name for the sort order.
    public var order: String
    /// The client's own name for its view of the albums; `nil` for its usual one.
    public var view: String?
    /// The size at which that view shows a cover, in pixels; `nil` for its usual size.
    public var tileSize: Int?
    /// Ids of the albums around the chosen one, the nearest first. One of them replaces it after its deletion.
    var neighbours: [String] = []

    /// Creates a memento of a client's position.
    public init(album: String?, index: Int, position: Double, order: String = "library") {
        self.album = album
        self.index = index
        self.position = position
        self.order = order
    }

    /// The number of neighbours stored on either side.
    private static let reach = 8

    /// The memento with the neighbours of its album in `albums`.
    func addingNeighbours(in albums: [Album]) -> LibraryMemento {
        var memento = self
        // A client may send any index.
        memento.index = albums.firstIndex { $0.id == album } ?? min(max(index, 0), max(albums.count - 1, 0))
        // If the album is missing, the one at its index is a neighbour.
        let centre = memento.index
        let indices = [centre] + (1...Self.reach).flatMap { [centre + $0, centre - $0] }
        memento.neighbours = indices.filter(albums.indices.contains).map { albums[$0].id }.filter { $0 != album }
        return memento
    }

    /// The same position in `albums`: at the album, else at its nearest remaining neighbour, else at its index, else at the
    /// last album. The distance of the scroll position to the album stays.
    public func restored(in albums: [Album]) -> LibraryMemento {
        var memento = self
        if albums.isEmpty {
            (memento.album, memento.index, memento.position) = (nil, 0, 0)
            return memento
        }
        let indices = Dictionary(albums.enumerated().map { ($1.id, $0) }, uniquingKeysWith: { first, _ in first })
        let found = ([album].compactMap(\.self) + neighbours).lazy.compactMap { indices[$0] }.first
        memento.index = found ?? min(max(index, 0), albums.count - 1)
        memento.album = albums[memento.index].id
        let distance = position.isFinite ? position - Double(index) : 0
        memento.position = min(max(Double(memento.index) + distance, 0), Double(albums.count - 1))
        return memento
    }
}
