#include "collective/symmetric/symmetric.hpp"

#include "atoll/detail/memory_ops.hpp"
#include "atoll/error.hpp"
#include "bootstrap/deadline.hpp"
#include "common/clock.hpp"
#include "common/machine.hpp"
#include "common/text.hpp"

#include <algorithm>
#include <cstring>
#include <sstream>
#include <utility>

namespace atl::symmetric {
namespace {

constexpr int many_spins = 400, few_spins = 10;
/// A program may write to a pad itself, without waking the process that waits for it.
constexpr std::uint64_t longest_nap_ns = 1'000'000;
constexpr std::uint64_t check_interval_ns = 20'000'000;
constexpr int rows_beside_channels = 2;

using memory::BlockHold;
using memory::ProcessHeap;

int channels_of(std::size_t pad_bytes, int members) {
    return std::max(static_cast<int>(pad_bytes / (sizeof(std::uint32_t) * std::size_t(members))), 1);
}

struct BlockAddress {
    std::size_t offset = 0, bytes = 0, pad_bytes = 0, words_offset = 0;
    std::string heap;
};

BlockAddress parse_block(const std::string& text) {
    BlockAddress block;
    std::istringstream in(text);
    in >> block.offset >> block.bytes >> block.pad_bytes >> block.words_offset;
    if (in) std::getline(in >> std::ws, block.heap);
    if (!in)
        throw Error(ErrorCode::bootstrap, "\"" + text + "\" does not describe a block of symmetric memory.");
    return block;
}

}  // namespace

// ---- Offer

Offer::Offer(const void* address, int members) {
    ProcessHeap* const heap = ProcessHeap::existing();
    const auto found = heap ? heap->find(address) : std::nullopt;
    if (!found)
        throw Error(ErrorCode::not_symmetric, "The memory at " + common::address_text(address) +
                                                  " is not in a block of this process's symmetric memory.");
    block_ = *found;
    block_hold_ = BlockHold(heap->view(), block_.offset);
    const auto rows =
        static_cast<std::size_t>(channels_of(block_.pad_bytes, members)) + std::size_t{rows_beside_channels};
    words_ = heap->allocate(rows * std::size_t(members) * sizeof(std::uint32_t), 0);
    std::memset(heap->at(words_.offset), 0, words_.bytes);
    words_hold_ = BlockHold(heap->view(), words_.offset);
    heap->free(words_.offset);  // takes effect once words_hold_ ends
}

Offer::~Offer() {
    // Another member may have the text and take up the blocks later.
    block_hold_.abandon();
    words_hold_.abandon();
}

std::string Offer::text() const {
    std::ostringstream text;
    text << block_.offset << ' ' << block_.bytes << ' ' << block_.pad_bytes << ' ' << words_.offset << ' '
         << ProcessHeap::mine().view()->address();
    return text.str();
}

// ---- Symmetric

Symmetric::Symmetric(Offer offer, Membership membership, const Bounds& bounds)
    : membership_(std::move(membership)),
      bytes_(offer.block_.bytes),
      pad_bytes_(offer.block_.pad_bytes),
      channels_(channels_of(pad_bytes_, static_cast<int>(membership_.texts.size()))),
      spins_(static_cast<int>(membership_.texts.size()) > common::usable_cpus() ? few_spins : many_spins),
      epochs_(static_cast<std::size_t>(channels_) + std::size_t{rows_beside_channels}),
      taken_(membership_.texts.size()) {
    std::vector<BlockAddress> blocks;
    for (const std::string& text : membership_.texts) blocks.push_back(parse_block(text));
    for (std::size_t i = 0; i < blocks.size(); ++i)
        if (blocks[i].bytes != blocks[0].bytes || blocks[i].pad_bytes != blocks[0].pad_bytes) {
            // All members find this, so none takes up the blocks.
            offer.block_hold_ = {};
            offer.words_hold_ = {};
            throw Error(ErrorCode::shape_mismatch,
                        "The symmetric tensors of a rendezvous" + membership_.label +
                            " must have equal sizes: " + name(0) + " has " + std::to_string(blocks[0].bytes) +
                            " bytes and a signal pad of " + std::to_string(blocks[0].pad_bytes) + ", " +
                            name(static_cast<int>(i)) + " has " + std::to_string(blocks[i].bytes) + " and " +
                            std::to_string(blocks[i].pad_bytes) + ". Allocate alike on all ranks.");
        }
    for (const BlockAddress& block : blocks) {
        const auto heap = memory::HeapView::of(block.heap);
        if (!heap->contains(heap->base() + block.offset, block.bytes))
            throw Error(ErrorCode::bootstrap, "A rank described a block outside its symmetric memory.");
        members_.push_back({BlockHold(heap, block.offset), BlockHold(heap, block.words_offset)});
    }
    // No member returns, and may then free its block, before all hold it.
    meet(own_row(), "rendezvous", bounds);
    offer.block_hold_ = {};
    offer.words_hold_ = {};
}

char* Symmetric::pad(int member) const { return data(member) - memory::pad_distance(pad_bytes_); }

std::string Symmetric::name(int member) const {
    const auto& names = membership_.names;
    return "rank " + std::to_string(names.empty() ? member : names[std::size_t(member)]);
}

void Symmetric::check_member(int member, const char* operation) const {
    if (member < 0 || member >= n())
        throw Error(ErrorCode::pe, std::string(operation) + " with rank " + std::to_string(member) +
                                       membership_.label + ", which has the ranks 0 to " +
                                       std::to_string(n() - 1) + ".");
}

void Symmetric::check_channel(int channel, const char* operation) const {
    if (channel < 0 || channel >= channels_)
        throw Error(ErrorCode::invalid_argument,
                    std::string(operation) + " on channel " + std::to_string(channel) + ": a signal pad of " +
                        std::to_string(pad_bytes_) + " bytes has the channels 0 to " +
                        std::to_string(channels_ - 1) + " for " + std::to_string(n()) +
                        " ranks. Raise it by set_signal_pad_size before the tensor is made.");
}

void Symmetric::refuse_if_broken() const {
    if (!broken_.empty())
        throw Error(ErrorCode::pe_died,
                    "This symmetric memory is unusable: " + broken_ + " Make new tensors for a new group.");
}

Symmetric::Word& Symmetric::word(int to, int row, int from) const {
    auto* const words = reinterpret_cast<Word*>(at(to).words.data());
    return words[std::size_t(row) * members_.size() + std::size_t(from)];
}

Symmetric::Word& Symmetric::signal_word(int to, int channel, int from) const {
    auto* const words = reinterpret_cast<Word*>(pad(to));
    return words[std::size_t(channel) * members_.size() + std::size_t(from)];
}

// ---- waiting

template <class Ready>
void Symmetric::wait(int member, Ready&& ready, const std::string& operation, const Bounds& bounds,
                     std::uint64_t& begin) {
    for (int i = 0; i < spins_; ++i) {
        if (ready()) return;
        detail::cpu_pause();
    }
    std::uint64_t now = common::now_ns(), next_check = now;
    if (begin == 0) begin = now;
    common::Bell& bell = at(rank()).words.heap().bell();
    for (; !ready(); now = common::now_ns()) {
        if (bounds.timeout_s > 0 && double(now - begin) > bounds.timeout_s * 1e9)
            fail(member, operation, bounds.timeout_s);
        if (now >= next_check) {
            next_check = now + check_interval_ns;
            if (at(member).block.heap().has_ended() && !ready()) fail(member, operation, 0);
            if (bounds.interrupted) {
                try {
                    bounds.interrupted();
                } catch (...) {
                    broken_ = operation + " on " + name(rank()) + " was interrupted.";
                    throw;
                }
            }
        }
        bool over = false;
        bell.sleep(longest_nap_ns, [&] { return over = ready(); });
        if (over) return;
    }
}

void Symmetric::fail(int member, const std::string& operation, double timeout_s) {
    const std::string what = operation + " on symmetric memory" + membership_.label + " on " + name(rank());
    if (timeout_s > 0) {
        broken_ = "Timed out after " + bootstrap::seconds_text(timeout_s) + " in " + what + "; waiting for " +
                  name(member) + ".";
        throw Error(ErrorCode::timeout, broken_);
    }
    broken_ = name(member) + " (process " + std::to_string(at(member).block.heap().process()) +
              ") ended, so " + what + " cannot end.";
    throw Error(ErrorCode::pe_died, broken_);
}

void Symmetric::meet(int row, const std::string& operation, const Bounds& bounds) {
    const std::uint32_t epoch = ++epochs_[std::size_t(row)];
    for (int i = 0; i < n(); ++i) {
        if (i == rank()) continue;
        word(i, row, rank()).store(epoch, std::memory_order_release);
        at(i).words.heap().bell().ring();
    }
    std::uint64_t begin = 0;
    for (int i = 0; i < n(); ++i) {
        if (i == rank()) continue;
        const Word& of = word(rank(), row, i);
        const auto is_there = [&] {
            return static_cast<std::int32_t>(of.load(std::memory_order_acquire) - epoch) >= 0;
        };
        if (!is_there()) wait(i, is_there, operation, bounds, begin);
    }
}

void Symmetric::barrier(int channel, const Bounds& bounds) {
    check_channel(channel, "barrier");
    refuse_if_broken();
    meet(channel, "barrier", bounds);
}

void Symmetric::put_signal(int member, int channel, const Bounds& bounds) {
    constexpr const char* operation = "put_signal";
    check_member(member, operation);
    check_channel(channel, operation);
    refuse_if_broken();
    Word& of = signal_word(member, channel, rank());
    const auto is_set = [&] {
        std::uint32_t clear = 0;
        return of.compare_exchange_strong(clear, 1, std::memory_order_acq_rel);
    };
    if (!is_set()) wait_once(member, is_set, "put_signal, whose last signal was not taken,", bounds);
    at(member).block.heap().bell().ring();
}

void Symmetric::wait_signal(int member, int channel, const Bounds& bounds) {
    constexpr const char* operation = "wait_signal";
    check_member(member, operation);
    check_channel(channel, operation);
    refuse_if_broken();
    Word& of = signal_word(rank(), channel, member);
    const auto is_taken = [&] {
        std::uint32_t set = 1;
        return of.compare_exchange_strong(set, 0, std::memory_order_acq_rel);
    };
    if (!is_taken()) wait_once(member, is_taken, operation, bounds);
    at(member).block.heap().bell().ring();
}

void Symmetric::notify(int member) {
    check_member(member, "signal");
    refuse_if_broken();
    word(member, notify_row(), rank()).fetch_add(1, std::memory_order_acq_rel);
    at(member).block.heap().bell().ring();
}

void Symmetric::await(int member, const Bounds& bounds) {
    constexpr const char* operation = "wait_signal";
    check_member(member, operation);
    refuse_if_broken();
    std::uint32_t& taken = taken_[std::size_t(member)];
    const Word& of = word(rank(), notify_row(), member);
    const auto has_more = [&] { return of.load(std::memory_order_acquire) != taken; };
    if (!has_more()) wait_once(member, has_more, operation, bounds);
    ++taken;
}

}  // namespace atl::symmetric
