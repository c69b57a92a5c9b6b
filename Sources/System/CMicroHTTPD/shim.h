// The C door to libmicrohttpd. Swift cannot call variadic functions, so each use of them gets one typed wrapper; nothing else lives here.
#pragma once
#include <microhttpd.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

// The functions that a daemon calls, each with the same context.
typedef struct {
    MHD_AccessHandlerCallback answer;
    MHD_RequestCompletedCallback end;
    MHD_NotifyConnectionCallback connection;
    void *(*begin)(void *context, const char *target, struct MHD_Connection *connection);
    // Replaces the decoding of percent signs.
    size_t (*decode)(void *context, struct MHD_Connection *connection, char *text);
} sleeve_callbacks;

static inline struct MHD_Daemon *sleeve_start_daemon(
    unsigned int flags, int listening, unsigned int threads, unsigned int connections, size_t memory, sleeve_callbacks callbacks, void *context
) {
    return MHD_start_daemon(
        flags, 0, NULL, NULL, callbacks.answer, context, MHD_OPTION_LISTEN_SOCKET, listening, MHD_OPTION_THREAD_POOL_SIZE, threads,
        MHD_OPTION_CONNECTION_LIMIT, connections, MHD_OPTION_CONNECTION_MEMORY_LIMIT, memory, MHD_OPTION_URI_LOG_CALLBACK, callbacks.begin, context,
        MHD_OPTION_NOTIFY_COMPLETED, callbacks.end, context, MHD_OPTION_NOTIFY_CONNECTION, callbacks.connection, context,
        MHD_OPTION_UNESCAPE_CALLBACK, callbacks.decode, context, MHD_OPTION_END);
}
static inline int sleeve_socket(struct MHD_Connection *connection) {
    return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
}
static inline void *sleeve_socket_context(struct MHD_Connection *connection) {
    return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
}
// Allows a response of unknown size its own Content-Length, which libmicrohttpd otherwise forbids, and ends the connection after it.
static inline enum MHD_Result sleeve_announce_length(struct MHD_Response *response) {
    return MHD_set_response_options(response, MHD_RF_INSANITY_HEADER_CONTENT_LENGTH | MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END);
}
// Answers as a server of HTTP/1.0, without chunks.
static inline enum MHD_Result sleeve_answer_as_http10(struct MHD_Response *response) {
    return MHD_set_response_options(response, MHD_RF_HTTP_1_0_SERVER, MHD_RO_END);
}
// Whether the other end has closed its side of a connection, or all of it.
static inline int sleeve_has_ended(int socket) {
#ifdef __linux__
    const short ended = 0x2000; // POLLRDHUP, for which <poll.h> wants _GNU_SOURCE
    struct pollfd descriptor = {socket, ended, 0};
    return poll(&descriptor, 1, 0) > 0 && (descriptor.revents & (ended | POLLHUP | POLLERR)) != 0;
#else
    // Bytes that wait to be read hide the end.
    char byte;
    return recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
#endif
}
// The bytes that the other end of a connection has not acknowledged; 0 if the system does not say.
static inline int sleeve_unsent(int socket) {
    int count = 0;
#ifdef __linux__
    if (ioctl(socket, TIOCOUTQ, &count) != 0) return 0;
#else
    socklen_t length = sizeof count;
    if (getsockopt(socket, SOL_SOCKET, SO_NWRITE, &count, &length) != 0) return 0;
#endif
    return count;
}
// What a reader of a body returns at its end; macros with casts are not imported.
static const long sleeve_end_of_stream = MHD_CONTENT_READER_END_OF_STREAM, sleeve_end_with_error = MHD_CONTENT_READER_END_WITH_ERROR;
static const unsigned long long sleeve_unknown_size = MHD_SIZE_UNKNOWN;
