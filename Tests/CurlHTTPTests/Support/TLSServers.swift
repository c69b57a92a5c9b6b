import Foundation
import Wire

/// Programs that speak TLS, with a new certificate, for as long as a test runs.
enum TLSServers {
    static let hasOpenSSL = FileManager.default.isExecutableFile(atPath: "/usr/bin/openssl")
    static let hasNginx = FileManager.default.isExecutableFile(atPath: "/usr/sbin/nginx") && hasOpenSSL

    struct Failure: Error { var program: String }

    struct Server: Sendable {
        var url: String
        /// The certificate to trust, in PEM.
        var certificate: String
    }

    /// HTTP/1.0 over TLS: `openssl s_server`.
    static func withOpenSSL(_ body: (Server) async throws -> Void) async throws {
        try await withCertificate { folder in
            let arguments = ["s_server", "-accept", "127.0.0.1:0", "-www", "-key", "key.pem", "-cert", "cert.pem"]
            // Its first words once it listens: "ACCEPT 127.0.0.1:PORT".
            try await withProgram("/usr/bin/openssl", arguments, in: folder, readyWhenSaying: "ACCEPT") { line in
                let port = line.split(separator: ":").last ?? ""
                try await body(Server(url: "https://127.0.0.1:\(port)", certificate: folder + "/cert.pem"))
            }
        }
    }

    /// HTTP/2 over TLS: nginx, which answers every path with the number of the connection.
    static func withNginx(_ body: (Server) async throws -> Void) async throws {
        try await withCertificate { folder in
            let port = try await closedPort()
            let folders = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
                .map { "\($0)_temp_path \(folder)/\($0);" }.joined(separator: " ")
            let configuration = """
                daemon off; pid \(folder)/nginx.pid; error_log stderr notice; worker_processes 1;
                events { worker_connections 512; }
                http {
                    access_log off; \(folders)
                    server {
                        listen 127.0.0.1:\(port) ssl http2;
                        ssl_certificate \(folder)/cert.pem; ssl_certificate_key \(folder)/key.pem;
                        location = /down { return 302 http://127.0.0.1:1/; }
                        location / { return 200 "$connection"; }
                    }
                }
                """
            try Data(configuration.utf8).write(to: URL(fileURLWithPath: folder + "/nginx.conf"))
            let arguments = ["-e", "stderr", "-c", folder + "/nginx.conf"]
            // It listens before it starts its workers.
            try await withProgram(
                "/usr/sbin/nginx", arguments, in: folder, readyWhenSaying: "start worker process",
                handlesTermination: true
            ) { _ in
                try await body(Server(url: "https://127.0.0.1:\(port)", certificate: folder + "/cert.pem"))
            }
        }
    }

    /// Runs `body` while the program runs, from the first line in which it says `words`; the line is passed on.
    private static func withProgram(
        _ program: String, _ arguments: [String], in folder: String, readyWhenSaying words: String,
        handlesTermination: Bool = false, _ body: (String) async throws -> Void
    ) async throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.currentDirectoryURL = URL(fileURLWithPath: folder)
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let file = output.fileHandleForReading
        let result: Result<Void, any Error>
        do {
            result = .success(try await body(try await blocking { try line(saying: words, from: file) }))
        } catch {
            result = .failure(error)
        }
        // A program started from one of Swift's threads has signals blocked, unless it sees to them itself.
        kill(process.processIdentifier, handlesTermination ? SIGTERM : SIGKILL)
        // To the end of what it says: it and what it started are gone then.
        _ = try await blocking { try file.readToEnd() }
        try result.get()
    }

    /// A folder with a certificate for 127.0.0.1 that only itself vouches for.
    private static func withCertificate(_ body: (String) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("sleeve-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await run(
            "/usr/bin/openssl",
            [
                "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", "key.pem", "-out", "cert.pem",
                "-subj", "/CN=Sleeve test", "-addext", "subjectAltName=IP:127.0.0.1",
            ], in: folder)
        try await body(folder)
    }

    private static func run(_ program: String, _ arguments: [String], in folder: String) async throws {
        try await blocking {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: program)
            process.arguments = arguments
            process.currentDirectoryURL = URL(fileURLWithPath: folder)
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            try process.run()
            process.waitUntilExit()
            if process.terminationStatus != 0 { throw Failure(program: program) }
        }
    }

    private static func line(saying words: String, from file: FileHandle) throws -> String {
        var bytes: [UInt8] = []
        while let byte = try file.read(upToCount: 1)?.first {
            if byte != UInt8(ascii: "\n") {
                bytes.append(byte)
                continue
            }
            let line = String(decoding: bytes, as: UTF8.self)
            if line.contains(words) { return line }
            bytes = []
        }
        throw Failure(program: words)
    }
}

/// Runs blocking calls on a new thread: Swift has as many as the machine has cores.
func blocking<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result { try work() }) }
    }
}
