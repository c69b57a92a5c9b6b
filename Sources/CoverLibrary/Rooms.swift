@_exported public import AlbumLibrary
