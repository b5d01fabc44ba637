// Axis: the distribution of one axis of a distributed array; the same arithmetic as atoll.arrays of Python.
#pragma once

#include "atoll/error.hpp"
#include "atoll/view.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace atl {

/// The distribution of one axis.
class Distribution {
  public:
    enum class Kind : unsigned char { block, cyclic, whole, bounds, replicated };
    /// One range of indices a part; sizes differ by at most one.
    Distribution() = default;
    static Distribution block() { return {}; }
    /// Blocks of `size` indices, dealt to the parts in turn.
    static Distribution cyclic(std::ptrdiff_t size = 1) { return {Kind::cyclic, size, {}}; }
    /// Not distributed.
    static Distribution whole() { return {Kind::whole, 1, {}}; }
    /// Part i owns the indices bounds[i] to bounds[i + 1].
    static Distribution bounds(std::vector<std::ptrdiff_t> bounds) {
        return {Kind::bounds, 1, std::move(bounds)};
    }
    /// Not distributed, but the grid may have several parts: each has a copy of the whole axis.
    static Distribution replicated() { return {Kind::replicated, 1, {}}; }

    Kind kind() const noexcept { return kind_; }
    std::ptrdiff_t size() const noexcept { return size_; }
    const std::vector<std::ptrdiff_t>& ends() const noexcept { return ends_; }
    /// The number of parts that the distribution itself fixes; 0 if it takes any.
    std::ptrdiff_t fixed_parts() const {
        if (kind_ == Kind::bounds) return static_cast<std::ptrdiff_t>(ends_.size()) - 1;
        return kind_ == Kind::whole ? 1 : 0;
    }
    /// The distribution as text, such as "cyclic(16)" or "bounds({0, 10, 25})".
    std::string text() const {
        std::string listed;
        for (const std::ptrdiff_t end : ends_) listed += (listed.empty() ? "" : ", ") + std::to_string(end);
        switch (kind_) {
            case Kind::block:
                return "block";
            case Kind::cyclic:
                return "cyclic(" + std::to_string(size_) + ")";
            case Kind::whole:
                return "whole";
            case Kind::bounds:
                return "bounds({" + listed + "})";
            case Kind::replicated:
                return "replicated";
        }
        return {};
    }

  private:
    Distribution(Kind kind, std::ptrdiff_t size, std::vector<std::ptrdiff_t> ends)
        : kind_(kind), size_(size), ends_(std::move(ends)) {}
    Kind kind_ = Kind::block;
    std::ptrdiff_t size_ = 1;
    std::vector<std::ptrdiff_t> ends_;
};

namespace detail {

[[noreturn]] inline void refuse(ErrorCode code, const std::string& sentence) { throw Error(code, sentence); }

/// Adds a number to a fingerprint: a step of FNV-1a by whole words.
inline void mix(std::uint64_t& fingerprint, std::ptrdiff_t number) {
    fingerprint = (fingerprint ^ static_cast<std::uint64_t>(number)) * 0x100000001b3U;
    fingerprint ^= fingerprint >> 29U;
}

/// A part's share of a range: `local` within the part, `target` within the range.
struct Segment {
    Range local, target;
};

/// `length` indices over `parts` parts. With bounds, part i owns bounds[i] to bounds[i + 1]. Otherwise blocks
/// of `block` indices are dealt in turn. With copies each part has all indices; bounds share them evenly.
class Axis {
  public:
    Axis() = default;
    /// Throws Error(invalid_argument) if the distribution does not fit.
    Axis(std::ptrdiff_t length, std::ptrdiff_t parts, const Distribution& dist)
        : length_(length),
          parts_(parts),
          block_(dist.size()),
          has_copies_(dist.kind() == Distribution::Kind::replicated && parts > 1) {
        if (dist.kind() == Distribution::Kind::cyclic && parts > 1) {
            if (block_ < 1)
                refuse(ErrorCode::invalid_argument,
                       "cyclic(" + std::to_string(block_) + "): the size of a block must be 1 or more");
            return;
        }
        bounds_ = dist.kind() == Distribution::Kind::bounds ? dist.ends() : even(length, parts);
        check_bounds();
    }

    std::ptrdiff_t length() const noexcept { return length_; }
    std::ptrdiff_t parts() const noexcept { return parts_; }
    bool is_contiguous() const noexcept { return !bounds_.empty(); }
    /// True if several parts have the same indices: each has all.
    bool has_copies() const noexcept { return has_copies_; }
    friend bool operator==(const Axis&, const Axis&) = default;

