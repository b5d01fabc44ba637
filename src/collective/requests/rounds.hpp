// Rounds: the collectives of a group as state machines. Only the oldest unfinished one moves.
#pragma once

#include "collective/members/members.hpp"
#include "collective/requests/call.hpp"
#include "collective/requests/in_place.hpp"

#include <optional>
#include <vector>

namespace atl::requests {

class Rounds {
  public:
    explicit Rounds(Members& members) : members_(members), in_place_(members) {}

    /// Checks the arguments of a call that this member is about to make. Throws Error(invalid_argument,
    /// dtype_mismatch).
    static void check(const Call& call, const Members& members);
    /// Numbers a call that this member makes, and plans its rounds.
    void plan(Request& request);
    /// Two members that make different calls: this one, and another.
    struct Difference {
        int member = 0;
        Announcement mine, theirs;
    };
    /// Moves data as far as it can without waiting. Returns true if any moved. Moves nothing once calls
    /// differ. Throws Error(collective_mismatch) if the pieces of an all_to_all do not fit.
    bool advance(Request& request);
    /// Empty while all calls that have arrived are equal.
    const std::optional<Difference>& difference() const { return difference_; }
    /// Members that have announced one call.
    struct Form {
        Announcement call;
        std::vector<int> members;
    };
    /// The calls of all members that have come to where calls differ, the usual one last. Equal on all
    /// members, once all have come.
    std::vector<Form> forms();
    static bool is_complete(const Request& request) {
        return request.published == request.rounds && request.consumed == request.rounds &&
               (!request.in_place || request.drained);
    }
    /// Members that the request waits for now, as an error names them.
    std::vector<int> missing(const Request& request) { return missing(request, false); }
    /// Members whose end would keep the request from ending. Data of another host may wait for the one that
    /// receives them here, and the receiver finds the sender's end.
    std::vector<int> relied_on(const Request& request) { return missing(request, true); }

  private:
    /// A round of a sliced all_reduce: the chunk, and whether its data is folded already.
    struct Step {
        std::uint32_t chunk = 0;
        bool folded = false;
        std::uint32_t apart = 1;  ///< rounds between the two steps of a chunk
    };

    bool crosses_once(const Request& request, std::size_t longest) const;
    bool publish(Request& request);
    void write_round(Request& request, const Area& area, SlotHeader& header, std::uint64_t round);
    void pass_round(const Request& request, const Area& area, std::uint64_t round);
    void pass_once(const Request& request, const Area& area, std::uint64_t round);
    void write_pieces(const Request& request, char* slot, std::uint32_t round) const;
    bool passes_once(const Request& request, std::uint32_t round) const;
    bool reads_shared(const Request& request, int member) const;
    Span shared_piece(const Request& request, std::uint32_t round) const;
    Span part(const Request& request, const Span& whole, std::uint32_t round, int member) const;
    bool has_room(const Request& request, std::uint64_t round);
    bool may_publish(const Request& request) const;
    bool consume(Request& request);
    bool reads(const Request& request, int member) const;
    bool awaits(const Request& request, int member) const;
    bool has_arrived(Request& request, int member);
    bool is_here(const Request& request, int member);
    int awaited_for(const Request& request, int member, bool for_ends);
    std::vector<int> missing(const Request& request, bool for_ends);
    void compare(const Request& request, int member, const SlotHeader& header);
    void compare_first_round(const Request& request, int from);
    void compare_sizes(const Request& request, int member) const;
    void copy_from(const Request& request, int member);
    void copy_own(const Request& request) const;
    void fold_round(const Request& request);
    const char* data_of(const Request& request, int member, std::uint32_t round, std::size_t bytes);
    std::size_t offset_within(const Request& request, int member, std::uint32_t round) const;
    bool is_read_by(const Request& request, int member) const;
    bool has_read_all(const Request& request, int member);
    void drain(Request& request);
    Slice slice(const Request& request, std::uint32_t chunk, int member) const;
    Step step_of(const Request& request, std::uint32_t round) const;
    bool passes_pieces(const Request& request, std::uint32_t round) const;

    // how far the members of other hosts are, where data cross the network once for each host
    static bool counts_by_host(const Request& request) { return request.shared && !request.sliced; }
    bool passes_to_hosts(const Request& request, int member) const;
    std::uint64_t progress_of(int host);
    std::uint64_t far_progress(const Request& request, int host);
    void pass_consumed(const Request& request);
    void pass_host_consumed(const Request& request);
    bool waits_for_room(const Request& request, int member);

    // Parts of an all_reduce that passes from host to host.
    bool may_pass(const Request& request) const;
    bool is_read_here(const Request& request) const;
    void write_in_chain(const Request& request, const Area& area, std::uint64_t round);
    void pass_in_chain(const Request& request, const Area& area, std::uint64_t round);
    bool reads_in_chain(const Request& request, int member) const;
    void copy_finished(const Request& request, int member);
    void fold_in_chain(const Request& request);
    char* kept_fold(const Request& request, std::uint32_t chunk);

    Members& members_;
    InPlace in_place_;
    std::vector<char> folds_;             ///< partial results of a chain, until they are passed on
    std::uint64_t base_ = 0;              ///< first round of the current collective
    std::uint64_t free_until_ = n_slots;  ///< rounds below this have a free slot
    std::uint64_t announced_ = 0;         ///< rounds that this host has consumed, as others know
    std::uint32_t number_ = 0;
    std::optional<Difference> difference_;
};

}  // namespace atl::requests
