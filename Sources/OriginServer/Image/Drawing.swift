/// An abstract album cover: a scene, a palette and a few numbers, all from one seed.
///
/// It is a function from a point to a colour; nothing is stored, so a cover of any size costs no memory to draw.
struct Drawing: Sendable {
    private let scene: Scene
    private let palette: Palette
    /// Eight numbers in 0..<1 that a scene uses as it likes.
    private let traits: [Float]
    private let seed: UInt64

    enum Scene: CaseIterable { case hills, rings, quilt, stripes, glyph, waves, record }

    init(seed: UInt64) {
        var random = SplitMix(seed: seed)
        self.seed = seed
        scene = Scene.allCases[random.below(Scene.allCases.count)]
        palette = Palette.all[random.below(Palette.all.count)]
        traits = (0..<8).map { _ in random.unit() }
    }

    /// The colour at a point; `x` runs rightwards and `y` downwards, both 0 to 1.
    func color(_ x: Float, _ y: Float) -> Color {
        switch scene {
        case .hills: hills(x, y)
        case .rings: rings(x, y)
        case .quilt: quilt(x, y)
        case .stripes: stripes(x, y)
        case .glyph: glyph(x, y)
        case .waves: waves(x, y)
        case .record: record(x, y)
        }
    }

    /// A sun over layers of hills, each darker than the one behind.
    private func hills(_ x: Float, _ y: Float) -> Color {
        for layer in (0..<4).reversed() {
            let depth = Float(3 - layer)
            let crest =
                0.92 - depth * 0.13
                + 0.05 * wave(x * (0.7 + traits[layer]) + traits[layer + 2])
                + 0.02 * wave(x * (2.3 + 2 * traits[layer + 1]) + traits[layer])
            if y > crest {
                return palette[0].mixed(palette[3], depth * 0.24).mixed(.black, (y - crest) * 0.35)
            }
        }
        let sky = palette[3].mixed(palette[4], y * 1.4 - 0.2)
        let distance = length(x - 0.2 - 0.6 * traits[0], y - 0.2 - 0.2 * traits[1])
        let radius = 0.09 + 0.09 * traits[2]
        if distance < radius { return palette[2].mixed(.white, 0.25) }
        return sky.mixed(palette[2], max(0, 0.55 - (distance - radius) * 2.2))
    }

    /// Rings round a point, on a ground that fades.
    private func rings(_ x: Float, _ y: Float) -> Color {
        let distance = length(x - 0.3 - 0.4 * traits[0], y - 0.3 - 0.4 * traits[1])
        let step = distance * (5 + 6 * traits[2])
        let ring = Int(step)
        if ring > 4 + Int(traits[3] * 4) { return palette[0].mixed(palette[1], y) }
        return palette[ring + Int(traits[4] * 5)].mixed(.black, (step - Float(ring)) * 0.18)
    }

    /// A quilt of quarter circles, triangles and dots.
    private func quilt(_ x: Float, _ y: Float) -> Color {
        let side = Float(3 + Int(traits[0] * 4))
        let column = Int(x * side)
        let row = Int(y * side)
        var random = SplitMix(seed: seed &+ UInt64(column * 31 + row * 977))
        let shape = random.below(5)
        let ground = palette[random.below(5)]
        let figure = palette[random.below(5)]
        var across = x * side - Float(column)
        var down = y * side - Float(row)
        if random.below(2) == 0 { across = 1 - across }
        if random.below(2) == 0 { down = 1 - down }
        let inside =
            switch shape {
            case 0: length(across, down) < 1
            case 1: across + down < 1
            case 2: length(across - 0.5, down - 0.5) < 0.36
            case 3: across < 0.5
            default: length(across, down) < 0.66
            }
        return inside ? figure : ground
    }

    /// Slanted stripes; inside a disc they run the other way.
    private func stripes(_ x: Float, _ y: Float) -> Color {
        let inside = length(x - 0.5, y - 0.5) < 0.26 + 0.12 * traits[0]
        let slant = (traits[1] - 0.5) * 2
        let along = inside ? y + x * slant : x - y * slant
        let band = Int((along + 2) * (6 + 8 * traits[2]))
        let color = palette[band * (1 + Int(traits[3] * 3))]
        return inside ? color.mixed(.white, 0.15) : color.mixed(palette[0], 0.35 + 0.3 * y)
    }

    /// A letter-like sign of squares, the same left and right, with a shadow.
    private func glyph(_ x: Float, _ y: Float) -> Color {
        let ground = palette[3].mixed(palette[4], (x + y) * 0.5)
        if isInked(x, y) { return palette[0].mixed(palette[1], y) }
        return isInked(x - 0.02, y - 0.02) ? ground.mixed(.black, 0.28) : ground
    }

    private func isInked(_ x: Float, _ y: Float) -> Bool {
        let column = ((x - 0.16) / 0.68 * 7).rounded(.down)
        let row = ((y - 0.16) / 0.68 * 7).rounded(.down)
        guard column >= 0, column < 7, row >= 0, row < 7 else { return false }
        let mirrored = Int(min(column, 6 - column))
        return SplitMix.scramble(seed &+ UInt64(mirrored * 7 + Int(row))) & 3 < 2
    }

    /// Bands of waves, one in front of the other.
    private func waves(_ x: Float, _ y: Float) -> Color {
        let count = 9
        for band in stride(from: count, through: 1, by: -1) {
            let share = Float(band) / Float(count + 1)
            let crest =
                share + 0.05 * wave(x * (1 + traits[band % 8]) + traits[(band + 3) % 8])
                + 0.015 * wave(x * 5 + Float(band) * 0.37)
            if y > crest {
                let tone = share * 4
                let index = Int(tone)
                return palette[4 - index].mixed(palette[max(0, 3 - index)], tone - Float(index))
                    .mixed(.white, max(0, 0.3 - (y - crest) * 9))
            }
        }
        return palette[4].mixed(.white, 0.3)
    }

    /// A record half out of its sleeve.
    private func record(_ x: Float, _ y: Float) -> Color {
        let ground = palette[2 + Int(traits[0] * 2)].mixed(palette[4], y)
        let distance = length(x - 0.35 - 0.3 * traits[1], y - 0.5)
        if distance < 0.012 { return ground }
        if distance < 0.13 { return palette[4].mixed(palette[2], distance * 4) }
        guard distance < 0.4 else { return ground.mixed(.black, max(0, 0.25 - (distance - 0.4) * 5)) }
        let groove = wave(distance * (40 + 20 * traits[2])) * 0.06
        let glare = max(0, wave((x - 0.5) * (y - 0.5) * 3 + traits[3])) * 0.3
        return palette[0].mixed(.black, 0.45 + groove).mixed(.white, glare * distance * 1.6)
    }
}

/// The distance of a point from the origin.
private func length(_ x: Float, _ y: Float) -> Float { (x * x + y * y).squareRoot() }

/// A wave of period 1 between -1 and 1: two parabolas, near enough to a sine and the same on every machine.
private func wave(_ turns: Float) -> Float {
    let phase = turns - turns.rounded(.down)
    return phase < 0.5 ? 16 * phase * (0.5 - phase) : -16 * (phase - 0.5) * (1 - phase)
}
