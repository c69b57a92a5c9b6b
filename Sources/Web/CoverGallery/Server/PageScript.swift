/// The page's modules as two scripts: a browser that asks for each of them waits for four round trips before the first cover.
///
/// A module becomes a function that returns what it exports, and runs when another one imports it first. The main one is the end of `first`.
struct PageScript {
    /// The main module and those that it imports, and the rest of them, which it imports later.
    let first: String, rest: String

    /// - Parameters:
    ///   - modules: Their texts by their names. They import names with `import { … } from "./NAME";` on one line, and export declarations.
    ///   - main: The module that starts the page. It may use `await` at its top level, and `import("./NAME")`.
    ///   - restName: The name of the script `rest`.
    init(_ modules: [String: String], main: String, restName: String) {
        var names = [main], index = 0
        while index < names.count {
            let imported = (modules[names[index]] ?? "").matches(of: Self.imported).map { String($0.2) }
            names += imported.filter { !names.contains($0) }
            index += 1
        }
        func functions(_ names: [String]) -> String {
            names.map { name in
                let text = modules[name] ?? "",
                    exports = text.matches(of: Self.exported).map(\.2).joined(separator: ", ")
                return "\"\(name)\": () => {\n\(Self.body(text))return { \(exports) };\n},\n"
            }.joined()
        }
        first = """
            const modules = {}, load = (name) => (modules[name] ??= functions[name]());
            const later = async (name) => (Object.assign(functions, (await import("./\(restName)")).functions(load)), load(name));
            const functions = {
            \(functions(Array(names.dropFirst())))};
            \(Self.body(modules[main] ?? ""))
            """
        rest = """
            export const functions = (load) => ({
            \(functions(modules.keys.filter { !names.contains($0) }.sorted()))});
            """
    }

    private static func body(_ text: String) -> String {
        text.replacing(imported) { "const {\($0.1)} = load(\"\($0.2)\");" }
            .replacing(importedLater) { "later(\"\($0.1)\")" }.replacing(exported) { "\($0.1) \($0.2)" }
    }

    private static var imported: Regex<(Substring, Substring, Substring)> {
        /^import \{(.*)\} from "\.\/(.*)";$/.anchorsMatchLineEndings()
    }

    private static var importedLater: Regex<(Substring, Substring)> { /\bimport\("\.\/(.*?)"\)/ }

    private static var exported: Regex<(Substring, Substring, Substring)> {
        /^export ((?:async )?function|class|const) (\w+)/.anchorsMatchLineEndings()
    }
}
