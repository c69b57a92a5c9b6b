/// How a list is read.
package struct ListOptions: Sendable {
    /// Overrides the format that extension and content suggest.
    package var format: ListFormat?
    /// Keeps every field, for callers that write the albums again.
    package var keepsOtherFields = false
    /// The list is a library file: only the names of fields that Sleeve writes are known. Other lists may come from other
    /// programs, with other names and other shapes.
    package var isLibraryFile = false
    /// The column, or the JSON field, that holds the cover's URL.
    package var urlColumn: String?
    /// The maximum length of an element, in bytes.
    var limit = ListLimit.element

    package init(
        format: ListFormat? = nil, keepsOtherFields: Bool = false, isLibraryFile: Bool = false, urlColumn: String? = nil
    ) {
        self.format = format
        self.keepsOtherFields = keepsOtherFields
        self.isLibraryFile = isLibraryFile
        self.urlColumn = urlColumn
    }
}
