import Platform

/// BlurHash: a picture's lowest frequencies in a few characters (github.com/woltapp/blurhash, Algorithm.md).
///
/// One character for the number of components, one for the largest of them, four for the average colour, and two for each other component.
/// A component is the average, in linear light, of the picture times a cosine in each direction.
enum BlurHash {
    private static let (columns, rows) = (4, 3)
    private static let digits = Array(
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~".utf8)

    /// The linear light of each of 256 values of sRGB (IEC 61966-2-1).
    private static let linear = (0..<256).map { value in
        let share = Double(value) / 255
        return share <= 0.04045 ? share / 12.92 : pow((share + 0.055) / 1.055, 2.4)
    }

    static func encoded(_ picture: Thumbnail) -> String {
        var components = components(of: picture)
        let average = components.removeFirst()
        let largest = components.map { max(abs($0.x), abs($0.y), abs($0.z)) }.max() ?? 0
        let step = max(0, min(82, Int((largest * 166 - 0.5).rounded(.down))))
        let scale = Double(step + 1) / 166
        var text: [UInt8] = []
        append((columns - 1) + (rows - 1) * 9, 1, to: &text)
        append(step, 1, to: &text)
        append(encoded(average.x) << 16 | encoded(average.y) << 8 | encoded(average.z), 4, to: &text)
        for component in components {
            let (red, green, blue) = (component.x / scale, component.y / scale, component.z / scale)
            append((quantized(red) * 19 + quantized(green)) * 19 + quantized(blue), 2, to: &text)
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// In the order of rows. First along each row of the picture, then over the rows.
    private static func components(of picture: Thumbnail) -> [SIMD3<Double>] {
        func cosines(_ count: Int, _ length: Int) -> [[Double]] {
            (0..<count).map { component in
                let step = Double.pi * Double(component) / Double(length)
                return (0..<length).map { cos(step * Double($0)) }
            }
        }
        let (across, down) = (cosines(columns, picture.width), cosines(rows, picture.height))
        var components = [SIMD3<Double>](repeating: .zero, count: columns * rows)
        for y in 0..<picture.height {
            var sums = [SIMD3<Double>](repeating: .zero, count: columns)
            for x in 0..<picture.width {
                let pixel = picture.pixels[y * picture.width + x]
                let light = SIMD3(linear[Int(pixel.x)], linear[Int(pixel.y)], linear[Int(pixel.z)])
                for column in 0..<columns { sums[column] += light * across[column][x] }
            }
            for row in 0..<rows {
                for column in 0..<columns { components[row * columns + column] += sums[column] * down[row][y] }
            }
        }
        let count = Double(picture.width * picture.height)
        for index in components.indices { components[index] *= (index == 0 ? 1 : 2) / count }
        return components
    }

    /// A value of sRGB, 0 to 255.
    private static func encoded(_ light: Double) -> Int {
        let light = max(0, min(1, light))
        let share = light <= 0.0031308 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055
        return Int(share * 255 + 0.5)
    }

    /// 0 to 18, by the square root: small values need finer steps.
    private static func quantized(_ value: Double) -> Int {
        let root = abs(value).squareRoot() * (value < 0 ? -1 : 1)
        return max(0, min(18, Int((root * 9 + 9.5).rounded(.down))))
    }

    private static func append(_ number: Int, _ count: Int, to text: inout [UInt8]) {
        var divisor = (1..<count).reduce(1) { power, _ in power * 83 }
        for _ in 0..<count {
            text.append(digits[number / divisor % 83])
            divisor /= 83
        }
    }
}
