import Foundation

/// nginx on a port of loopback for as long as a test runs: TLS and HTTP/2 before an origin, which has neither, or a cache of its own.
package struct Nginx: Sendable {
    package let port: Int
    /// Relative paths in its configuration are below this folder, which is removed with it.
    package let folder: String
    private let scheme: String

    package var url: String { "\(scheme)://127.0.0.1:\(port)" }
    /// The file, in PEM, of the certificate for 127.0.0.1 that a client has to trust.
    package var certificate: String { folder + "/certificate.pem" }

    private static let programs = ["/usr/sbin/nginx", "/usr/local/bin/nginx", "/opt/homebrew/bin/nginx"]
    private static let program = programs.first(where: FileManager.default.isExecutableFile)
    package static let isInstalled = program != nil

    /// What it listens for.
    package enum Service: String, Sendable {
        case http = ""
        /// HTTP/1.1 over TLS.
        case https = "ssl"
        /// HTTP/2 over TLS, and HTTP/1.1 for clients that do not negotiate it.
        case http2 = "ssl http2"
    }

    package enum Failure: Error { case notInstalled, noCertificate, ended(String) }

    /// The directives that forward every request to a server on another port of loopback.
    package static func proxy(to port: Int) -> String {
        "location / { proxy_pass http://127.0.0.1:\(port); proxy_http_version 1.1; proxy_set_header Host $http_host; }"
    }

    /// Starts it, waits until it listens, and ends it after `body`.
    /// - Parameters:
    ///   - server: Directives of its `server` block.
    ///   - http: Directives of its `http` block.
    package static func with(
        _ service: Service, server: String, http: String = "", _ body: (Nginx) async throws -> Void
    ) async throws {
        guard let program else { throw Failure.notInstalled }
        let folder = FileManager.default.temporaryDirectory.path + "/sleeve-\(UUID())"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let port = try closedPort(isShared: true)
        let nginx = Nginx(port: port, folder: folder, scheme: service == .http ? "http" : "https")
        if service != .http { try await onThread { try nginx.makeCertificate() } }
        let folders = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map { "\($0)_temp_path \($0);" }
        let certificate = "ssl_certificate certificate.pem; ssl_certificate_key key.pem;"
        try Data(
            """
            daemon off; pid nginx.pid; error_log error.log; worker_processes 1;
            events { worker_connections 1000; }
            http {
                access_log off; \(folders.joined(separator: " "))
                \(http)
                server {
                    listen 127.0.0.1:\(nginx.port) reuseport \(service.rawValue); \(service == .http ? "" : certificate)
                    \(server)
                }
            }
            """.utf8
        ).write(to: URL(filePath: folder + "/nginx.conf"))
        let process = Process()
        process.executableURL = URL(filePath: program)
        process.arguments = ["-e", "error.log", "-p", folder, "-c", "nginx.conf"]
        process.standardInput = FileHandle.nullDevice
        try process.run()
        defer { process.terminate() }
        try await eventually {
            guard process.isRunning else {
                throw Failure.ended(try String(contentsOfFile: folder + "/error.log", encoding: .utf8))
            }
            return (try? Wire(port: nginx.port)) != nil
        }
        try await body(nginx)
    }

    private func makeCertificate() throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/openssl")
        process.arguments = [
            "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", folder + "/key.pem", "-out",
            certificate, "-subj", "/CN=Sleeve test", "-addext", "subjectAltName=IP:127.0.0.1",
        ]
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure.noCertificate }
    }
}
