#include "collective/members/segment.hpp"

#include <utility>

namespace atl::requests {
namespace {

constexpr std::size_t page_of_token = 4096;
constexpr const char* purpose = "a group";

std::size_t segment_bytes(int n) { return page_of_token + std::size_t(n) * Area::bytes(n); }

}  // namespace

Segment::Segment(int n, memory::SharedFile file)
    : n_(n), file_(std::move(file)), processes_(std::size_t(n)) {}

std::shared_ptr<Segment> Segment::create(int n) {
    if (n < 1 || n > most_members)
        throw Error(ErrorCode::invalid_argument, "A group of " + std::to_string(n) +
                                                     " members was wanted; it can have 1 to " +
                                                     std::to_string(most_members) + ".");
    return std::shared_ptr<Segment>(new Segment(n, memory::SharedFile::create(segment_bytes(n), purpose)));
}

std::shared_ptr<Segment> Segment::join(const std::string& address, int n) {
    memory::SharedFile file = memory::SharedFile::join(address, purpose);
    if (file.bytes() != segment_bytes(n))
        throw Error(ErrorCode::bootstrap, "The group's memory has the address \"" + address +
                                              "\", which is not one for " + std::to_string(n) + " members.");
    return std::shared_ptr<Segment>(new Segment(n, std::move(file)));
}

char* Segment::area(int member) const {
    return file_.base() + page_of_token + std::size_t(member) * Area::bytes(n_);
}

std::string Segment::end_of(int member) {
    const MemberState& state = Area(area(member), n_).head().state;
    const auto is_joined = [&] {
        return state.stage.load(std::memory_order_acquire) == static_cast<std::uint32_t>(Stage::joined);
    };
    if (!is_joined()) return {};
    common::ProcessWatch& watch = processes_[std::size_t(member)];
    if (watch.process() == 0) watch = common::ProcessWatch(state.process);
    // It may have left in the meantime.
    if (!watch.has_ended() || !is_joined()) return {};
    return "(process " + std::to_string(state.process) + ") ended without leaving the group";
}

}  // namespace atl::requests
