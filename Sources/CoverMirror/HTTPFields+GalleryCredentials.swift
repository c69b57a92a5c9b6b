import HTTPTypes
import ServerChannels

/// Credentials of a gallery on the same host. They must reach neither the mirrored server, nor be set by it.
extension HTTPFields {
    /// A request's fields without the gallery's cookies, and without its token as a bearer.
    var withoutGalleryCredentials: HTTPFields {
        var token: String?
        var fields = mapped(.cookie) { line in
            let pairs = line.split(separator: ";").map { $0.drop { $0 == " " || $0 == "\t" } }
            for pair in pairs where pair.hasPrefix(GalleryCookie.token + "=") {
                token = String(pair.dropFirst(GalleryCookie.token.utf8.count + 1))
            }
            let kept = pairs.filter { !GalleryCookie.owns($0) && !$0.isEmpty }
            return kept.isEmpty ? nil : kept.joined(separator: "; ")
        }
        if let token, fields[.authorization] == "Bearer \(token)" { fields[.authorization] = nil }
        return fields
    }

    /// A response's fields without those that set cookies of the gallery.
    var withoutGalleryCookies: HTTPFields {
        mapped(.setCookie) { line in GalleryCookie.owns(line.drop { $0 == " " || $0 == "\t" }) ? nil : line }
    }

    /// Replaces the value of each line of a field, or removes the line.
    private func mapped(_ name: HTTPField.Name, _ value: (String) -> String?) -> HTTPFields {
        guard contains(name) else { return self }
        var fields = HTTPFields()
        for field in self {
            guard field.name == name else {
                fields.append(field)
                continue
            }
            if let value = value(field.value) { fields.append(HTTPField(name: name, value: value)) }
        }
        return fields
    }
}
