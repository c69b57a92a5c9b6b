// What the transfers alone take: downloads a list of URLs with libcurl and throws the bodies away. No file, no digest, no queue of hosts.
//
//   floor LIST IN_FLIGHT STATUS CERTIFICATE [HEADER…]
//
// Fails unless every response has the status. An empty CERTIFICATE is the system's authorities.
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

static int events, timeout = 0;
static CURLM *multi;

static size_t discard(char *bytes, size_t size, size_t count, void *context) {
    (void)bytes, (void)context;
    return size * count;
}

static int watch(CURL *easy, curl_socket_t socket, int what, void *context, void *known) {
    (void)easy, (void)context;
    struct epoll_event event = {.data.fd = socket};
    if (what != CURL_POLL_OUT) event.events |= EPOLLIN;
    if (what != CURL_POLL_IN) event.events |= EPOLLOUT;
    if (what == CURL_POLL_REMOVE) return epoll_ctl(events, EPOLL_CTL_DEL, socket, &event), 0;
    epoll_ctl(events, known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, socket, &event);
    curl_multi_assign(multi, socket, &events);
    return 0;
}

static int wait_for(CURLM *handle, long milliseconds, void *context) {
    (void)handle, (void)context;
    timeout = (int)milliseconds;
    return 0;
}

static int begin(FILE *list, CURL *easy) {
    char line[8192];
    if (!fgets(line, sizeof line, list)) return 0;
    line[strcspn(line, "\n")] = 0;
    curl_easy_setopt(easy, CURLOPT_URL, line);
    curl_multi_add_handle(multi, easy);
    return 1;
}

int main(int count, char **words) {
    if (count < 5) return 64;
    FILE *list = fopen(words[1], "r");
    if (!list) return perror(words[1]), 1;
    int in_flight = atoi(words[2]), running = 0, left;
    long wanted = atol(words[3]);
    struct curl_slist *headers = NULL;
    for (int index = 5; index < count; index++) headers = curl_slist_append(headers, words[index]);
    curl_global_init(CURL_GLOBAL_DEFAULT);
    multi = curl_multi_init();
    events = epoll_create1(EPOLL_CLOEXEC);
    curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, watch);
    curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, wait_for);
    curl_multi_setopt(multi, CURLMOPT_MAX_CONCURRENT_STREAMS, (long)in_flight);
    for (int number = 0; number < in_flight; number++) {
        CURL *easy = curl_easy_init();
        curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, discard);
        curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
        curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
        curl_easy_setopt(easy, CURLOPT_PIPEWAIT, 1L);
        curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, 65536L);
        if (*words[4]) curl_easy_setopt(easy, CURLOPT_CAINFO, words[4]);
        if (begin(list, easy)) running++;
    }
    while (running > 0) {
        struct epoll_event ready[256];
        int found = timeout == 0 ? 0 : epoll_wait(events, ready, 256, timeout);
        if (found == 0) {
            timeout = -1;
            curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &left);
        }
        for (int index = 0; index < found; index++) {
            int what = (ready[index].events & (EPOLLIN | EPOLLHUP | EPOLLERR) ? CURL_CSELECT_IN : 0)
                | (ready[index].events & EPOLLOUT ? CURL_CSELECT_OUT : 0);
            curl_multi_socket_action(multi, ready[index].data.fd, what, &left);
        }
        CURLMsg *message;
        while ((message = curl_multi_info_read(multi, &left))) {
            CURL *easy = message->easy_handle;
            CURLcode code = message->data.result;
            long status = 0;
            curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
            if (code || status != wanted) return fprintf(stderr, "floor: %s, status %ld\n", curl_easy_strerror(code), status), 1;
            curl_multi_remove_handle(multi, easy);
            if (!begin(list, easy)) running--;
        }
    }
    return 0;
}
