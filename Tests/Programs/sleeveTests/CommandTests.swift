import SleeveStage
import Testing

/// The tests of the command. They run one after the other: they start processes, and some measure how long one takes to end.
@Suite(.serialized, .timeLimit(.minutes(isThorough ? 120 : 10))) enum CommandTests {}

/// Those of what a cache holds and loses; the others run beside them.
@Suite(.serialized, .timeLimit(.minutes(isThorough ? 120 : 10))) enum CacheCommandTests {}
