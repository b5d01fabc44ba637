// Rounds: the collectives of a group as state machines. Only the oldest unfinished one moves.
#pragma once

#include "collective/requests/call.hpp"
#include "collective/requests/members.hpp"

#include <vector>

namespace atl::requests {

class Rounds {
  public:
    explicit Rounds(Members& members) : members_(members) {}

    /// Checks the arguments of a call that this member is about to make. Throws Error(invalid_argument,
    /// dtype_mismatch).
    static void check(const Call& call, const Members& members);
    /// Moves data as far as it can without waiting. Returns true if any moved. Throws Error(
    /// collective_mismatch) if another member makes another call.
    bool advance(Request& request);
    static bool is_complete(const Request& request) {
        return request.published == request.rounds && request.consumed == request.rounds;
    }
    /// Members that the request waits for now.
    std::vector<int> missing(const Request& request);

  private:
    struct Slice {
        std::size_t at = 0, bytes = 0;
    };
    /// A round of a sliced all_reduce: the chunk, and whether its data is folded already.
    struct Step {
        std::uint32_t chunk = 0;
        bool folded = false;
        std::uint32_t apart = 1;  ///< rounds between the two steps of a chunk
    };

    void start(Request& request);
    void plan(Request& request) const;
    bool publish(Request& request);
    void write_round(Request& request, const Area& area, SlotHeader& header, std::uint64_t round);
    void write_pieces(const Request& request, char* slot, std::uint32_t round) const;
    Span shared_piece(const Request& request, std::uint32_t round) const;
    Span part(const Request& request, const Span& whole, std::uint32_t round, int member) const;
    bool has_room(std::uint64_t round);
    bool may_publish(const Request& request) const;
    bool consume(Request& request);
    bool reads(const Request& request, int member) const;
    bool has_arrived(Request& request, int member);
    void compare(const Request& request, int member, const SlotHeader& header) const;
    void compare_sizes(const Request& request, int member) const;
    void copy_from(const Request& request, int member);
    void copy_own(const Request& request) const;
    void fold_round(const Request& request);
    const char* data_of(const Request& request, int member, std::uint32_t round, std::size_t bytes) const;
    Slice slice(const Request& request, std::uint32_t chunk, int member) const;
    Step step_of(const Request& request, std::uint32_t round) const;
    bool gives_pieces(const Request& request, std::uint32_t round) const;
    void complete(Request& request);

    Members& members_;
    std::uint64_t base_ = 0;              ///< first round of the current collective
    std::uint64_t free_until_ = n_slots;  ///< rounds below this have a free slot
    std::uint32_t number_ = 0;
};

}  // namespace atl::requests
