import Testing

@testable import CoverMirror

@Suite struct PathDepthTests {
    @Test(arguments: [
        "/../x", "/%2e%2e/x", "/.%2E/x", "/..%2fx", "/%2F%2E%2E/x", "/..\\x", "/..%5cx", "/..;/x", "/..;a=b/x",
        "/%2e%2e;/x",
        "/./../x", "/a/../../x", "/a//../../x", "/a/%2e%2e/%2E%2e/x", "/a%2fb/../../x", "/a/..%2f..%2fx", "/..",
        "/a/../..",
        "/%2e%2e%2fx", "/.;/..", "/a/.%2f../../x",
    ])
    func `a path that some server takes out of its folder is recognized`(target: String) {
        #expect(!PathDepth.staysInside(target))
    }

    @Test(arguments: [
        "/", "/x", "/.", "/a/..", "/a/../x", "//host/x", "/...", "/..x", "/x..", "/a/b/../../x", "/%252e%252e/x",
        "/a%2Fb/x",
        "/x?u=../../y", "/x#../..", "/a;b/c", "/%", "/%2", "/a/%2e/x", "/https%3A%2F%2Fa%2F..%2Fb",
    ])
    func `a path that no server takes out of its folder is allowed, and what is encoded twice stays text`(
        target: String
    ) {
        #expect(PathDepth.staysInside(target))
    }
}
