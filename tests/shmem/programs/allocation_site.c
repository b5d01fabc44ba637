// Mistakes with a block of symmetric memory; errors name the line that allocated it.
#include <shmem.h>
#include <string.h>

int main(int count, char** arguments) {
    const char* mistake = count > 1 ? arguments[1] : "";
    shmem_init();
    long* flags = shmem_calloc(8, sizeof(long));  // LINE allocation
    long values[9] = {0};
    if (strcmp(mistake, "wait") == 0) shmem_long_wait_until(&flags[1], SHMEM_CMP_EQ, 1);
    if (strcmp(mistake, "past") == 0) shmem_long_put(flags, values, 9, 0);
    if (strcmp(mistake, "inside") == 0) shmem_free(flags + 2);
    shmem_free(flags);
    if (strcmp(mistake, "freed") == 0) shmem_long_p(flags + 3, 1, 0);
    shmem_finalize();
    return 0;
}
