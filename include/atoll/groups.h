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

#define ATOLL_GROUPS_VERSION 3

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
    int root; /* The root; for a message, the other member or ATOLL_ANY_SOURCE. */
    int tag;  /* Tag of a message. */
    int type; /* Element type of a reduction. */
    int op;   /* Operator of a reduction. */
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

/* A store that connects the members while they join. `get` waits for a value and calls `deliver` once. Both
   return 0, or another number if they failed. */
struct atoll_store {
    void* state;
    int (*put)(void* state, const char* key, const char* value, size_t bytes);
    int (*get)(void* state, const char* key, void* sink,
               void (*deliver)(void* sink, const char* value, size_t bytes));
};

struct atoll_groups_table {
    int version;
    const char* (*last_error)(void);
    int (*last_failure)(void); /* its atoll_failure */

    /* Joins a group. Collective over its members, which may be processes of several hosts; the store, or a
       prefix of its keys, serves one group. `names` are the members' numbers in errors, or null; `label`
       follows the word "group" in errors. */
    atoll_group* (*join)(const struct atoll_store* store, int rank, int size, const int* names,
                         const char* label);
    /* The number of hosts on which the members are. */
    int (*n_hosts)(atoll_group* group);
    /* Leaves. Local. Operations in flight fail on all members. The last group of the same processes of
       several hosts waits up to 2.1 s until its messages are sent. */
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
    /* Sets last_error to a text with the members for which the request waits. */
    void (*describe_wait)(atoll_request* request, double seconds);
    void (*release)(atoll_request* request);
    int (*last_code)(void); /* The number of last_error's kind in atoll/error.hpp; 0: none of them. */
    /* `wait` for a program's own thread: as in `run`, `interrupted` is called during a long wait, and a
       nonzero result ends it, which breaks nothing. Under `atoll run` reports of hangs show the wait. */
    int (*wait_of_program)(atoll_request* request, double seconds, int (*interrupted)(void));
};

__attribute__((visibility("default"))) const struct atoll_groups_table* atoll_groups(void);

/* Groups for memory of GPUs: operations in the order of a CUDA stream. They return once the work is
   enqueued, and can be captured in CUDA graphs. The members are processes of one host. */
typedef struct atoll_device_group atoll_device_group;

struct atoll_device_options {
    int rank, size;
    int device;            /* The GPU's number in this process. */
    int for_messages;      /* Not 0: a group of two members that only sends and receives. */
    double timeout_s;      /* Limit of joining, and of waits in kernels. 0: that of the settings. */
    double join_timeout_s; /* Limit of joining alone. 0: timeout_s. */
};

struct atoll_device_table {
    int version;
    /* Joins a group. Collective over its members; the store, or a prefix of its keys, serves one group. */
    atoll_device_group* (*join)(const struct atoll_store* store, const struct atoll_device_options* options);
    /* Leaves. The group's work on streams must be done. Local; does not wait for other members. */
    void (*leave)(atoll_device_group* group);
    /* Enqueues a collective, or up to `n` messages that progress together. Spans are memory that the GPU can
       access. A collective has one span on each side, with the members' pieces one after another; all_to_all
       may also have one for each member. Tags and time-outs of calls are not used, nor ATOLL_ANY_SOURCE.
       Messages of a
       group for messages may be on two streams, one for each direction. The caller orders all other work of
       a group. Returns 0 or a failure. */
    int (*start)(atoll_device_group* group, const struct atoll_call* calls, size_t n, void* stream);
    /* 1 if the stream is captured in a CUDA graph, else 0. */
    int (*is_capturing)(atoll_device_group* group, void* stream);
};

/* Errors are reported by last_error and last_failure of atoll_groups_table. */
__attribute__((visibility("default"))) const struct atoll_device_table* atoll_device_groups(void);

#ifdef __cplusplus
}
#endif

#endif
