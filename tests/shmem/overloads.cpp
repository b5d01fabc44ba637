// C++: overloads of the typed names, standard streams and containers beside symmetric static objects.
#include <shmem.h>

#include <atomic>
#include <complex>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

static std::string text = "a static string that does not fit into itself";
static std::vector<int> numbers = {1, 2, 3};
static std::complex<double> complex_source[2], complex_dest[2];
__extension__ static double _Complex c_complex_source, c_complex_dest;
static double values[4];
static long word;
static volatile long watched;  // declared volatile, as in older programs
static short small;
static std::uint64_t signal_word;

static void check(bool condition, const char* what) {
    if (condition) return;
    std::cerr << "PE " << shmem_my_pe() << ": wrong: " << what << std::endl;
    shmem_global_exit(1);
}
#define CHECK(condition) check(condition, #condition)

int main() {
    std::cout.tie(nullptr);
    shmem_init();
    const int n = shmem_n_pes(), me = shmem_my_pe(), next = (me + 1) % n;
    CHECK(text.size() > 20 && numbers.size() == 3);
    text += " and grows";
    numbers.resize(1000);
    std::ostringstream stream;
    stream << 1.5 << text;
    CHECK(stream.str().substr(0, 3) == "1.5");
    try {
        throw std::runtime_error("thrown");
    } catch (const std::exception& error) {
        CHECK(error.what() == std::string("thrown"));
    }
    shmem_ctx_t ctx = SHMEM_CTX_INVALID;
    CHECK(shmem_ctx_create(0, &ctx) == 0);
    const double source[4] = {1, 2, 3, 4};
    shmem_put(values, source, 4, next);
    shmem_put(ctx, values, source, 4, next);
    shmem_ctx_quiet(ctx);
    shmem_barrier_all();
    const double* read_only = values;
    CHECK(shmem_g(read_only, next) == 1.0 && shmem_g(ctx, read_only + 3, next) == 4.0);
    shmem_p(&small, static_cast<short>(me + 1), next);
    shmem_wait_until(&small, SHMEM_CMP_NE, static_cast<short>(0));
    shmem_atomic_add(&word, 2L, next);
    shmem_atomic_inc(ctx, &word, next);
    shmem_ctx_quiet(ctx);
    shmem_barrier_all();
    const long* constant = &word;
    CHECK(shmem_atomic_fetch(constant, next) == 3);
    CHECK(shmem_test(&word, SHMEM_CMP_EQ, 3L) == 1);
    shmem_atomic_add(&watched, 2L, next);
    shmem_atomic_inc(ctx, &watched, next);
    shmem_ctx_quiet(ctx);
    shmem_wait_until(&watched, SHMEM_CMP_EQ, 3);
    CHECK(shmem_test(&watched, SHMEM_CMP_EQ, 3) == 1 && shmem_atomic_fetch(&watched, me) == 3);
    shmem_signal_add(&signal_word, 2, next);
    shmem_signal_add(ctx, &signal_word, 3, next);
    CHECK(shmem_signal_wait_until(&signal_word, SHMEM_CMP_GE, 5) == 5);
    complex_source[0] = {1.0 * me, 1.0};
    CHECK(shmem_sum_reduce(SHMEM_TEAM_WORLD, complex_dest, complex_source, 2) == 0);
    CHECK(complex_dest[0] == std::complex<double>(n * (n - 1) / 2.0, n));
    __real__ c_complex_source = me;
    __imag__ c_complex_source = 1.0;
    CHECK(shmem_sum_reduce(SHMEM_TEAM_WORLD, &c_complex_dest, &c_complex_source, 1) == 0);
    CHECK(__real__ c_complex_dest == n * (n - 1) / 2.0 && __imag__ c_complex_dest == n);
    CHECK(shmem_complexd_prod_reduce(SHMEM_TEAM_WORLD, &c_complex_dest, &c_complex_source, 1) == 0);
    CHECK(shmem_sync(SHMEM_TEAM_WORLD) == 0);
    shmem_ctx_destroy(ctx);
    shmem_finalize();
    std::cout << std::flush;
    return EXIT_SUCCESS;
}
