/* Deprecated place of shmem.h. */
#include "../shmem.h"
