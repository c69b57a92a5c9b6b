extension stat {
    package var modificationTime: timespec {
        #if os(Linux)
            st_mtim
        #else
            st_mtimespec
        #endif
    }
}
