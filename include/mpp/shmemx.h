/* Deprecated location of shmemx.h. */
#include "../shmemx.h"
