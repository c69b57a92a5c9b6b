// The call of SQLite that Swift cannot make: it is variadic.
#pragma once

extern int sqlite3_config(int option, ...);

static inline int sleeve_sqlite_count_memory(int isOn) {
    return sqlite3_config(9 /* SQLITE_CONFIG_MEMSTATUS */, isOn);
}

static inline int sleeve_sqlite_log(void (*log)(void *context, int code, const char *message)) {
    return sqlite3_config(16 /* SQLITE_CONFIG_LOG */, log, (void *)0);
}
