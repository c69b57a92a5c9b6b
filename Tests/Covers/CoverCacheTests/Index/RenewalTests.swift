import Platform
import Testing

@testable import CoverCache

@Suite struct RenewalTests {
    private func renewal(_ number: Int, _ folder: CacheFolder) throws -> Renewal {
        let entry = try #require(try folder.reader().entry(for: url(number)))
        return Renewal(entry, validatedAt: 300, freshUntil: 400, fields: "a: b\n")
    }

    @Test func `a renewal changes the times and the fields, and takes no space`() throws {
        try withFolder { folder in
            try folder.written { writer in
                try writer.fill(1...2)
                let charged = try writer.totals().chargedBytes
                #expect(try writer.renew([try renewal(1, folder)]) == [true])
                let entry = try #require(try folder.reader().entry(for: url(1)))
                #expect(
                    entry.validatedAt == 300 && entry.metadata.freshUntil == 400 && entry.metadata.fields == "a: b\n")
                #expect(entry.metadata.storedAt == 1_700_000_000_000 && entry.digest == Digest(of: picture(1)))
                #expect(try folder.reader().entry(for: url(2))?.validatedAt == 1_700_000_000_000)
                #expect(try writer.totals().chargedBytes == charged)
            }
            try folder.expect(pictures(1...2))
        }
    }

    @Test(arguments: [true, false])
    func `a confirmation of bytes that are damaged or gone does nothing until they are stored again`(isGone: Bool)
        throws
    {
        try withFolder { folder in
            try folder.written { writer in
                try writer.fill(1...2)
                let renewals = [try renewal(1, folder), try renewal(2, folder)]
                let file = folder.file(picture(1))
                if isGone { try Bytes.remove(file) } else { try Bytes.flip(file, at: 77) }
                #expect(try writer.renew(renewals) == [false, true])
                #expect(try folder.reader().entry(for: url(1))?.validatedAt == 1_700_000_000_000)
                #expect(try !writer.isIntact(Digest(of: picture(1))) && writer.isIntact(Digest(of: picture(2))))
                try writer.store(url(1), picture(1))
                #expect(try writer.renew(renewals) == [true, true])
            }
            try folder.expect(pictures(1...2))
        }
    }

    @Test func `a renewal concerns no entry but the one that was read`() throws {
        try withFolder { folder in
            try folder.written { writer in
                try writer.fill(1...4)
                let renewals = try (1...4).map { try renewal($0, folder) }
                try writer.store(url(1), picture(11), storedAt: 500)
                _ = try writer.remove([url(2), url(4)], includingPinned: false)
                // It gets the row of the fourth.
                try writer.store(url(5), picture(5), storedAt: 500)
                #expect(try writer.renew([renewals[2]]) == [true])
                #expect(try writer.renew(renewals) == [false, false, true, false], "the bytes of the others are gone")
                #expect(try folder.reader().entry(for: url(1))?.validatedAt == 500)
                #expect(try folder.reader().entry(for: url(5))?.validatedAt == 500)
            }
        }
    }

    @Test func `an entry that was replaced meanwhile, whose bytes another URL keeps, stays as it is`() throws {
        try withFolder { folder in
            try folder.written { writer in
                for number in 1...2 { try writer.store(url(number), picture(1)) }
                let renewals = [try renewal(1, folder)]
                try writer.store(url(1), picture(3), storedAt: 500)
                #expect(try writer.renew(renewals) == [true])
                #expect(try folder.reader().entry(for: url(1))?.validatedAt == 500)
            }
        }
    }
}
