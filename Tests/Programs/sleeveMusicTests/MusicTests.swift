import SleeveStage
import Testing

/// Those with albums and folders of music, which measure none: one after the other, beside the others.
@Suite(.serialized, .timeLimit(.minutes(isThorough ? 120 : 10))) enum MusicTests {}
