import Testing

@testable import CoverCache

@Suite struct EntryAnnotationTests {
    @Test(
        "an annotation is read back from its line, in the words of the format",
        arguments: [
            (.triedAt(17), "tried at: 17\n"), (.status(404), "answered status: 404\n"),
            (.responseDelay(250), "response delay: 250\n"), (.invalidSince(9), "invalid since: 9\n"),
            (.requestField(name: "accept", value: "image/*; q=1"), "asked accept: image/*; q=1\n"),
        ] as [(EntryAnnotation, String)])
    func lines(annotation: EntryAnnotation, line: String) {
        #expect(annotation.line == line)
        #expect(EntryAnnotation.all(in: "etag: \"a b: c\"\n" + line + "vary: accept\n") == [annotation])
    }

    @Test(
        "lines of fields, unknown names and malformed numbers are no annotations, but an invalid response stays invalid"
    )
    func others() {
        #expect(EntryAnnotation.all(in: "a: b c\nno colon\nnew thing: 1\ntried at: soon\nanswered status: \n").isEmpty)
        #expect(EntryAnnotation.all(in: "invalid since: once\n") == [.invalidSince(0)])
    }

    @Test("an annotation replaces the one of the same name and leaves the fields")
    func annotating() {
        var metadata = EntryMetadata(key: url(1), mediaType: "image/jpeg", storedAt: 0, fields: "etag: \"a\"\n")
        metadata.annotate(.triedAt(1))
        metadata.annotate(.invalidSince(2))
        metadata.annotate(.triedAt(3))
        #expect(metadata.fields == "etag: \"a\"\ninvalid since: 2\ntried at: 3\n")
    }

    @Test("only keys of covers begin with a URL's scheme")
    func keys() {
        #expect(EntryKey.isCover(EntryKey.cover(url: url(1)).text))
        #expect(!EntryKey.isCover(EntryKey.response(slot: 3, url: url(1)).text))
        #expect(EntryKey.response(slot: 3, url: url(1)).text == "response 3 of \(url(1))")
    }
}
