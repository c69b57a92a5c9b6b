// The thread sanitizer sees what is compiled for it. Of `Synchronization.Mutex` on Linux that is the fast path, in which nobody
// waits; the slow one is in the standard library, so that whatever a thread did with a contended mutex looks like a race.
// In a sanitized build this stands in for the slow path: it takes the lock the same way, before the sanitizer's eyes.
#if defined(__linux__) && defined(__has_feature)
#if __has_feature(thread_sanitizer)
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>

// Mutex._MutexHandle._lockSlow(_: UInt32): the word holds 0, or the number of the thread that has the lock.
__attribute__((swiftcall)) void lock_slowly(
    uint32_t thread, __attribute__((swift_context)) _Atomic uint32_t *word
) __asm__("$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF");

__attribute__((swiftcall)) void lock_slowly(
    uint32_t thread, __attribute__((swift_context)) _Atomic uint32_t *word
) {
    for (;;) {
        uint32_t nobody = 0;
        if (atomic_compare_exchange_weak_explicit(word, &nobody, thread, memory_order_acquire, memory_order_relaxed)) return;
        sched_yield();
    }
}
#endif
#endif
