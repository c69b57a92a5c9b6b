// The C door to libcurl. Swift cannot call variadic functions, so each option type gets one typed wrapper, 1:1;
// nothing else lives here.
#pragma once
#include <curl/curl.h>

static inline CURLcode sleeve_setopt_long(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode sleeve_setopt_off(CURL *easy, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode sleeve_setopt_string(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode sleeve_setopt_pointer(CURL *easy, CURLoption option, void *value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode sleeve_setopt_list(CURL *easy, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode sleeve_setopt_write(CURL *easy, curl_write_callback value) {
    return curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, value);
}
static inline CURLcode sleeve_setopt_header(CURL *easy, curl_write_callback value) {
    return curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, value);
}
static inline CURLcode sleeve_setopt_closesocket(CURL *easy, curl_closesocket_callback value) {
    return curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, value);
}
static inline CURLcode sleeve_setopt_opensocket(CURL *easy, curl_opensocket_callback value) {
    return curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, value);
}
static inline CURLcode sleeve_setopt_resolver_start(CURL *easy, curl_resolver_start_callback value) {
    return curl_easy_setopt(easy, CURLOPT_RESOLVER_START_FUNCTION, value);
}
static inline CURLcode sleeve_setopt_prereq(CURL *easy, curl_prereq_callback value) {
    return curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, value);
}
static inline CURLSHcode sleeve_share_setopt_lock_data(CURLSH *share, CURLSHoption option, curl_lock_data value) {
    return curl_share_setopt(share, option, value);
}
static inline CURLcode sleeve_getinfo_long(CURL *easy, CURLINFO info, long *value) {
    return curl_easy_getinfo(easy, info, value);
}
static inline CURLcode sleeve_getinfo_off(CURL *easy, CURLINFO info, curl_off_t *value) {
    return curl_easy_getinfo(easy, info, value);
}
// Connections have numbers in libcurl 8.2 and later; before, their local ports tell them apart.
static inline CURLcode sleeve_getinfo_connection(CURL *easy, curl_off_t *value) {
#if LIBCURL_VERSION_NUM >= 0x080200
    return curl_easy_getinfo(easy, CURLINFO_CONN_ID, value);
#else
    long port = 0;
    CURLcode code = curl_easy_getinfo(easy, CURLINFO_LOCAL_PORT, &port);
    *value = port;
    return code;
#endif
}
static inline CURLcode sleeve_getinfo_list(CURL *easy, CURLINFO info, struct curl_slist **value) {
    return curl_easy_getinfo(easy, info, value);
}
static inline CURLcode sleeve_getinfo_pointer(CURL *easy, CURLINFO info, void **value) {
    return curl_easy_getinfo(easy, info, value);
}
static inline CURLMcode sleeve_multi_setopt_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}
static inline CURLMcode sleeve_multi_setopt_pointer(CURLM *multi, CURLMoption option, void *value) {
    return curl_multi_setopt(multi, option, value);
}
static inline CURLMcode sleeve_multi_setopt_socket(CURLM *multi, curl_socket_callback value) {
    return curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, value);
}
static inline CURLMcode sleeve_multi_setopt_timer(CURLM *multi, curl_multi_timer_callback value) {
    return curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, value);
}
