#include "common/able_time.hpp"

#include "common/clock.hpp"

#include <fstream>
#include <string>

namespace atl::common {

double coreless_seconds(int pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/schedstat");
    double ran_ns = 0, waited_ns = 0;
    file >> ran_ns >> waited_ns;
    return waited_ns * 1e-9;
}

double able_seconds(int pid) { return static_cast<double>(now_ns()) * 1e-9 - coreless_seconds(pid); }

}  // namespace atl::common
