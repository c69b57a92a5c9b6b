import Testing

@testable import Platform

@Suite(.timeLimit(.minutes(10))) struct RedactionTests {
    @Test(arguments: [
        ("https://a/1.jpg?token=abc&size=1", "https://a/1.jpg?token=[hidden]&size=1"),
        ("https://a/1.jpg?size=1&Access_Token=a.b-c", "https://a/1.jpg?size=1&Access_Token=[hidden]"),
        ("https://a/1?api_key=k: the server answered 404", "https://a/1?api_key=[hidden]: the server answered 404"),
        (
            "answered 403 (redirected to https://b/2?X-Amz-Signature=0f&x=1#sig=z)",
            "answered 403 (redirected to https://b/2?X-Amz-Signature=[hidden]&x=1#sig=[hidden])"
        ),
        ("https://u:pw@a/1 and http://v@b:8080/", "https://[hidden]@a/1 and http://[hidden]@b:8080/"),
        ("\"https://a/?key=1\" x=2", "\"https://a/?key=[hidden]\" x=2"),
        ("https://a/1.jpg?sig=&refresh-token=r", "https://a/1.jpg?sig=&refresh-token=[hidden]"),
        ("https://a/1.jpg;jsessionid=0F.n1", "https://a/1.jpg;jsessionid=[hidden]"),
        ("https://a/1?%74oken=abc&%73ig=d", "https://a/1?%74oken=[hidden]&%73ig=[hidden]"),
        ("https://a/1?token=a%26b%3Dc&size=1", "https://a/1?token=[hidden]&size=1"),
        (
            "https://a/1?u=https%3A%2F%2Fb%2F%3Fx%3D1%26token%3Dabc%26y%3D2&z=3",
            "https://a/1?u=https%3A%2F%2Fb%2F%3Fx%3D1%26token%3D[hidden]%26y%3D2&z=3"
        ),
        (
            "https://a/proxy/https%3a%2f%2fb%2f%3fsig%3dabc%2526d",
            "https://a/proxy/https%3a%2f%2fb%2f%3fsig%3d[hidden]"
        ),
        ("https://a/?u=x%3Ftoken%3Dabc%26y%3D1&z=3", "https://a/?u=x%3Ftoken%3D[hidden]%26y%3D1&z=3"),
        ("https://a/?u=http%3A%2F%2Fme%3Apw%40b%2F1&x=1", "https://a/?u=http%3A%2F%2F[hidden]%40b%2F1&x=1"),
        ("http://a%40b:pw@c/ http://d", "http://[hidden]@c/ http://d"),
        (
            "https://a/rest?u=me&t=26719a1196d2a940&s=c19b2d&v=1.16.1&c=app",
            "https://a/rest?u=me&t=[hidden]&s=[hidden]&v=1.16.1&c=app"
        ),
        ("https://a/rest?p=enc:736573616d65&size=300", "https://a/rest?p=[hidden]&size=300"),
        (
            "https://a/1?X-Plex-Token=x&oauth_consumer_key=y&appKey=z&code=c",
            "https://a/1?X-Plex-Token=[hidden]&oauth_consumer_key=[hidden]&appKey=[hidden]&code=[hidden]"
        ),
        ("https://a/1?x=AKIAIOSFODNN7EXAMPLE12&y=1", "https://a/1?x=[hidden]&y=1"),
        ("https://a/1?x=q83v7dLlZ%2BbA19Zk0q%2FPd%3D%3D&y=1", "https://a/1?x=[hidden]&y=1"),
        ("http://me:p/w#d@a.example:1/x", "http://[hidden]@a.example:1/x"),
        ("http:\\\\me:pw@a/ x", "http:\\\\[hidden]@a/ x"),
        ("Unsupported proxy syntax in 'me:pw@a b:1'", "Unsupported proxy syntax in '[hidden]@a b:1'"),
    ])
    func `credentials are redacted wherever they stand, and nothing else`(text: String, expected: String) {
        #expect(Redaction.redact(text) == expected)
    }

    @Test(arguments: [
        "https://a/1.jpg?size=500&id=7", "https://a/token=1/2.jpg", "token=abc", "a@b.example",
        "https://a/@me/1.jpg",
        "", "?", "https://a/?&&=;#", "https://a/1?monkey=1&designer=2", "100 %", "%", "%2", "%25", "%zz=1",
        "a%3Dtoken",
        "https://a/?u=https%3A%2F%2Fb%2F%40me&x=a%40b", "https://a/100%25?a=b", "?%3D", "://", ":///@",
        "https://a/1.jpg?s=300&p=2&t=1", "https://a/?id=76df3287-6cda-33eb-8e9a-044b5e15ffdd",
        "https://a/?file=front-cover-500x500.jpg&v=20240131", "http://[::1]:8080/@me/1.jpg",
        "https://a/?title=The+Dark+Side+of+the+Moon", "http://a.example:8080/@me", "covers.txt:12: a@b",
        "https://a:1/x:y@z",
    ])
    func `text without credentials stays as it is`(text: String) { #expect(Redaction.redact(text) == text) }

    @Test(arguments: [
        "?a=b", "?token=", "?a=)", "?s=1:,.", "&x=AKIAIOSFODNN7EXAMPLE", "http://a:b/", "://", " a:b", "%20a:b", "(",
        "@", "%25", "%3Fa%3D",
        "?a%2525", ";a=b c@d://e:f/",
    ])
    func `the time grows with the length of the text, whatever a server sends`(part: String) {
        // It took a quarter of a minute for 24 KB.
        let text = "https://a.example/" + String(repeating: part, count: 300_000 / part.utf8.count)
        #expect(Redaction.redact(text + "?token=hush&a=b").hasSuffix("&a=b") || part.contains("token"))
        #expect(!Redaction.redact(text + "?token=hush").contains("hush"))
    }

    @Test func `a long text keeps its beginning and its end`() {
        #expect("abcdef".shortened(to: 6) == "abcdef")
        #expect("abcdefghi".shortened(to: 6) == "abcd…hi")
        let long = String(repeating: "é", count: 10_000).shortened(to: 100)
        #expect(long.utf8.count < 120 && long.hasPrefix("é") && long.hasSuffix("é"))
    }
}
