#include "common/memory_watch.hpp"

#include "common/clock.hpp"
#include "common/machine.hpp"

namespace atl::common {

MemoryWatch::MemoryWatch()
    : source_([total = memory_limit_bytes()] {
          return MemoryState{available_memory_bytes(), total};
      }),
      every_ns_(50'000'000) {}

MemoryState MemoryWatch::state() {
    const std::uint64_t now = now_ns();
    if (now >= next_check_ns_) {
        last_ = source_();
        next_check_ns_ = now + every_ns_;
    }
    return last_;
}

}  // namespace atl::common
