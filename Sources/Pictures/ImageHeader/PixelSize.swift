/// The width and the height of a picture, in pixels.
///
/// Headers, tags, rows and other programs claim any numbers. What is no plausible side is no size, so a product of two sides, or of a side
/// and a small factor, cannot overflow.
package struct PixelSize: Equatable, Sendable {
    /// The longest side: that of JPEG and GIF. No cover is so large.
    package static let maximumSide = 65_535

    package let width: Int
    package let height: Int

    /// Returns nil unless both sides are known and 1 to `maximumSide`.
    package init?(_ width: Int?, _ height: Int?) {
        guard let width, let height, (1...Self.maximumSide).contains(width), (1...Self.maximumSide).contains(height)
        else { return nil }
        (self.width, self.height) = (width, height)
    }

    package var pixelCount: Int { width * height }
}
