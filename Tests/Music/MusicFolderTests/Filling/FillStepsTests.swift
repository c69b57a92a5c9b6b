@testable import CoverSources
import Platform
import Testing

@testable import MusicFolder

@Suite struct FillStepsTests {
    private let query = AlbumQuery(artist: "A", title: "B")

    private func candidate(_ source: SourceName, _ certainty: Match.Certainty, _ url: String) -> SourceCandidate {
        SourceCandidate(
            source: source, album: AlbumQuery(artist: "A", title: "B"), pictures: [url],
            match: Match(certainty, "because"))
    }

    private func findings(
        _ candidates: [SourceCandidate], _ answers: [(SourceName, SourceAnswer.Kind)]
    ) -> SourceFindings {
        var findings = SourceFindings()
        findings.candidates = candidates
        findings.answers = answers.map { SourceAnswer($0, $1, url: "https://s.example/", time: 0, detail: "why") }
        return findings
    }

    /// A person, or a list, gave it to the album.
    private var given: Decisions {
        Decisions([Decision(.accepted, PictureName(.picture, query, urls: ["https://a.example/1"]), of: "1")])
    }

    @Test func `an address that was given comes before all sources`() {
        var steps = FillSteps(for: query, given, sources: [.itunes])
        #expect(steps.next() == .download(["https://a.example/1"], SourceCandidate(given.current[0])))
        #expect(steps.next() == .search(skipping: []))
    }

    @Test func `the accepted cover needs no source, and no refused one is tried`() {
        let covers = ["1", "2"].map { candidate(.deezer, .certain, "https://a.example/\($0)") }
        let decisions = Decisions(zip([.accepted, .refused], covers).map { Decision($0, $1.name, of: "1") })
        var steps = FillSteps(for: query, decisions, sources: [])
        #expect(steps.next() == .download(covers[0].pictures, covers[0].judged(.accepted)))
        #expect(steps.next() == .end(.missing("none of the sources has its cover")))
    }

    @Test func `when a certain cover cannot be downloaded the sources that were not asked are`() {
        var steps = FillSteps(for: query, sources: [.itunes, .deezer])
        #expect(steps.next() == .search(skipping: []))
        let found = candidate(.itunes, .certain, "https://i.example/1")
        steps.add(findings([found], [(.itunes, .found)]))
        #expect(steps.next() == .download(["https://i.example/1"], found))
        steps.didFail("i.example: 404", isAbsent: true)
        #expect(steps.next() == .search(skipping: [.itunes]))
        steps.add(findings([], [(.deezer, .notFound)]))
        #expect(steps.next() == .end(.missing("none of the sources has its cover")))
    }

    @Test(arguments: [SourceAnswer.Kind.notFound, .failed])
    func `a wide picture in the tags is taken after all services, and while none of them failed`(
        kind: SourceAnswer.Kind
    ) {
        var steps = FillSteps(
            for: query, servicesBeforeTags: [], hasPicture: true, isLastResort: true, sources: [.itunes])
        #expect(steps.next() == .search(skipping: []))
        steps.add(findings([], [(.itunes, kind)]))
        #expect(steps.next() == (kind == .failed ? .end(.failed("iTunes: why")) : .tags))
    }

    @Test(
        arguments: [(500, 500, false), (499, 600, true), (1_200, 800, true), (nil, nil, false)] as [(Int?, Int?, Bool)])
    func `a picture in the tags that is small or wide is the last resort`(_ width: Int?, _ height: Int?, _ isLast: Bool)
    {
        let picture = EmbeddedPicture(
            type: 3, mediaType: "image/jpeg", width: width, height: height, byteCount: 9, digest: Digest(of: [1]))
        #expect(picture.isLastResort == isLast)
    }

    @Test func `doubtful covers are not downloaded, and the end after all sources`() {
        var steps = FillSteps(for: query, sources: [.itunes, .deezer])
        #expect(steps.next() == .search(skipping: []))
        let found = candidate(.itunes, .doubtful, "https://i.example/1")
        steps.add(findings([found], [(.itunes, .found), (.deezer, .notFound)]))
        #expect(steps.next() == .end(.doubtful([found])))
    }

    /// An album that failed is looked for again by the next fill; one that is missing is not for weeks.
    @Test(arguments: [SourceAnswer.Kind.failed, .throttled])
    func `an album is not missing while a source could not be asked`(kind: SourceAnswer.Kind) {
        var steps = FillSteps(for: query, sources: [.itunes])
        _ = steps.next()
        steps.add(findings([], [(.itunes, kind)]))
        #expect(steps.next() == .end(.failed("iTunes: why")))
    }

    @Test func `a download that fails for another reason than absence is a failure`() {
        var steps = FillSteps(for: query, given)
        _ = steps.next()
        steps.didFail("a.example: timed out", isAbsent: false)
        #expect(steps.next() == .end(.failed("a.example: timed out")))
    }

