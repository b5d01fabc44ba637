/* Set-up, exit and queries: counted, repeated after the last finalize, and at any time. */
#include <shmemx.h>

#include "check.h"

static shmem_team_t team = SHMEM_TEAM_WORLD; /* handles may appear in static initialisers */
static shmem_ctx_t context = SHMEM_CTX_DEFAULT;
static long counter;

static int initialized(void) {
    int answer = -1;
    shmem_query_initialized(&answer);
    return answer;
}

static void queries(void) {
    int major = 0, minor = 0, level = -1;
    char name[SHMEM_MAX_NAME_LEN];
    shmem_info_get_version(&major, &minor);
    shmem_info_get_name(name);
    CHECK(shmem_init_thread(SHMEM_THREAD_MULTIPLE + 900, &level) != 0 && level == -1);
    CHECK(strstr(shmemx_last_error(), "requested: ") != NULL);
    CHECK(major == SHMEM_MAJOR_VERSION && minor == SHMEM_MINOR_VERSION && major == 1 && minor == 6);
    CHECK(strcmp(name, SHMEM_VENDOR_STRING "") == 0);
    shmem_query_thread(&level);
    CHECK(level >= SHMEM_THREAD_SINGLE && level <= SHMEM_THREAD_MULTIPLE);
    CHECK(shmem_my_pe() >= 0 && shmem_my_pe() < shmem_n_pes());
    CHECK(_my_pe() == shmem_my_pe() && _num_pes() == shmem_n_pes());
    CHECK(shmem_team_n_pes(team) == shmem_n_pes());
    CHECK(shmem_pe_accessible(shmem_n_pes() - 1) == 1);
    CHECK(shmem_pe_accessible(shmem_n_pes()) == 0 && shmem_pe_accessible(-1) == 0);
    shmem_pcontrol(1);
    shmem_pcontrol(0, 1, 2);
}

static void use(void) {
    const int next = (shmem_my_pe() + 1) % shmem_n_pes();
    counter = 0;
    long* word = shmem_calloc(1, sizeof *word);
    CHECK(word != NULL);
    shmem_ctx_long_atomic_add(context, &counter, 3, next);
    shmem_long_atomic_add(word, 4, next);
    shmem_barrier_all();
    CHECK(counter == 3 && *word == 4);
}

int main(void) {
    CHECK(!initialized());
    for (int round = 0; round < 4; ++round) {
        int provided = -1;
        if (round % 2) {
            shmem_init();
        } else {
            const int requested = round == 0 ? SHMEM_THREAD_FUNNELED : SHMEM_THREAD_MULTIPLE;
            CHECK(shmem_init_thread(requested, &provided) == 0 && provided == requested);
            shmem_query_thread(&provided);
            CHECK(provided == requested);
        }
        CHECK(initialized());
        shmem_init();
        shmem_finalize();
        CHECK(initialized());
        queries();
        use();
        if (round == 2) { /* the library's end destroys the rest */
            shmem_team_t left;
            shmem_ctx_t ctx;
            const shmem_team_config_t config = {2};
            CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, shmem_n_pes(), &config,
                                           SHMEM_TEAM_NUM_CONTEXTS, &left) == 0);
            CHECK(shmem_team_create_ctx(left, 0, &ctx) == 0);
        }
        shmem_finalize();
        CHECK(!initialized());
    }
    return 0;
}
