// Messages: sends and receives between two members of a group, in rings, as state machines.
#pragma once

#include "collective/members/members.hpp"
#include "collective/requests/call.hpp"
#include "common/board/board.hpp"

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace atl::requests {

class Messages {
  public:
    explicit Messages(Members& members)
        : members_(members),
          sends_(std::size_t(members.n())),
          incoming_(std::size_t(members.n())),
          passed_(std::size_t(members.n())) {}

    /// Queues a send or a receive. Messages of one sender and tag are received in their order.
    void post(const RequestPtr& request);
    /// Moves data as far as it can without waiting, and appends the requests that are complete. Returns true
    /// if any data moved.
    bool advance(std::vector<RequestPtr>& complete);
    bool is_idle() const { return n_sends_ == 0 && receives_.empty(); }
    std::vector<int> missing(const Request& request) const;
    /// Returns a text such as "40 bytes by tag 0", and for a receive messages that it does not take.
    std::string details(const Request& request);
    /// A message of the awaited sender by another tag, or the only one that has come from another member.
    /// `from` is a member.
    common::OtherMessage other_than(const Request& request) const;
    /// Bytes that have moved.
    std::uint64_t moved(const Request& request) const;
    /// Removes a request of which no byte has moved. Returns false if some have.
    bool withdraw(const Request& request);
    void append_all(std::vector<RequestPtr>& requests) const;
    void clear();

  private:
    /// The header of a message in a ring. The data follow, padded to a multiple of the header's size.
    struct Frame {
        std::uint64_t bytes;
        std::int64_t tag;
    };
    /// A message that arrived before its receive.
    struct Early {
        std::int64_t tag = 0;
        std::vector<char> data;
    };
    /// The message at the end of a ring.
    struct Incoming {
        bool open = false;
        Frame frame{};
        std::uint64_t got = 0;
        RequestPtr receive;  ///< null: `early` is filled
        Early early;
        std::deque<Early> earlier;
    };

    bool push(int to, std::vector<RequestPtr>& complete);
    bool push_one(Request& request, int to);
    void announce(int to, std::uint64_t begin, std::uint64_t end);
    void note_taken(int from, std::uint64_t end);
    bool pull(int from, std::vector<RequestPtr>& complete);
    bool open(int from);
    bool take(int from);
    void close(int from, std::vector<RequestPtr>& complete);
    bool deliver_early(Request& request);
    RequestPtr matching(int from, std::int64_t tag);
    void check_room(int from, std::int64_t tag, std::uint64_t bytes, const Span& to) const;
    bool expects(int from) const;
    std::string others_of(const Request& request);
    std::optional<Frame> arrived_from(int sender) const;

    Members& members_;
    std::vector<std::deque<RequestPtr>> sends_;
    std::deque<RequestPtr> receives_;  ///< not matched yet, in the order of the calls
    std::vector<Incoming> incoming_;
    std::vector<RequestPtr> given_;  ///< receives that an early message has completed
    std::size_t n_sends_ = 0;
    int n_open_ = 0;
    std::vector<std::uint64_t>
        passed_;  ///< bytes consumed from each far member's ring, as last reported to it
};

}  // namespace atl::requests
