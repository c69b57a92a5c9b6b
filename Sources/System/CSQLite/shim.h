// The C door to SQLite. Swift cannot call variadic functions, and imports no macro that casts.
#pragma once
#include <sqlite3.h>

static inline int sleeve_sqlite_count_memory(int isOn) {
    return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, isOn);
}

static inline int sleeve_sqlite_log(void (*log)(void *context, int code, const char *message)) {
    return sqlite3_config(SQLITE_CONFIG_LOG, log, (void *)0);
}

static inline int sleeve_sqlite_keep_log(sqlite3 *database, int isKept) {
    return sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, isKept, (int *)0);
}

// SQLite copies the bytes. Without bytes, a pointer of Swift's may be null, which would bind NULL.
static inline int sleeve_sqlite_bind_text(sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 count) {
    return sqlite3_bind_text64(statement, index, count ? bytes : "", count, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static inline int sleeve_sqlite_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 count) {
    return sqlite3_bind_blob64(statement, index, count ? bytes : "", count, SQLITE_TRANSIENT);
}
