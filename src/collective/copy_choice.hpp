// Copies by plain or by streamed stores, whichever is faster on this machine.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace atl::collective {

/// Chooses between plain and streamed (non-temporal) stores by the time that pieces took. Streamed stores
/// neither take lines from another core's cache nor read them from memory. On some machines they are five
/// times as fast, on others slower. For one thread at a time.
class CopyChoice {
  public:
    enum Method : std::size_t { plain, streamed };
    struct Piece {
        Method method;
        bool timed;
    };

    /// Pieces are streamed if that takes less than `part` of the time of plain ones.
    explicit CopyChoice(double part = 1) : part_(part) {}

    /// Copies one piece of a larger copy; source and target do not overlap. The next release store makes the
    /// piece visible.
    void copy(char* to, const char* from, std::size_t bytes);

    /// Chooses the stores of the next piece. The first pieces alternate. Later ones use the faster stores,
    /// and now and then the others, which may have become faster.
    Piece next();
    /// Learns from the time of a piece whose `timed` was set.
    void note(Method method, std::size_t bytes, std::uint64_t ns);

  private:
    double part_;
    std::array<double, 2> ns_per_kib_{};  ///< for each Method, smoothed
    std::array<unsigned, 2> tried_{};
    unsigned pieces_ = 0;
};

/// The choices of one member of a team. Each kind of target has its own, since their costs differ.
struct CopyChoices {
    /// From this size on, stores to this PE's own targets are chosen by measured time: caches do not hold
    /// more.
    static constexpr std::size_t own_from_bytes = std::size_t{8} << 20;
    /// From this size on, stores to other PEs' targets are chosen by measured time.
    static constexpr std::size_t others_from_bytes = std::size_t{64} << 10;

    // The other PEs read memory meanwhile. Streamed pieces slow these reads, and the measured times omit
    // that.
    static constexpr double clearly_less = 0.5;

    CopyChoice own, others{clearly_less}, slices{clearly_less};
};

}  // namespace atl::collective
