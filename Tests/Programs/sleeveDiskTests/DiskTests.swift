import SleeveStage
import Testing

/// The tests that end processes at each operation on a file. They are half of all of the time and measure none, so their suites run beside
/// each other and beside the others.
@Suite(.timeLimit(.minutes(isThorough ? 120 : 10))) enum DiskTests {}
