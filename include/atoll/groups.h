/* Groups of processes with non-blocking operations on host memory, as a plain C interface. Modules that are
   compiled for another library, such as PyTorch, reach Atoll through it. It needs no job of Atoll.

   All functions are reached through the table that atoll_groups() returns, so a module need not be linked.
   A function that fails returns null or a negative value; `last_error` of the same thread then tells the
   reason. */
#ifndef ATOLL_GROUPS_H
#define ATOLL_GROUPS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ATOLL_GROUPS_VERSION 1

/* Operations. The members of a group call collectives in one order, with equal sizes. */
enum atoll_kind {
    ATOLL_BARRIER,
    ATOLL_BROADCAST,
    ATOLL_REDUCE,
    ATOLL_ALL_REDUCE,
    ATOLL_ALL_GATHER,
    ATOLL_GATHER,
    ATOLL_SCATTER,
    ATOLL_REDUCE_SCATTER,
    ATOLL_ALL_TO_ALL,
    ATOLL_SEND,
    ATOLL_RECEIVE
};

/* Element types of reductions. */
enum atoll_type {
    ATOLL_INT8,
    ATOLL_INT16,
    ATOLL_INT32,
    ATOLL_INT64,
    ATOLL_UINT8,
    ATOLL_UINT16,
    ATOLL_UINT32,
    ATOLL_UINT64,
    ATOLL_FLOAT32,
    ATOLL_FLOAT64,
    ATOLL_LONG_DOUBLE,
    ATOLL_COMPLEX64,
    ATOLL_COMPLEX128,
    ATOLL_BOOL,
    ATOLL_FLOAT16,
    ATOLL_BFLOAT16,
    ATOLL_FLOAT8_E4M3,
    ATOLL_FLOAT8_E5M2
};

enum atoll_op { ATOLL_SUM, ATOLL_PROD, ATOLL_MIN, ATOLL_MAX, ATOLL_AND, ATOLL_OR, ATOLL_XOR, ATOLL_AVG };

/* Kinds of errors, returned as negative numbers. */
enum atoll_failure {
    ATOLL_FAILED = -1,     /* A member died, left or aborted, or the system failed. */
    ATOLL_TIMED_OUT = -2,  /* A time limit ran out. */
    ATOLL_WRONG_CALL = -3, /* Wrong arguments. The call has not taken part. */
    ATOLL_INTERRUPTED = -4 /* The caller's function asked to end the wait. */
};

#define ATOLL_ANY_SOURCE (-1)

typedef struct atoll_group atoll_group;
typedef struct atoll_request atoll_request;

/* Memory of the caller: valid until the operation is done. */
struct atoll_span {
    void* data;
    size_t bytes;
};

struct atoll_call {
    int kind;
    int root; /* Or the other member of a message, or ATOLL_ANY_SOURCE. */
    int tag;  /* Of a message. */
    int type; /* Of a reduction. */
    int op;   /* Of a reduction. */
    /* One span, or one for each member. `in` has one for each in scatter (at the root), reduce_scatter and
       all_to_all; `out` in all_gather, gather (at the root) and all_to_all. It is empty without data. */
    const struct atoll_span* in;
    size_t n_in;
    const struct atoll_span* out;
    size_t n_out;
    double timeout_s; /* 0: none. */
};

/* Functions for an operation in progress. Any thread calls them, once each. `finish` is called with the data
   in place, before the operation counts as done. Then `notify` is called, the last use of `state`. `failure`
   is 0 or a negative atoll_failure, with its text. */
struct atoll_callbacks {
    void* state;
    void (*finish)(void* state);
    void (*notify)(void* state, int failure, const char* text);
};

struct atoll_groups_table {
    int version;
    const char* (*last_error)(void);
    int (*last_failure)(void); /* its atoll_failure */

    /* Makes a group's memory and writes its address, a text of less than 512 bytes, for the other members. */
    atoll_group* (*create)(int rank, int size, const int* names, const char* label, char* address,
                           size_t room);
    /* Joins a group that another process of this host made. `names` are the members' numbers in errors, or
       null; `label` follows the word "group" in errors. */
    atoll_group* (*join)(const char* address, int rank, int size, const int* names, const char* label);
    /* Leaves. Local; does not wait. Operations in flight fail on all members. */
    void (*leave)(atoll_group* group);
    /* Fails all operations of the group, on all members. */
    void (*abort)(atoll_group* group, const char* reason);

    /* Carries out an operation in the calling thread. `interrupted` may be null; it is called during long
       waits, and a nonzero result ends the wait and breaks the group. Returns 0 or a failure; a receive
       returns the sender. */
    int (*run)(atoll_group* group, const struct atoll_call* call, int (*interrupted)(void));
    /* Starts an operation. */
    atoll_request* (*start)(atoll_group* group, const struct atoll_call* call,
                            const struct atoll_callbacks* callbacks);
    /* 0: pending; 1: done; negative: failed. Never waits. */
    int (*test)(atoll_request* request);
    /* Moves data for at most `seconds` (negative: no limit); returns as `test`. */
    int (*wait)(atoll_request* request, double seconds);
    /* The sender of a received message; -1 before. */
    int (*source)(atoll_request* request);
    /* Sets last_error to a text that names the members for which the request waits. */
    void (*describe_wait)(atoll_request* request, double seconds);
    void (*release)(atoll_request* request);
};

__attribute__((visibility("default"))) const struct atoll_groups_table* atoll_groups(void);

#ifdef __cplusplus
}
#endif

#endif
