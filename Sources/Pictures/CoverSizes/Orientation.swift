import CPictures
import Platform

/// Where the first row and the first column of the stored pixels belong (CIPA DC-008 section 4.6.5.1, tag 274).
enum Orientation: Int {
    case upright = 1
    case mirrored, upsideDown, flipped, transposed, right, transversed, left

    /// Columns are rows of the stored pixels.
    private var swapsSides: Bool { rawValue > 4 }
    /// The shown picture's columns run from the right of the stored pixels, before the sides are swapped.
    private var isReversed: (columns: Bool, rows: Bool) {
        switch self {
        case .upright, .transposed: (false, false)
        case .mirrored: (true, false)
        case .upsideDown, .transversed: (true, true)
        case .flipped: (false, true)
        case .right: (false, true)
        case .left: (true, false)
        }
    }

    /// Turns a picture as it is shown. - Returns: false if there is no memory.
    func turn(_ picture: inout sleeve_picture) -> Bool {
        if self == .upright { return true }
        let (width, height) = (Int(picture.width), Int(picture.height))
        let length = width * height * MemoryLayout<UInt32>.size
        guard let memory = malloc(length) else { return false }
        let source = UnsafeRawPointer(picture.pixels!).assumingMemoryBound(to: UInt32.self)
        let turned = memory.bindMemory(to: UInt32.self, capacity: width * height)
        var place = 0
        for row in 0..<(swapsSides ? width : height) {
            for column in 0..<(swapsSides ? height : width) {
                var (x, y) = swapsSides ? (row, column) : (column, row)
                if isReversed.columns { x = width - 1 - x }
                if isReversed.rows { y = height - 1 - y }
                turned[place] = source[y * width + x]
                place += 1
            }
        }
        free(picture.pixels)
        picture.pixels = memory.assumingMemoryBound(to: UInt8.self)
        if swapsSides { swap(&picture.width, &picture.height) }
        return true
    }
}
