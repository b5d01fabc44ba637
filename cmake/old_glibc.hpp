// Included first in every source that is compiled by sysroot.cmake: what GCC's C++ library expects of glibc,
// and 2.28 lacks. GCC was configured for the newer glibc of its own Debian.
#pragma once

#include <bits/c++config.h>

// These need glibc 2.30. Without them, condition variables wait by the other clock.
#undef _GLIBCXX_USE_PTHREAD_COND_CLOCKWAIT
#undef _GLIBCXX_USE_PTHREAD_MUTEX_CLOCKLOCK
#undef _GLIBCXX_USE_PTHREAD_RWLOCK_CLOCKLOCK

extern "C" {
int getentropy(void*, std::size_t);

// Defined by glibc 2.32. False means that reference counts are always atomic.
__attribute__((weak, visibility("hidden"))) char __libc_single_threaded = 0;

// Defined by glibc 2.36, and used by std::random_device.
__attribute__((weak, visibility("hidden"))) unsigned arc4random() {
    unsigned number = 0;
    while (getentropy(&number, sizeof number) != 0) {
    }
    return number;
}
}
