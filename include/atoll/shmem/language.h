/* Macros that adapt the generated declarations of shmem.h to C99, C11, C17, C++11 and later. */
#ifndef ATOLL_SHMEM_LANGUAGE_H
#define ATOLL_SHMEM_LANGUAGE_H

#if defined(__cplusplus)
#include <complex>
#define ATOLL_SHMEM_NORETURN __attribute__((noreturn))
#define ATOLL_SHMEM_COMPLEXF std::complex<float>
#define ATOLL_SHMEM_COMPLEXD std::complex<double>
#else
#define ATOLL_SHMEM_COMPLEXF float _Complex
#define ATOLL_SHMEM_COMPLEXD double _Complex
#if defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define ATOLL_SHMEM_NORETURN _Noreturn
#else
#define ATOLL_SHMEM_NORETURN __attribute__((noreturn))
#endif
/* The arguments on which a generic selects: the first and the second. */
#define ATOLL_SHMEM_FIRST(...) ATOLL_SHMEM_FIRST_(__VA_ARGS__, 0)
#define ATOLL_SHMEM_FIRST_(first, ...) first
#define ATOLL_SHMEM_SECOND(...) ATOLL_SHMEM_SECOND_(__VA_ARGS__, 0, 0)
#define ATOLL_SHMEM_SECOND_(first, second, ...) second
#define ATOLL_SHMEM_FIFTH(a, b, c, d, e, ...) e
/* A generic calls this for types that the specification does not name: no argument list fits it. */
struct atoll_shmem_unsupported {
    int unused;
};
extern void atoll_no_shmem_function_for_this_type(struct atoll_shmem_unsupported,
                                                  struct atoll_shmem_unsupported);
#endif

#endif