    /// The next fill writes it, or a person has said what keeps it away: there is nothing to review.
    @Test(arguments: [true, false])
    func `beside a certain cover that is not had now, doubtful ones are not the end`(isHeld: Bool) {
        var steps = FillSteps(for: query, sources: [.itunes, .deezer])
        _ = steps.next()
        steps.add(findings([candidate(.itunes, .certain, "https://i.example/1")], [(.itunes, .found)]))
        _ = steps.next()
        if isHeld { steps.hold("small") } else { steps.didFail("timed out", isAbsent: false) }
        #expect(steps.next() == .search(skipping: [.itunes]))
        steps.add(findings([candidate(.deezer, .doubtful, "https://d.example/1")], [(.deezer, .found)]))
        #expect(steps.next() == .end(isHeld ? .missing("small") : .failed("timed out")))
    }

    @Test func `a search that asks nothing is not repeated`() {
        var steps = FillSteps(for: query, sources: [.caa])
        #expect(steps.next() == .search(skipping: []))
        steps.add(SourceFindings())
        #expect(steps.next() == .end(.missing("none of the sources has its cover")))
    }

    @Test func `covers that a person has refused are the reason, unless there is another`() {
        var steps = FillSteps(for: query, sources: [.itunes, .deezer])
        var found = findings([], [(.itunes, .found)])
        found.areRefused = true
        steps.add(found)
        steps.add(findings([], [(.deezer, .notFound)]))
        guard case .end(.missing(let reason)) = steps.next() else {
            Issue.record("no end")
            return
        }
        #expect(reason.contains("you refused its covers") && reason.contains("`sleeve fill allow`"))
    }

    /// A fill finds them in the order of asking, its memory in that of their names.
    @Test(arguments: [false, true])
    func `doubtful covers have one order, in whichever they were found`(isReversed: Bool) {
        func doubtful(_ source: SourceName, _ score: Int) -> SourceCandidate {
            candidate(source, .none, "https://\(source)").judged(Match(.doubtful, "because", score: score))
        }
        let others = [SourceName(rawValue: "a former one"), .caa].map { doubtful($0, 1) }
        let covers = [doubtful(.deezer, 9), doubtful(.itunes, 5), doubtful(.deezer, 5)] + others
        var steps = FillSteps(for: query, sources: [.deezer])
        steps.add(findings(isReversed ? covers.reversed() : covers, [(.deezer, .found)]))
        #expect(steps.next() == .end(.doubtful(covers)))
        #expect(covers.reversed().ordered(query) == covers)
        let repeated = doubtful(.deezer, 9).judged(.repeated)
        #expect([repeated, doubtful(.itunes, 5)].ordered().last == repeated)
    }

    @Test func `the tags are looked at before the services, or after those that a person wants first`() {
        var steps = FillSteps(
            for: query, given, servicesBeforeTags: [], sources: [.itunes])
        #expect(steps.next() == .download(["https://a.example/1"], SourceCandidate(given.current[0])))
        #expect(steps.next() == .tags)
        #expect(steps.next() == .search(skipping: []))
        steps = FillSteps(
            for: query, servicesBeforeTags: [.caa], sources: [.caa, .itunes])
        #expect(steps.next() == .search(skipping: [.itunes]))
        steps.add(findings([], [(.caa, .notFound)]))
        #expect(steps.next() == .tags)
        #expect(steps.next() == .search(skipping: [.caa]))
    }

    @Test func `the address of an earlier fill comes after the tags, and a rejection is the reason at the end`() {
        var steps = FillSteps(
            for: query, filled: ["https://f.example/1"], servicesBeforeTags: [], sources: [])
        #expect(steps.next() == .tags)
        #expect(steps.next() == .download(["https://f.example/1"], nil))
        steps.reject("too small")
        #expect(steps.next() == .end(.missing("too small")))
    }

    @Test
    func `doubtful covers are compared with the tags once, when all that are asked have answered`() {
        func doubtful(_ source: SourceName) -> SourceCandidate {
            candidate(source, .none, "https://\(source)").judged(.judge(query, query))
        }
        let (one, two) = (doubtful(.itunes), doubtful(.deezer))
        var steps = FillSteps(
            for: query, hasPicture: true, sources: [.itunes, .deezer])
        steps.add(findings([one], [(.itunes, .found)]))
        #expect(steps.next() == .search(skipping: [.itunes]))
        steps.add(findings([two], [(.deezer, .found)]))
        #expect(steps.next() == .compare([one, two]))
        let proved = two.judged(Match(.certain, "because"))
        steps.add(compared: [proved])
        #expect(steps.next() == .download(["https://deezer"], proved))
        #expect(steps.next() == .end(.doubtful([one])))
        // The picture in the tags is taken afterwards.
        for hasPicture in [true, false] {
            steps = FillSteps(
                for: query, servicesBeforeTags: [.itunes], hasPicture: hasPicture, sources: [.itunes])
            steps.add(findings([one], [(.itunes, .found)]))
            #expect(steps.next() == (hasPicture ? .compare([one]) : .tags))
            #expect(steps.next() == (hasPicture ? .tags : .end(.doubtful([one]))))
        }
    }
}
