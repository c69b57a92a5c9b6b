import Platform

/// Windows Media Audio (Advanced Systems Format specification, sections 2 to 4): the header's objects, then the data.
struct ASFFile: AudioContainer {
    static let headerObject = id("3026B2758E66CF11A6D900AA0062CE6C")
    private static let properties = id("A1DCAB8C47A9CF118EE400C00C205365")
    private static let descriptions = id("40A4D0D207E3D21197F000A0C95EA850")
    private static let headerExtension = id("B503BF5F2EA9CF118EE300C00C205365")
    private static let metadataLibrary = id("941C23449894D149A1411D134E457054")
    private static let name = utf16("WM/Picture\0")

    let audio: [Range<Int>]
    private let header: [UInt8]
    private let objects: [[UInt8]]

    init(_ file: AudioFile) throws {
        let length = try file.bytes(0..<30).little(16, 8)
        header = try file.bytes(0..<length)
        objects = try Self.objects(in: header, from: 30)
        audio = [length..<file.length]
    }

    func splices(_ change: PictureChange) throws -> [NewFile.Splice]? {
        var objects = objects
        var isChanged = false
        switch change {
        case .add(let cover):
            // Its type, its length, what it is, a description, the image.
            var value = [UInt8(EmbeddedPicture.frontCover)] + .little(cover.bytes.count, 4)
            value += Self.utf16(cover.mediaType + "\0\0") + cover.bytes
            let (nameLength, type) = ([UInt8].little(Self.name.count, 2), [UInt8].little(1, 2))
            // 16 bits have the length of a description.
            if value.count < 1 << 16 {
                let record = nameLength + Self.name + type + .little(value.count, 2) + value
                try Self.append(record, to: Self.descriptions, in: &objects)
            } else {
                let record = [0, 0, 0, 0] + nameLength + type + .little(value.count, 4) + Self.name + value
                try Self.changeExtension(of: &objects) { objects in
                    try Self.append(record, to: Self.metadataLibrary, in: &objects)
                }
            }
            isChanged = true
        case .remove(let growth, let isIt):
            isChanged = try Self.remove(from: Self.descriptions, in: &objects, isIt)
            if !isChanged {
                try Self.changeExtension(of: &objects) { objects in
                    isChanged = try Self.remove(from: Self.metadataLibrary, in: &objects, isIt)
                }
            }
            if isChanged {
                try Self.removeEmpty(&objects, growth - (self.objects.joined().count - objects.joined().count))
            }
        }
        if !isChanged { return nil }
        let content = objects.flatMap { $0 }
        let length = content.count + 30
        var new = header.prefix(16) + .little(length, 8) + .little(objects.count, 4) + header[28..<30] + content
        let properties = try Self.offset(of: Self.properties, in: new)
        // The length of the file, by which some players know where it ends. A stream has none.
        if let place = properties.map({ $0 + 40 }), let former = try? new.little(place, 8), former > 0 {
            new.put(.little(former + length - header.count, 8), at: place)
        }
        return [.init(0..<header.count, new)]
    }

    private static func id(_ digits: String) -> [UInt8] {
        let digits = Array(digits.utf8)
        return stride(from: 0, to: 32, by: 2).compactMap { Hexadecimal.byte(digits[$0..<$0 + 2]) }
    }

    private static func utf16(_ text: String) -> [UInt8] { text.utf16.flatMap { [UInt8].little(Int($0), 2) } }

    // MARK: Objects

    private static func objects(in bytes: [UInt8], from start: Int) throws -> [[UInt8]] {
        var (objects, offset): ([[UInt8]], Int) = ([], start)
        while offset < bytes.count {
            let length = try bytes.little(offset + 16, 8)
            guard length >= 24 else { throw EmbeddingProblem.damaged }
            objects.append(try bytes.bytes(at: offset, count: length))
            offset += length
        }
        return objects
    }

