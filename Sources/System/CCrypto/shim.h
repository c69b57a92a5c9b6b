// The C door to libcrypto, which libcurl loads too. OpenSSL 3 calls SHA256_Init and its like deprecated in favour of EVP_Digest,
// which needs a context on the heap for each digest and 1.2 ms to read OpenSSL's configuration before the first one.
#pragma once
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>

// From <openssl/crypto.h>, which would make the types of <pthread.h> this module's.
extern int CRYPTO_memcmp(const void *left, const void *right, size_t count);
