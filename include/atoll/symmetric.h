/* Symmetric tensors of processes of one host, as a plain C interface for modules that are compiled for
   another library, such as PyTorch. It needs no job of Atoll. Each process allocates in a heap of its own and
   frees by itself. Processes that exchange the texts of `offer` then access each other's memory, and meet.

   A function that fails returns null or a negative atoll_failure; last_error of atoll_groups() then tells the
   reason. */
#ifndef ATOLL_SYMMETRIC_H
#define ATOLL_SYMMETRIC_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ATOLL_SYMMETRIC_VERSION 1
/* Room for the text of `offer`, with its terminating zero. */
#define ATOLL_OFFER_ROOM 512

/* A block of this process's heap. */
struct atoll_block {
    void* data;
    size_t bytes;
    size_t pad_bytes;
};

/* A block that this process brings to a meeting of a group. */
typedef struct atoll_offer atoll_offer;
/* A block on each member of a group. */
typedef struct atoll_symmetric atoll_symmetric;

/* The members' texts in the order of their ranks, and limits of the wait for them. */
struct atoll_meeting {
    const char* const* texts;
    int rank, size;
    const int* names;  /* The members' numbers in errors. Null: their ranks. */
    const char* label; /* Follows the word "group" in errors. */
    double timeout_s;  /* 0: none. */
    /* May be null. It is called in long waits, and a nonzero result ends the wait. */
    int (*interrupted)(void);
};

enum atoll_symmetric_kind {
    ATOLL_SYMMETRIC_BARRIER,     /* Waits for all members, on a channel. */
    ATOLL_SYMMETRIC_PUT_SIGNAL,  /* Sets a word of a channel in the pad of `member`, from 0 to 1. */
    ATOLL_SYMMETRIC_WAIT_SIGNAL, /* Waits for the word of `member` in the caller's pad, and clears it. */
    ATOLL_SYMMETRIC_NOTIFY,      /* Counts a notification at `member`; does not wait. */
    ATOLL_SYMMETRIC_AWAIT,       /* Takes one notification of `member`. */
    ATOLL_SYMMETRIC_ALL_REDUCE,  /* All members read all data; `out` is not in it. */
    ATOLL_SYMMETRIC_ALL_REDUCE_IN_PLACE, /* Each member reduces a part, and writes it to all. */
    ATOLL_SYMMETRIC_ALL_GATHER,
    ATOLL_SYMMETRIC_REDUCE_SCATTER
};

struct atoll_symmetric_call {
    int kind;
    int channel;
    int member;
    size_t offset; /* The data's offset in the block, equal on all members. */
    size_t bytes;  /* The data's size. */
    void* out;
    size_t
        row_bytes; /* Each member of reduce_scatter gets an equal part of each row. 0: the data is one row. */
    int type, op;  /* atoll_type and atoll_op of reductions. */
    double timeout_s; /* 0: none. */
    int (*interrupted)(void);
};

struct atoll_symmetric_table {
    int version;
    /* Allocates memory with undefined contents, at a multiple of 64, and a pad of zeros. Local. */
    void* (*allocate)(size_t bytes, size_t pad_bytes);
    /* Frees it. Local. The memory is used again when no member of a group holds it. Other addresses are
       ignored. */
    void (*free)(void* data);
    /* Finds the block that contains an address. Returns 1, or 0 if there is no such block. */
    int (*find)(const void* address, struct atoll_block* block);
    /* Bytes in use, and the most that can be. */
    int (*usage)(size_t* used, size_t* limit);

    /* Offers the block of an address to a group of `size` members. Writes a text for the others. */
    atoll_offer* (*offer)(const void* address, int size, char* text, size_t room);
    void (*withdraw)(atoll_offer* offer);
    /* Joins the members' blocks. Consumes the offer. Collective over the members. */
    atoll_symmetric* (*join)(atoll_offer* offer, const struct atoll_meeting* meeting);
    /* Leaves. Local. */
    void (*leave)(atoll_symmetric* symmetric);
    /* The data and the pad of a member, in this process. */
    void* (*data)(atoll_symmetric* symmetric, int member);
    void* (*pad)(atoll_symmetric* symmetric, int member);
    /* Channels that barriers and signals have. */
    int (*channels)(atoll_symmetric* symmetric);
    /* Carries out an operation in the calling thread. Returns 0 or a failure. */
    int (*run)(atoll_symmetric* symmetric, const struct atoll_symmetric_call* call);
};

__attribute__((visibility("default"))) const struct atoll_symmetric_table* atoll_symmetric_memory(void);

/* The same for memory of GPUs. Each process has a heap on each of its GPUs. */

/* A block of such a heap. Its pad ends in front of the data, at `pad`. */
struct atoll_device_block {
    void* data;
    size_t bytes;
    void* pad;
    size_t pad_bytes;
    void* twin; /* Host memory of atoll_symmetric_table. Processes that join it hold this block too. */
    int device;
};

struct atoll_device_memory_table {
    int version;
    /* Allocates memory with undefined contents, at a multiple of 512, and a pad of zeros. Local. */
    void* (*allocate)(int device, size_t bytes, size_t pad_bytes);
    /* Frees it. Local. Work of this process on it must be done. The memory is used again when no member of a
       group holds it. Other addresses are ignored. */
    void (*free)(void* data);
    /* Finds the block that contains an address. Returns 1, or 0 if there is no such block. */
    int (*find)(const void* address, struct atoll_device_block* block);
    /* Writes a text without spaces that describes the block of an address, for the other members. */
    int (*describe)(const void* address, char* text, size_t room);
    /* Makes the members' blocks, which these texts describe, accessible to this process's GPU, and stores
       their addresses. `address` is in this process's block. Collective over the members. */
    int (*reach)(const void* address, const struct atoll_meeting* meeting, void** data);
    /* Enqueues a wait until a word is `from`, which then sets it to `to`. The word is in a pad that the heap
       of `address` has or reaches. If the wait takes longer than `timeout_s` (0: none), it ends the process's
       work on the GPU. The first call with a time-out that no `reach` had cannot be captured. */
    int (*exchange)(const void* address, void* word, unsigned from, unsigned to, double timeout_s,
                    void* stream);
};

__attribute__((visibility("default"))) const struct atoll_device_memory_table* atoll_device_memory(void);

#ifdef __cplusplus
}
#endif

#endif