    private static func offset(of id: [UInt8], in header: [UInt8]) throws -> Int? {
        var offset = 30
        for object in try objects(in: header, from: 30) {
            if object.starts(with: id) { return object.count >= 48 ? offset : nil }
            offset += object.count
        }
        return nil
    }

    /// Appends a record to the object that lists such records. It is created if it is missing.
    private static func append(_ record: [UInt8], to id: [UInt8], in objects: inout [[UInt8]]) throws {
        let index = objects.firstIndex { $0.starts(with: id) } ?? objects.endIndex
        if index == objects.endIndex { objects.append(id + .little(26, 8) + [0, 0]) }
        objects[index] += record
        try update(&objects[index], by: 1)
    }

    /// Writes the length and the number of records of an object.
    private static func update(_ object: inout [UInt8], by difference: Int) throws {
        let count = try object.little(24, 2) + difference
        guard count < 1 << 16 else { throw EmbeddingProblem(reason: "has a tag that is full") }
        object.put(.little(object.count, 8) + .little(count, 2), at: 16)
    }

    private static func changeExtension(
        of objects: inout [[UInt8]], _ body: (inout [[UInt8]]) throws -> Void
    ) throws {
        let index = objects.firstIndex { $0.starts(with: headerExtension) } ?? objects.endIndex
        if index == objects.endIndex {
            objects.append(
                headerExtension + .little(46, 8) + id("11D2D3ABBAA9CF118EE600C00C205365") + [6, 0] + .zeros(4))
        }
        guard objects[index].count >= 46 else { throw EmbeddingProblem.damaged }
        var inner = try Self.objects(in: objects[index], from: 46)
        try body(&inner)
        let content = inner.flatMap { $0 }
        objects[index] =
            headerExtension + .little(content.count + 46, 8) + objects[index][24..<42] + .little(content.count, 4)
            + content
    }

    private static func remove(
        from id: [UInt8], in objects: inout [[UInt8]], _ isIt: ([UInt8]) -> Bool
    ) throws -> Bool {
        guard let index = objects.firstIndex(where: { $0.starts(with: id) }) else { return false }
        let object = objects[index]
        var offset = 26
        for _ in 0..<(try object.little(24, 2)) {
            // A name and a value, whose lengths precede both, or each one.
            let isLibrary = id == metadataLibrary
            let nameLength = try object.little(offset + (isLibrary ? 4 : 0), 2)
            let nameOffset = offset + (isLibrary ? 12 : 2)
            let valueOffset = nameOffset + nameLength + (isLibrary ? 0 : 4)
            let valueLength = try isLibrary ? object.little(offset + 8, 4) : object.little(valueOffset - 2, 2)
            let value = try object.bytes(at: valueOffset, count: valueLength)
            let end = valueOffset + valueLength
            if try object.bytes(at: nameOffset, count: nameLength) == name, image(in: value).map(isIt) ?? false {
                objects[index].removeSubrange(offset..<end)
                try update(&objects[index], by: -1)
                return true
            }
            offset = end
        }
        return false
    }

    /// Removes objects without records that were created for a picture.
    /// - Parameter growth: Bytes that the file had grown by besides the picture.
    private static func removeEmpty(_ objects: inout [[UInt8]], _ growth: Int) throws {
        guard growth >= 26 else { return }
        if objects.contains(where: { $0.starts(with: headerExtension) }) {
            try changeExtension(of: &objects) { $0.removeAll { $0.count == 26 && $0.starts(with: metadataLibrary) } }
        }
        objects.removeAll {
            $0.count == 26 && $0.starts(with: descriptions)
                || $0.count == 46 && growth >= 46 && $0.starts(with: headerExtension)
        }
    }

    /// The image of a value: a type, a length, two texts, the image.
    private static func image(in value: [UInt8]) -> [UInt8]? {
        guard let count = try? value.little(1, 4) else { return nil }
        return count <= value.count - 9 ? value.suffix(count) : nil
    }
}
