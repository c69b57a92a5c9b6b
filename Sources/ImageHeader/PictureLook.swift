/// What stands for a picture before it is there: its dominant colour, and a BlurHash.
package struct PictureLook: Sendable, Hashable {
    /// Red, green and blue, 8 bits each.
    package var color: UInt32
    /// Of 4 by 3 components: 28 characters.
    package var blurHash: String

    package init(color: UInt32, blurHash: String) { (self.color, self.blurHash) = (color, blurHash) }
}
