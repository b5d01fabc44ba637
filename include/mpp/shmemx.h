/* Deprecated place of shmemx.h. */
#include "../shmemx.h"
