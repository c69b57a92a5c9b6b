// Every command has to do with albums or lists of them.
@_exported public import AlbumLibrary
