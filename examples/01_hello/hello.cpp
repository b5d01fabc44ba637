// Hello: every PE prints its number.
#include <atoll/atoll.hpp>

#include <cstdio>

int main() {
    atoll::init();
    std::printf("Hello from PE %d of %d\n", atoll::my_pe(), atoll::n_pes());
    atoll::finalize();
}
