// Waits and tests for many words, by up to 32 threads in lockstep (`Lanes`): a warp of a GPU, or one thread
// of the host. Each checks every size()-th word. `ballot(b)` returns the lanes that passed true; bit i is
// lane i's.
#pragma once

#include "atoll/detail/many_words.hpp"
#include "atoll/device/wait.hpp"
#include "gpu/cuda/kernels/polls.hpp"

namespace atl::kernels {

namespace bits {
ATOLL_ANYWHERE inline unsigned count(unsigned bits) {
#if defined(__CUDA_ARCH__)
    return static_cast<unsigned>(__popc(bits));
#else
    return static_cast<unsigned>(__builtin_popcount(bits));
#endif
}
/// The index of the lowest set bit; `bits` is not 0.
ATOLL_ANYWHERE inline unsigned lowest(unsigned bits) { return count((bits & (0 - bits)) - 1); }
}  // namespace bits

/// A single thread of a PE.
struct OneLane {
    ATOLL_ANYWHERE unsigned rank() const { return 0; }
    ATOLL_ANYWHERE unsigned size() const { return 1; }
    ATOLL_ANYWHERE unsigned ballot(bool mine) const { return mine ? 1 : 0; }
};

template <class Lanes> class ManyPolls {
  public:
    ATOLL_ANYWHERE ManyPolls(const detail::ManyWords& asked, Lanes lanes) : asked_(asked), lanes_(lanes) {}

    /// Each lane waits for its words one after another, so a word that matched once counts.
    ATOLL_ANYWHERE void wait_all(const device::Team& team, const device::detail::Call& call,
                                 device::Values values) const {
        for (std::uint64_t i = lanes_.rank(); i < asked_.n; i += lanes_.size())
            if (counts(i))
                device::detail::spin(
                    team, [&] { return holds(i); }, [&] { return report(team, call, values, i); });
    }
    ATOLL_ANYWHERE bool all() const {
        for (std::uint64_t first = 0; first < asked_.n; first += lanes_.size()) {
            const std::uint64_t i = first + lanes_.rank();
            if (lanes_.ballot(i < asked_.n && counts(i) && !holds(i)) != 0) return false;
        }
        return true;
    }
    /// The lowest index that matches, or -1. `left` is set to true if a word was checked that is not skipped.
    ATOLL_ANYWHERE std::int64_t any(bool& left) const {
        left = false;
        for (std::uint64_t first = 0; first < asked_.n; first += lanes_.size()) {
            const std::uint64_t i = first + lanes_.rank();
            const bool counted = i < asked_.n && counts(i);
            left |= lanes_.ballot(counted) != 0;
            const unsigned met = lanes_.ballot(counted && holds(i));
            if (met != 0) return static_cast<std::int64_t>(first + bits::lowest(met));
        }
        return -1;
    }
    /// Writes all matching indices in order after the first word of `out`; returns their number.
    ATOLL_ANYWHERE std::int64_t some(bool& left) const {
        std::int64_t found = 0;
        left = false;
        for (std::uint64_t first = 0; first < asked_.n; first += lanes_.size()) {
            const std::uint64_t i = first + lanes_.rank();
            const bool counted = i < asked_.n && counts(i);
            left |= lanes_.ballot(counted) != 0;
            const bool mine = counted && holds(i);
            const unsigned met = lanes_.ballot(mine);
            const unsigned before = met & ((1u << lanes_.rank()) - 1);
            if (mine) asked_.out[1 + found + bits::count(before)] = static_cast<std::int64_t>(i);
            found += bits::count(met);
        }
        return found;
    }
    /// Repeats `once(left)` until it finds a word or no word counts; returns its last result.
    template <class Once>
    ATOLL_ANYWHERE std::int64_t until(const device::Team& team, const device::detail::Call& call,
                                      device::Values values, std::int64_t nothing, Once once) const {
        // One pass costs as much as this many loads of a single word.
        const std::uint64_t rounds = asked_.n / lanes_.size() + 1;
        const auto step = static_cast<unsigned>(rounds < device::detail::polls_between_checks
                                                    ? rounds
                                                    : std::uint64_t{device::detail::polls_between_checks});
        unsigned polls = 0;
        unsigned long long since = 0;
        for (bool left = false;;) {
            const std::int64_t found = once(left);
            if (found != nothing || !left) return found;
            device::detail::rest(polls);
            polls += step;
            if (polls < device::detail::polls_between_checks) continue;
            polls = 0;
            since = device::detail::check_job(team.control, report(team, call, values, first()), since);
        }
    }

  private:
    ATOLL_ANYWHERE bool counts(std::uint64_t i) const { return !asked_.status || asked_.status[i] == 0; }
    ATOLL_ANYWHERE const char* word(std::uint64_t i) const {
        return static_cast<const char*>(asked_.words) + i * bytes();
    }
    ATOLL_ANYWHERE unsigned bytes() const {
        switch (asked_.type) {
            case DType::int8:
            case DType::uint8:
                return 1;
            case DType::int16:
            case DType::uint16:
                return 2;
            case DType::int32:
            case DType::uint32:
                return 4;
            default:
                return 8;
        }
    }
    template <class T> ATOLL_ANYWHERE std::uint64_t value_of(std::uint64_t i) const {
        return static_cast<std::uint64_t>(static_cast<const T*>(asked_.values)[i]);
    }
    ATOLL_ANYWHERE std::uint64_t expected(std::uint64_t i) const {
        if (!asked_.values) return asked_.value;
        switch (asked_.type) {
            case DType::int8:
                return value_of<signed char>(i);
            case DType::uint8:
                return value_of<unsigned char>(i);
            case DType::int16:
                return value_of<short>(i);
            case DType::uint16:
                return value_of<unsigned short>(i);
            case DType::int32:
                return value_of<int>(i);
            case DType::uint32:
                return value_of<unsigned>(i);
            default:
                return value_of<std::uint64_t>(i);
        }
    }
    ATOLL_ANYWHERE bool holds(std::uint64_t i) const {
        return kernels::holds(poll(word(i), asked_.type), asked_.compare, expected(i), asked_.type);
    }
    /// The first word that counts, for messages.
    ATOLL_ANYWHERE std::uint64_t first() const {
        std::uint64_t i = 0;
        while (i + 1 < asked_.n && !counts(i)) ++i;
        return i;
    }
    ATOLL_ANYWHERE device::Report report(const device::Team& team, const device::detail::Call& call,
                                         device::Values values, std::uint64_t i) const {
        device::Report what = device::detail::waiting(team.control, call, word(i));
        what.subject = device::Subject::word;
        what.compare = asked_.compare;
        what.values = values;
        what.word_bytes = static_cast<unsigned char>(bytes());
        what.expected = expected(i);
        what.found = poll(word(i), asked_.type);
        return what;
    }
    const detail::ManyWords& asked_;
    Lanes lanes_;
};

/// `values` is the type of the words in reports. All lanes call it; the first writes the result.
template <class Lanes>
ATOLL_ANYWHERE void poll_many(const device::Team& team, const detail::ManyWords& asked,
                              device::Operation operation, device::Values values, Lanes lanes) {
    const ManyPolls<Lanes> polls(asked, lanes);
    const device::detail::Call call{operation, 0, 0};
    if (asked.kind == detail::Many::all && asked.waits) return polls.wait_all(team, call, values);
    bool left = false;
    std::int64_t found = 0;
    if (asked.kind == detail::Many::all)
        found = polls.all() ? 1 : 0;
    else if (asked.kind == detail::Many::any)
        found = asked.waits ? polls.until(team, call, values, -1, [&](bool& in) { return polls.any(in); })
                            : polls.any(left);
    else
        found = asked.waits ? polls.until(team, call, values, 0, [&](bool& in) { return polls.some(in); })
                            : polls.some(left);
    if (lanes.rank() == 0) *asked.out = found;
}

}  // namespace atl::kernels
