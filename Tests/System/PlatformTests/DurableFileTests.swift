import Foundation
import Testing

@testable import Platform

@Suite struct DurableFileTests {
    @Test func `a file that is open is synced, and a descriptor that is not is an error`() throws {
        try withFolder { folder in
            let descriptor = open(folder + "/file", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
            try #require(descriptor >= 0)
            #expect(DurableFile.sync(descriptor))
            close(descriptor)
            #expect(!DurableFile.sync(-1) && errno == EBADF)
        }
    }

    @Test func `a directory is synced, and one that is missing is an error that names it`() throws {
        try withFolder { folder in
            try DurableFile.sync(directory: folder)
            let error = #expect(throws: SystemError.self) { try DurableFile.sync(directory: folder + "/none") }
            #expect(error.map { "\($0)".contains(folder + "/none") } == true)
        }
    }
}
