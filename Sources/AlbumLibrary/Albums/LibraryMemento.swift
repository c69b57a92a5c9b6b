/// Where a client was in the library: which album was chosen and how far its covers were scrolled.
public struct LibraryMemento: Codable, Hashable, Sendable {
    /// The chosen album's id; `nil` when none was.
    public var album: String?
    /// Its place in the library, from 0.
    public var index: Int
    /// The scroller's position, in covers: 3.5 is half-way between the fourth and the fifth.
    public var position: Double
    /// The client's own name for the order it shows the albums in.
    public var order: String
    /// Ids of the albums around the chosen one, the nearest first: one of them is chosen where it has gone.
    var neighbours: [String] = []

    /// A client's place.
    public init(album: String?, index: Int, position: Double, order: String = "library") {
        self.album = album
        self.index = index
        self.position = position
        self.order = order
    }

    /// How many neighbours are remembered to either side.
    private static let reach = 8

    /// The same, with what is needed to find a sensible album should this one go.
    package func knowingNeighbours(in albums: [Album]) -> LibraryMemento {
        var memento = self
        // Clients may say anything.
        memento.index = albums.firstIndex { $0.id == album } ?? min(max(index, 0), max(albums.count - 1, 0))
        // An album that is not there has given its place to another.
        let centre = memento.index
        let places = [centre] + (1...Self.reach).flatMap { [centre + $0, centre - $0] }
        memento.neighbours = places.filter(albums.indices.contains).map { albums[$0].id }.filter { $0 != album }
        return memento
    }

    /// The same place in `albums`: the album itself wherever it is now, else the nearest of those that stood around it,
    /// else what stands at its place, else the last. The scroller keeps its distance to the album.
    public func restored(in albums: [Album]) -> LibraryMemento {
        var memento = self
        if albums.isEmpty {
            (memento.album, memento.index, memento.position) = (nil, 0, 0)
            return memento
        }
        let places = Dictionary(albums.enumerated().map { ($1.id, $0) }, uniquingKeysWith: { first, _ in first })
        let found = ([album].compactMap(\.self) + neighbours).lazy.compactMap { places[$0] }.first
        memento.index = found ?? min(max(index, 0), albums.count - 1)
        memento.album = albums[memento.index].id
        let distance = position.isFinite ? position - Double(index) : 0
        memento.position = min(max(Double(memento.index) + distance, 0), Double(albums.count - 1))
        return memento
    }
}
