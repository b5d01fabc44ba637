// C++ as of 11: the C names, the overloads, templates over them, and static objects with constructors.
#include <shmem.h>

#include <complex>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace {

template <typename T> struct Symmetric {
    explicit Symmetric(std::size_t n) : data(static_cast<T*>(shmem_calloc(n, sizeof(T)))) {}
    ~Symmetric() { shmem_free(data); }
    Symmetric(const Symmetric&) = delete;
    Symmetric& operator=(const Symmetric&) = delete;
    T* data;
};

template <typename T> bool ring(const T& value) {
    const int me = shmem_my_pe(), n = shmem_n_pes();
    Symmetric<T> target(2);
    shmem_p(target.data, value, (me + 1) % n);
    shmem_put(SHMEM_CTX_DEFAULT, target.data + 1, &value, 1, (me + 1) % n);
    shmem_barrier_all();
    const bool right = target.data[0] == value && shmem_g(target.data + 1, me) == value;
    shmem_barrier_all();
    return right;
}

struct Named {
    std::string name = "constructed before main, and longer than its small buffer";
    std::vector<int> numbers = std::vector<int>(100, 3);
};
Named named;
long counter;
std::complex<float> terms[1], sums[1];

}  // namespace

int main() {
    shmem_init();
    bool right = named.numbers.size() == 100 && named.name.size() > 30;
    named.name += "!";
    right = right && ring(1) && ring(2L) && ring(3.0) && ring('c') && ring(static_cast<unsigned short>(4)) &&
            ring(5.0f);
    shmem_atomic_add(&counter, 1L, 0);
    terms[0] = std::complex<float>(1, 2);
    right = right && shmem_sum_reduce(SHMEM_TEAM_WORLD, sums, terms, 1) == 0;
    right = right && sums[0] == std::complex<float>(static_cast<float>(shmem_n_pes()),
                                                    2.0f * static_cast<float>(shmem_n_pes()));
    shmem_barrier_all();
    right = right && shmem_long_g(&counter, 0) == shmem_n_pes();
    if (!right) shmem_global_exit(1);
    shmem_finalize();
    return EXIT_SUCCESS;
}
