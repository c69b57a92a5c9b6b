import Foundation

/// A strict reader of baseline JPEGs: it takes every marker and every Huffman code for what the file says, and fails on
/// anything a decoder would have to forgive. Of the pixels it makes only `middleRows`.
struct JPEGReader {
    enum Failure: Error { case structure(String), code, end }

    private(set) var width = 0
    private(set) var height = 0
    private(set) var comments: [String] = []
    /// The quantisation tables by number, in zigzag order.
    private(set) var quantisers: [Int: [UInt8]] = [:]
    /// The mean of the luma DC levels.
    private(set) var meanLuma = 0.0
    /// The luma, from 0 to 255, of the fourth row of pixels of each row of blocks.
    private(set) var middleRows: [[Double]] = []
    private var tables: [UInt8: [UInt32: UInt8]] = [:]
    private var components: [(id: UInt8, quantiser: Int)] = []

    init(_ bytes: [UInt8]) throws {
        guard bytes.starts(with: [0xFF, 0xD8, 0xFF, 0xE0]) else { throw Failure.structure("SOI, APP0") }
        var place = 2
        while true {
            guard place + 4 <= bytes.count, bytes[place] == 0xFF else { throw Failure.structure("marker at \(place)") }
            let marker = bytes[place + 1]
            let length = Int(bytes[place + 2]) << 8 | Int(bytes[place + 3])
            let next = place + 2 + length
            guard length >= 2, next <= bytes.count else { throw Failure.structure("length at \(place)") }
            let body = Array(bytes[(place + 4)..<next])
            place = next
            switch marker {
            case 0xE0: guard body.starts(with: Array("JFIF\0".utf8)) else { throw Failure.structure("JFIF") }
            case 0xFE: comments.append(String(decoding: body, as: UTF8.self))
            case 0xDB: try readQuantiser(body)
            case 0xC4: try readTable(body)
            case 0xC0: try readFrame(body)
            case 0xDA:
                try readScan(bytes[place...], header: body)
                return
            default: throw Failure.structure("marker \(marker)")
            }
        }
    }

    private mutating func readQuantiser(_ body: [UInt8]) throws {
        guard body.count == 65, !body.dropFirst().contains(0) else { throw Failure.structure("DQT") }
        quantisers[Int(body[0])] = Array(body.dropFirst())
    }

    private mutating func readTable(_ body: [UInt8]) throws {
        let counts = body[1..<17].map { Int($0) }
        guard body.count == 17 + counts.reduce(0, +) else { throw Failure.structure("DHT") }
        var table: [UInt32: UInt8] = [:]
        var code: UInt32 = 0
        var symbols = body[17...]
        for (index, count) in counts.enumerated() {
            for symbol in symbols.prefix(count) {
                // A one in front keeps 01 and 001 apart.
                table[code | 1 << UInt32(index + 1)] = symbol
                code += 1
            }
            guard code <= 1 << UInt32(index + 1) else { throw Failure.structure("too many codes") }
            symbols = symbols.dropFirst(count)
            code <<= 1
        }
        tables[body[0]] = table
    }

    private mutating func readFrame(_ body: [UInt8]) throws {
        height = Int(body[1]) << 8 | Int(body[2])
        width = Int(body[3]) << 8 | Int(body[4])
        guard body.count == 15, body[0] == 8, body[5] == 3 else { throw Failure.structure("SOF0") }
        components = (0..<3).map { (id: body[6 + $0 * 3], quantiser: Int(body[8 + $0 * 3])) }
        guard components.allSatisfy({ quantisers[$0.quantiser] != nil }) else { throw Failure.structure("no table") }
    }

    private mutating func readScan(_ bytes: ArraySlice<UInt8>, header: [UInt8]) throws {
        var bits = Bits(bytes: bytes)
        let blocks = ((width + 7) / 8) * ((height + 7) / 8)
        var dc = [0, 0, 0]
        var sum = 0
        for block in 0..<blocks {
            if block % ((width + 7) / 8) == 0 { middleRows.append([]) }
            for component in 0..<3 {
                let quantiser = quantisers[components[component].quantiser] ?? []
                var row = MiddleRow()
                let choice = header[2 + component * 2]
                guard let dcTable = tables[choice >> 4], let acTable = tables[0x10 | choice & 15] else {
                    throw Failure.structure("SOS")
                }
                dc[component] += try bits.value(Int(try bits.symbol(dcTable)))
                guard (-1024...1023).contains(dc[component]) else { throw Failure.structure("DC \(dc[component])") }
                row.add(dc[component] * Int(quantiser[0]), at: 0)
                var place = 1
                while place < 64 {
                    let symbol = Int(try bits.symbol(acTable))
                    if symbol == 0 { break }
                    place += symbol >> 4 + 1
                    guard place <= 64 else { throw Failure.structure("a block of more than 64") }
                    guard symbol & 15 > 0 else { continue }
                    let level = try bits.value(symbol & 15)
                    row.add(level * Int(quantiser[place - 1]), at: place - 1)
                }
                if component == 0 { middleRows[middleRows.count - 1] += row.pixels }
            }
            sum += dc[0]
        }
        meanLuma = Double(sum) / Double(blocks)
        guard bits.rest.elementsEqual([0xFF, 0xD9]) else { throw Failure.structure("no EOI behind the last block") }
    }
}

/// The fourth row of pixels of a block, by the inverse DCT (T.81, A.3.3).
private struct MiddleRow {
    private var columns = [Double](repeating: 0, count: 8)

    /// Adds the coefficient with this number in the scan.
    mutating func add(_ coefficient: Int, at number: Int) {
        let (v, u) = zigzag[number].quotientAndRemainder(dividingBy: 8)
        columns[u] += Double(coefficient) * waves[v * 8 + 3]
    }

    var pixels: [Double] {
        (0..<8).map { x in
            var sum = 128.0
            for u in 0..<8 { sum += columns[u] * waves[u * 8 + x] }
            return sum
        }
    }
}

/// The basis of the DCT: eight pixels for each frequency.
private let waves = (0..<64).map { index in
    let (frequency, place) = (Double(index / 8), Double(index % 8))
    return (frequency == 0 ? 0.5.squareRoot() : 1) / 2 * cos((2 * place + 1) * frequency * .pi / 16)
}

/// Where the coefficients of a scan lie in a block, row by row (T.81, figure A.6).
private let zigzag = [
    0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5,
    12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7, 14, 21, 28,
    35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
    58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
]

/// The scan bit by bit, without its stuffing.
private struct Bits {
    var rest: ArraySlice<UInt8>
    private var byte: UInt8 = 0
    private var left = 0

    init(bytes: ArraySlice<UInt8>) { rest = bytes }

    mutating func next() throws -> UInt32 {
        if left == 0 {
            guard let first = rest.popFirst() else { throw JPEGReader.Failure.end }
            if first == 0xFF, rest.popFirst() != 0 { throw JPEGReader.Failure.structure("a marker in the scan") }
            byte = first
            left = 8
        }
        left -= 1
        return UInt32(byte >> UInt8(left) & 1)
    }

    mutating func symbol(_ table: [UInt32: UInt8]) throws -> UInt8 {
        var code: UInt32 = 1
        for _ in 0..<16 {
            code = code << 1 | (try next())
            if let symbol = table[code] { return symbol }
        }
        throw JPEGReader.Failure.code
    }

    mutating func value(_ size: Int) throws -> Int {
        guard size > 0 else { return 0 }
        var value = 0
        for _ in 0..<size { value = value << 1 | Int(try next()) }
        return value < 1 << (size - 1) ? value - (1 << size) + 1 : value
    }
}