    /// The part that owns an index; of copies the first.
    std::ptrdiff_t owner(std::ptrdiff_t index) const {
        if (!is_contiguous()) return index / block_ % parts_;
        if (parts_ == 1 || has_copies_) return 0;
        return std::upper_bound(bounds_.begin() + 1, bounds_.end(), index) - bounds_.begin() - 1;
    }
    /// The position of an index in the part that owns it.
    std::ptrdiff_t local(std::ptrdiff_t index) const {
        if (is_contiguous()) return index - bounds_[static_cast<std::size_t>(owner(index))];
        return index / (block_ * parts_) * block_ + index % block_;
    }
    /// The range of a part; the axis is contiguous.
    Range range(std::ptrdiff_t part) const {
        if (has_copies_) return {0, length_, 1};
        const auto i = static_cast<std::size_t>(part);
        return {bounds_[i], bounds_[i + 1], 1};
    }
    /// The number of indices of a part.
    std::ptrdiff_t extent(std::ptrdiff_t part) const {
        if (is_contiguous()) return range(part).count();
        const std::ptrdiff_t round = block_ * parts_;
        const std::ptrdiff_t rest = length_ % round - part * block_;
        return length_ / round * block_ + std::clamp(rest, std::ptrdiff_t{0}, block_);
    }
    std::ptrdiff_t largest() const {
        std::ptrdiff_t found = 0;
        for (std::ptrdiff_t part = 0; part < parts_; ++part) found = std::max(found, extent(part));
        return found;
    }
    std::ptrdiff_t smallest() const {
        std::ptrdiff_t found = length_;
        for (std::ptrdiff_t part = 0; part < parts_; ++part) found = std::min(found, extent(part));
        return found;
    }
    void add_to(std::uint64_t& fingerprint) const {
        for (const std::ptrdiff_t number : {length_, parts_, block_, std::ptrdiff_t{has_copies_}})
            mix(fingerprint, number);
        for (const std::ptrdiff_t bound : bounds_) mix(fingerprint, bound);
    }
    /// A part's share of a range of global indices.
    std::vector<Segment> segments(std::ptrdiff_t part, const Range& wanted) const {
        std::vector<Segment> found;
        if (is_contiguous())
            add_common(found, range(part), 0, wanted);
        else
            for (std::ptrdiff_t start = part * block_, local = 0; start < std::min(wanted.stop, length_);
                 start += block_ * parts_, local += block_)
                add_common(found, {start, std::min(start + block_, length_), 1}, local, wanted);
        return found;
    }
    /// The indices that a part gives to another array. Copies share them evenly.
    std::vector<Segment> owned(std::ptrdiff_t part) const {
        const Range all{0, length_, 1};
        if (!has_copies_) return segments(part, all);
        const auto i = static_cast<std::size_t>(part);
        std::vector<Segment> found;
        add_common(found, {bounds_[i], bounds_[i + 1], 1}, bounds_[i], all);
        return found;
    }

  private:
    static std::vector<std::ptrdiff_t> even(std::ptrdiff_t length, std::ptrdiff_t parts) {
        std::vector<std::ptrdiff_t> found;
        for (std::ptrdiff_t part = 0; part <= parts; ++part)
            found.push_back(part * (length / parts) + std::min(part, length % parts));
        return found;
    }
    void check_bounds() const {
        if (bounds_.size() >= 2 && bounds_.front() == 0 && bounds_.back() == length_ &&
            std::is_sorted(bounds_.begin(), bounds_.end()))
            return;
        std::string text;
        for (const std::ptrdiff_t bound : bounds_) text += (text.empty() ? "" : ", ") + std::to_string(bound);
        refuse(ErrorCode::invalid_argument, "bounds {" + text + "} do not ascend from 0 to " +
                                                std::to_string(length_) + ", the length of the axis");
    }
    /// Adds the indices of `wanted` in a run of indices that begins at position `local` of its part.
    static void add_common(std::vector<Segment>& found, const Range& run, std::ptrdiff_t local,
                           const Range& wanted) {
        const auto number =
            [&](std::ptrdiff_t index) {  // number of the first index in `wanted` that is not below
                return index <= wanted.start ? 0 : (index - wanted.start + wanted.step - 1) / wanted.step;
            };
        const std::ptrdiff_t first = number(run.start);
        const std::ptrdiff_t stop = std::min(wanted.count(), number(run.stop));
        if (first >= stop) return;
        const std::ptrdiff_t at = local + wanted.start + first * wanted.step - run.start;
        found.push_back({Range::of(at, stop - first, wanted.step), Range::of(first, stop - first)});
    }

    std::ptrdiff_t length_ = 0, parts_ = 1, block_ = 1;
    bool has_copies_ = false;
    std::vector<std::ptrdiff_t> bounds_;
};

}  // namespace detail
}  // namespace atl
