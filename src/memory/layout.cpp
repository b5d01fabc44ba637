#include "memory/layout.hpp"

#include "atoll/error.hpp"
#include "atoll/version.hpp"
#include "common/clock.hpp"
#include "common/futex.hpp"
#include "common/machine.hpp"
#include "common/text.hpp"
#include "memory/round_up.hpp"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <sstream>

namespace atl::memory {

/// Least size of the library's memory in one PE's slot: control blocks of teams, staging of large
/// collectives. Sparse, like all of the slot.
constexpr std::size_t least_arena_bytes = std::size_t{64} << 20;

Layout layout_for(std::size_t heap_bytes, std::size_t statics_bytes, std::size_t team_bytes) {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    Layout layout;
    layout.heap_bytes = round_up(heap_bytes, page);
    layout.statics_bytes = round_up(statics_bytes, page);
    layout.stride_log2 = std::countr_zero(
        std::bit_ceil(layout.heap_bytes + least_arena_bytes + team_bytes + layout.statics_bytes));
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

namespace {

/// The values that must agree on all PEs of a job.
struct Terms {
    std::string release, agreed;
    std::size_t heap_bytes = 0;
    bool heap_given = false;  ///< by a variable; otherwise the default of the PE's machine
};

void compare(const Terms& first, int first_pe, const Terms& mine, int pe) {
    const std::string one = "PE " + std::to_string(first_pe), other = "PE " + std::to_string(pe);
    if (first.release != mine.release)
        throw Error(ErrorCode::bootstrap, one + " runs Atoll " + first.release + ", " + other + " runs " +
                                              mine.release +
                                              "; all PEs of a job must load the same version.");
    if (first.agreed != mine.agreed)
        throw Error(ErrorCode::settings, one + " runs with " + first.agreed + ", " + other + " with " +
                                             mine.agreed + "; set these variables alike for all PEs.");
    if (first.heap_bytes != mine.heap_bytes && mine.heap_given)
        throw Error(ErrorCode::settings,
                    "The symmetric heap is " + common::bytes_text(first.heap_bytes) + " on " + one + " and " +
                        common::bytes_text(mine.heap_bytes) + " on " + other +
                        "; set ATOLL_HEAP_SIZE (or SHMEM_SYMMETRIC_SIZE) to the same value on all PEs.");
}

/// Team memory in addition to that of the smallest arena.
std::size_t more_team_bytes(const common::Settings& settings) {
    const std::uint64_t usual = common::Settings{}.team_bytes;
    return settings.team_bytes > usual ? settings.team_bytes - usual : 0;
}

Layout my_layout(const common::Settings& settings, std::size_t statics_bytes, int n_pes) {
    return layout_for(settings.heap_bytes ? settings.heap_bytes : common::default_heap_bytes(n_pes),
                      statics_bytes, more_team_bytes(settings));
}

struct Note {
    Terms terms;
    std::size_t statics_bytes = 0, team_bytes = 0;
};

Note read_note(const std::string& text) {
    std::istringstream lines(text);
    Note note;
    std::getline(lines, note.terms.release);
    std::getline(lines, note.terms.agreed);
    lines >> note.terms.heap_bytes >> note.terms.heap_given >> note.statics_bytes >> note.team_bytes;
    return note;
}

}  // namespace

Layout agree_on_layout(const common::BoardView& board, const common::Settings& settings,
                       std::size_t statics_bytes, int pe, int n_pes) {
    const Layout mine = my_layout(settings, statics_bytes, n_pes);
    const std::string agreed = common::agreed_settings(settings);
    common::BoardHeader& header = board.header();
    std::uint32_t unclaimed = 0;
    if (header.layout_state.compare_exchange_strong(unclaimed, 1, std::memory_order_acq_rel)) {
        write_layout(header, mine, agreed, pe);
        return mine;
    }
    await_layout(header, settings.init_timeout_s);
    const std::string fitting = agreed.substr(0, sizeof header.agreed - 1);
    compare({header.release, header.agreed, header.heap_bytes, true}, header.layout_pe,
            {ATOLL_VERSION, fitting, mine.heap_bytes, settings.heap_bytes != 0}, pe);
    // Other executables have other statics, which are then not symmetric. Their slots have the same layout
    // all the same.
    return layout_for(header.heap_bytes, header.statics_bytes, more_team_bytes(settings));
}

std::string layout_note(const common::Settings& settings, std::size_t statics_bytes, int n_pes) {
    const Layout mine = my_layout(settings, statics_bytes, n_pes);
    std::ostringstream text;
    text << ATOLL_VERSION << '\n'
         << common::agreed_settings(settings) << '\n'
         << mine.heap_bytes << ' ' << (settings.heap_bytes != 0) << ' ' << mine.statics_bytes << ' '
         << more_team_bytes(settings) << '\n';
    return text.str();
}

Layout agree_on_layout(const std::vector<std::string>& notes, int pe) {
    Note first = read_note(notes[0]);
    compare(first.terms, 0, read_note(notes[static_cast<std::size_t>(pe)]).terms, pe);
    // Takes the minimum of defaults: hosts differ in memory, and in the number of PEs that share it.
    if (!first.terms.heap_given)
        for (const std::string& note : notes)
            first.terms.heap_bytes = std::min(first.terms.heap_bytes, read_note(note).terms.heap_bytes);
    return layout_for(first.terms.heap_bytes, first.statics_bytes, first.team_bytes);
}

}  // namespace atl::memory
