/* Contexts: their team, their number, and the use of the invalid one. */
#include "check.h"

static long words[8];

static void invalid_is_nothing(void) {
    const shmem_ctx_session_config_t session = {10};
    shmem_team_t team = SHMEM_TEAM_WORLD;
    const int pes[1] = {0};
    shmem_ctx_quiet(SHMEM_CTX_INVALID);
    shmem_ctx_fence(SHMEM_CTX_INVALID);
    shmem_ctx_pe_quiet(SHMEM_CTX_INVALID, pes, 1);
    shmem_ctx_destroy(SHMEM_CTX_INVALID);
    shmem_ctx_session_start(SHMEM_CTX_INVALID, SHMEM_CTX_SESSION_BATCH, &session,
                            SHMEM_CTX_SESSION_TOTAL_OPS);
    shmem_ctx_session_stop(SHMEM_CTX_INVALID);
    CHECK(shmem_ctx_get_team(SHMEM_CTX_INVALID, &team) != 0 && team == SHMEM_TEAM_INVALID);
    CHECK(shmem_ctx_get_team(SHMEM_CTX_DEFAULT, &team) == 0 && team == SHMEM_TEAM_WORLD);
}

static void as_many_as_asked_for(void) {
    shmem_team_t none, two;
    shmem_ctx_t a, b, c = SHMEM_CTX_DEFAULT;
    const shmem_team_config_t config = {2};
    const int n = shmem_n_pes();
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, n, NULL, 0, &none) == 0);
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, n, &config, SHMEM_TEAM_NUM_CONTEXTS, &two) == 0);
    for (int i = 0; i < 20; ++i) /* the default configuration sets no limit */
        CHECK(shmem_team_create_ctx(none, 0, &c) == 0 && c != SHMEM_CTX_INVALID);
    c = SHMEM_CTX_DEFAULT;
    CHECK(shmem_team_create_ctx(SHMEM_TEAM_INVALID, 0, &c) != 0 && c == SHMEM_CTX_INVALID);
    CHECK(shmem_team_create_ctx(two, 0, &a) == 0 && shmem_team_create_ctx(two, 0, &b) == 0);
    CHECK(shmem_team_create_ctx(two, 0, &c) != 0 && c == SHMEM_CTX_INVALID);
    shmem_ctx_destroy(b);
    CHECK(shmem_team_create_ctx(two, SHMEM_CTX_PRIVATE, &c) == 0);
    shmem_team_t team;
    CHECK(shmem_ctx_get_team(c, &team) == 0 && team == two);
    shmem_ctx_destroy(c);
    shmem_team_destroy(two);  /* also destroys its context `a` */
    shmem_team_destroy(none); /* also destroys its 20 contexts */
}

static void numbers_are_the_teams(void) {
    const int n = shmem_n_pes(), me = shmem_my_pe();
    shmem_team_t backwards;
    shmem_ctx_t ctx;
    const shmem_team_config_t config = {1};
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, n - 1, -1, n, &config, SHMEM_TEAM_NUM_CONTEXTS,
                                   &backwards) == 0);
    CHECK(shmem_team_create_ctx(backwards, 0, &ctx) == 0);
    const int mirror = n - 1 - me;
    memset(words, 0, sizeof words);
    static uint64_t signal;
    signal = 0;
    shmem_barrier_all();
    shmem_ctx_long_p(ctx, &words[0], me + 1, me); /* team PE `me` is the mirrored one */
    shmem_ctx_long_atomic_add(ctx, &words[1], me + 1, me);
    const long value = me + 1;
    shmem_ctx_long_put_signal(ctx, &words[2], &value, 1, &signal, (uint64_t)me + 1, SHMEM_SIGNAL_ADD, me);
    const int pes[1] = {me};
    shmem_ctx_pe_quiet(ctx, pes, 1);
    shmem_pe_quiet(pes, 1);
    shmem_ctx_fence(ctx);
    shmem_ctx_quiet(ctx);
    CHECK(shmem_signal_wait_until(&signal, SHMEM_CMP_GE, 1) == (uint64_t)mirror + 1);
    CHECK(words[2] == mirror + 1);
    shmem_barrier_all();
    CHECK(words[0] == mirror + 1 && words[1] == mirror + 1);
    CHECK(shmem_ctx_long_g(ctx, &words[0], me) == me + 1);
    CHECK(shmem_team_ptr(backwards, words, me) == shmem_ptr(words, mirror));
    shmem_ctx_destroy(ctx);
    shmem_team_destroy(backwards);
}

static void kinds_and_sessions(void) {
    const long kinds[] = {0, SHMEM_CTX_PRIVATE, SHMEM_CTX_SERIALIZED, SHMEM_CTX_NOSTORE,
                          SHMEM_CTX_PRIVATE | SHMEM_CTX_NOSTORE};
    const shmem_ctx_session_config_t session = {100};
    const int next = (shmem_my_pe() + 1) % shmem_n_pes();
    for (size_t kind = 0; kind < sizeof kinds / sizeof kinds[0]; ++kind) {
        shmem_ctx_t ctx;
        CHECK(shmem_ctx_create(kinds[kind], &ctx) == 0);
        words[3] = 0;
        shmem_barrier_all();
        shmem_ctx_session_start(ctx, 0, NULL, 0);
        shmem_ctx_session_start(ctx, SHMEM_CTX_SESSION_BATCH, &session, SHMEM_CTX_SESSION_TOTAL_OPS);
        for (int i = 0; i < 100; ++i) shmem_ctx_long_atomic_inc(ctx, &words[3], next);
        shmem_ctx_session_stop(ctx);
        shmem_ctx_session_stop(ctx);
        shmem_ctx_destroy(ctx); /* quiets */
        shmem_barrier_all();
        CHECK(words[3] == 100);
        shmem_barrier_all();
    }
    shmem_ctx_session_start(SHMEM_CTX_DEFAULT, SHMEM_CTX_SESSION_BATCH, NULL, 0);
    shmem_ctx_session_stop(SHMEM_CTX_DEFAULT);
}

int main(void) {
    shmem_init();
    invalid_is_nothing();
    as_many_as_asked_for();
    numbers_are_the_teams();
    kinds_and_sessions();
    shmem_finalize();
    return 0;
}
