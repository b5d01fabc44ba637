/* A job by shmemx_init_callbacks, of processes that share nothing but a folder.
 *   callbacks FOLDER PE N [fail|no allgather|abort]
 * `fail`: allgather returns 7. `abort`: PE 0 ends the job with status 5 while the others wait. */
#include <shmemx.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct files {
    const char* folder;
    int pe, n, round, fails;
};

static long word;

static void name_of(char* path, size_t bytes, const struct files* files, int pe, const char* end) {
    snprintf(path, bytes, "%s/%d.%d%s", files->folder, files->round, pe, end);
}

static int allgather(const void* mine, size_t bytes, void* all, void* user) {
    struct files* files = user;
    char path[4096], whole[4096];
    if (files->fails) return 7;
    name_of(path, sizeof path, files, files->pe, ".part");
    name_of(whole, sizeof whole, files, files->pe, "");
    FILE* file = fopen(path, "w");
    if (!file || fwrite(mine, 1, bytes, file) != bytes || fclose(file) != 0) return 1;
    if (rename(path, whole) != 0) return 2;
    for (int pe = 0; pe < files->n; ++pe) {
        name_of(whole, sizeof whole, files, pe, "");
        while (!(file = fopen(whole, "r"))) usleep(1000);
        if (fread((char*)all + bytes * (size_t)pe, 1, bytes, file) != bytes) return 3;
        fclose(file);
    }
    ++files->round;
    return 0;
}

static int barrier(void* user) {
    char all[1024];
    return allgather("x", 1, all, user);
}

static void end(int status, const char* sentence, void* user) {
    fprintf(stderr, "abort of PE %d: %d, %s\n", ((struct files*)user)->pe, status, sentence);
}

int main(int argc, char** argv) {
    if (argc < 4) return 64;
    const char* way = argc > 4 ? argv[4] : "";
    struct files files = {argv[1], atoi(argv[2]), atoi(argv[3]), 0, strcmp(way, "fail") == 0};
    const shmemx_callbacks_t callbacks = {strcmp(way, "no allgather") == 0 ? NULL : allgather, barrier, end,
                                          &files};
    if (shmemx_init_callbacks(files.pe, files.n, &callbacks) != 0) {
        printf("no job: %s\n", shmemx_last_error());
        return 3;
    }
    const int me = shmem_my_pe(), n = shmem_n_pes();
    if (strcmp(way, "abort") == 0) {
        if (me == 0) shmem_global_exit(5);
        shmem_long_wait_until(&word, SHMEM_CMP_EQ, 1);
    }
    shmem_long_atomic_add(&word, me + 1, (me + 1) % n);
    shmem_barrier_all();
    const int right = me == files.pe && n == files.n && word == (me + n - 1) % n + 1;
    const int again = shmemx_init_callbacks(files.pe, files.n, &callbacks);
    shmem_finalize();
    printf("%s: PE %d of %d\n", right && again != 0 ? "right" : "WRONG", me, n);
    return right && again != 0 ? 0 : 1;
}
