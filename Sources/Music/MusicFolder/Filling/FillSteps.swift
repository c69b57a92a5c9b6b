import CoverSources

/// Decides what is tried next for one album: the cover that a person has accepted, then the sources in their order, each until it has a certain
/// cover that can be downloaded.
struct FillSteps: Sendable {
    enum Step: Sendable, Hashable {
        /// Download the first of these that is there.
        case download([String], SourceCandidate?)
        /// Take the picture that all songs have in their tags.
        case tags
        /// Compare the pictures of doubtful covers with the one in the tags.
        case compare([SourceCandidate])
        /// Ask the sources other than these.
        case search(skipping: Set<SourceName>)
        case end(FillEvent.End)
    }

    private let query: AlbumQuery
    /// What a person has said about the album's pictures.
    let decisions: Decisions
    private let sources: Set<SourceName>
    private var filled: [String]
    /// The services that are asked before the tags are looked at; nil when those are done with.
    private var servicesBeforeTags: Set<SourceName>?
    private var candidates: [SourceCandidate] = []
    private(set) var doubtful: [SourceCandidate] = []
    /// Whether the songs have a picture in their tags, with which others are compared.
    private let hasPicture: Bool
    /// Whether that is no cover as long as a service may have one.
    private let isLastResort: Bool
    private var isCompared = false
    private var asked: Set<SourceName> = []
    /// The sources that could say what they have.
    private(set) var answered: Set<SourceName> = []
    /// Whether the cover that is tried is a certain one of a source.
    private var isTrying = false
    /// Whether a certain cover is not had now: then there is nothing to review.
    private var isHeld = false
    /// Why something could not be asked or downloaded, apart from its absence.
    private var failure: String?
    private var rejection: String?
    private static let refusal =
        "you refused its covers: `sleeve fill review --refused` lists them, `sleeve fill allow` lets them be written again"

    /// - Parameters:
    ///   - query: The album.
    ///   - decisions: What a person has said about the album's pictures.
    ///   - filled: Those of an earlier fill whose match is certain.
    ///   - servicesBeforeTags: The services that are asked before the tags are looked at; nil if these have no picture.
    ///   - isLastResort: Whether the picture in the tags is taken only if no service has a certain cover.
    ///   - sources: All services that may be asked.
    init(
        for query: AlbumQuery, _ decisions: Decisions = .init(), filled: [String] = [],
        servicesBeforeTags: Set<SourceName>? = nil, hasPicture: Bool = false, isLastResort: Bool = false,
        sources: Set<SourceName> = []
    ) {
        self.decisions = decisions
        candidates = decisions.acceptance.map { [SourceCandidate($0)] } ?? []
        (self.query, self.filled, self.hasPicture) = (query, filled, hasPicture)
        self.servicesBeforeTags = servicesBeforeTags.map { isLastResort ? sources : $0.intersection(sources) }
        (self.sources, self.isLastResort) = (sources, isLastResort)
    }

    mutating func next() -> Step {
        isTrying = false
        if !candidates.isEmpty {
            let candidate = candidates.removeFirst()
            // In place of one that may never have been there, others are as good.
            isTrying = !candidate.name.isAddress
            return .download(candidate.pictures, candidate)
        }
        if asked.isSuperset(of: open), !isCompared {
            isCompared = true
            let covers = doubtful.filter { $0.mayBeProved(for: query) }.prefix(CoverComparison.maximumCount)
            if hasPicture, !covers.isEmpty { return .compare(Array(covers)) }
        }
        if let servicesBeforeTags, asked.isSuperset(of: servicesBeforeTags) {
            self.servicesBeforeTags = nil
            if !isLastResort || failure == nil { return .tags }
        }
        if !filled.isEmpty {
            defer { filled = [] }
            isTrying = true
            return .download(filled, nil)
        }
        if !asked.isSuperset(of: open) { return .search(skipping: asked.union(sources.subtracting(open))) }
        doubtful = doubtful.ordered(query)
        if !isHeld, !doubtful.isEmpty { return .end(.doubtful(doubtful)) }
        if let failure { return .end(.failed(failure)) }
        return .end(.missing(rejection ?? "none of the sources has its cover"))
    }

    /// The services that are asked now.
    private var open: Set<SourceName> { servicesBeforeTags ?? sources }

    /// What a search has found. Sources after one that has a certain cover were not asked.
    mutating func add(_ findings: SourceFindings) {
        candidates += findings.candidates.filter { $0.certainty == .certain }
        doubtful += findings.candidates.filter { $0.certainty == .doubtful }
        if findings.areRefused { rejection = rejection ?? Self.refusal }
        isCompared = false
        asked.formUnion(findings.askedSources)
        answered.formUnion(findings.answers.filter { $0.lifetime != nil }.map(\.source))
        // A search that asks nothing must not be repeated for ever.
        if findings.answers.isEmpty { asked.formUnion(open) }
        if let answer = findings.answers.last(where: { $0.kind == .failed || $0.kind == .throttled }) {
            failure = "\(answer.source.title): \(answer.detail)"
        }
    }

    /// What a comparison has shown of doubtful covers.
    mutating func add(compared covers: [SourceCandidate]) {
        candidates += covers.filter { $0.certainty == .certain }
        doubtful =
            covers.filter { $0.certainty == .doubtful }
            + doubtful.filter { cover in !covers.contains { $0.identity == cover.identity } }
    }

    /// A cover that was certain may be another album's.
    mutating func doubt(_ candidate: SourceCandidate) { doubtful.append(candidate) }

    /// A picture was found that is not taken. - Parameter reason: A clause, if it is to be told should nothing else be found.
    mutating func reject(_ reason: String?) { rejection = reason ?? rejection }

    /// The cover that was tried is not taken in this place, or with these options.
    mutating func hold(_ reason: String) { (rejection, isHeld) = (reason, isHeld || isTrying) }

    /// A download has failed.
    /// - Parameter isAbsent: The server says that there is no such cover.
    mutating func didFail(_ reason: String, isAbsent: Bool) {
        if !isAbsent { (failure, isHeld) = (reason, isHeld || isTrying) }
    }
}
