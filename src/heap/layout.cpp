#include "heap/layout.hpp"

#include "atoll/error.hpp"
#include "atoll/version.hpp"
#include "common/clock.hpp"
#include "common/futex.hpp"
#include "common/text.hpp"

#include <unistd.h>

#include <bit>
#include <cstdio>
#include <cstring>

namespace atl::heap {

/// The library's memory of one PE: control blocks of teams, staging of large collectives. Sparse, like all of
/// the slot.
constexpr std::size_t least_arena_bytes = std::size_t{64} << 20;

Layout layout_for(std::size_t heap_bytes, std::size_t statics_bytes) {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    Layout layout;
    layout.heap_bytes = (heap_bytes + page - 1) / page * page;
    layout.statics_bytes = (statics_bytes + page - 1) / page * page;
    layout.stride_log2 =
        std::countr_zero(std::bit_ceil(layout.heap_bytes + least_arena_bytes + layout.statics_bytes));
    return layout;
}

static void write_layout(common::BoardHeader& header, const Layout& layout, const std::string& agreed,
                         int pe) {
    header.heap_bytes = layout.heap_bytes;
    header.statics_bytes = layout.statics_bytes;
    header.stride_log2 = static_cast<std::uint32_t>(layout.stride_log2);
    header.layout_pe = pe;
    std::snprintf(header.agreed, sizeof header.agreed, "%s", agreed.c_str());
    std::snprintf(header.release, sizeof header.release, "%s", ATOLL_VERSION);
    header.layout_state.store(2, std::memory_order_release);
    common::futex_wake_all(header.layout_state);
}

static void await_layout(common::BoardHeader& header, double timeout_s) {
    const std::uint64_t start = common::now_ns();
    while (header.layout_state.load(std::memory_order_acquire) != 2) {
        common::futex_wait(header.layout_state, 1, 100'000'000);
        if (timeout_s > 0 && static_cast<double>(common::now_ns() - start) > timeout_s * 1e9)
            throw Error(ErrorCode::bootstrap,
                        "Another PE of this host began to set up the shared memory and did not end; it has "
                        "probably died.");
    }
}

Layout agree_on_layout(const common::BoardView& board, const common::Settings& settings,
                       std::size_t statics_bytes, int pe, int n_pes) {
    const std::size_t wanted = settings.heap_bytes ? settings.heap_bytes : common::default_heap_bytes(n_pes);
    const Layout mine = layout_for(wanted, statics_bytes);
    const std::string agreed = common::agreed_settings(settings);
    common::BoardHeader& header = board.header();
    std::uint32_t nobody = 0;
    if (header.layout_state.compare_exchange_strong(nobody, 1, std::memory_order_acq_rel)) {
        write_layout(header, mine, agreed, pe);
        return mine;
    }
    await_layout(header, settings.init_timeout_s);
    if (std::strncmp(header.release, ATOLL_VERSION, sizeof header.release - 1) != 0)
        throw Error(ErrorCode::bootstrap, "PE " + std::to_string(header.layout_pe) + " runs Atoll " +
                                              header.release + ", PE " + std::to_string(pe) +
                                              " runs " ATOLL_VERSION
                                              "; all PEs of a job must load the same version.");
    if (agreed.compare(0, sizeof header.agreed - 1, header.agreed) != 0)
        throw Error(ErrorCode::settings, "PE " + std::to_string(header.layout_pe) + " runs with " +
                                             header.agreed + ", PE " + std::to_string(pe) + " with " +
                                             agreed + "; set these variables alike for all PEs.");
    if (header.heap_bytes != mine.heap_bytes && settings.heap_bytes)
        throw Error(ErrorCode::settings,
                    "The symmetric heap is " + common::bytes_text(header.heap_bytes) + " on PE " +
                        std::to_string(header.layout_pe) + " and " + common::bytes_text(mine.heap_bytes) +
                        " on PE " + std::to_string(pe) +
                        "; set ATOLL_HEAP_SIZE (or SHMEM_SYMMETRIC_SIZE) alike for all PEs.");
    // Other executables have other statics, which are then not symmetric; the slots are alike all the same.
    return layout_for(header.heap_bytes, header.statics_bytes);
}

}  // namespace atl::heap
