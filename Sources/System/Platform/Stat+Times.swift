extension stat {
    package var modificationTime: timespec {
        #if os(Linux)
            st_mtim
        #else
            st_mtimespec
        #endif
    }

    package var accessTime: timespec {
        #if os(Linux)
            st_atim
        #else
            st_atimespec
        #endif
    }
}
