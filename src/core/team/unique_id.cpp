#include "core/team/unique_id.hpp"
#include "common/recorder/recorder.hpp"

#include "common/text.hpp"
#include "core/base/job_base.hpp"
#include "core/team/team_state.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdio>
#include <string>

namespace atl::core {

namespace {

using Cell = std::atomic<std::uint64_t>;

/// The words of an id, in the arena of the PE that made it.
struct BoardWords {
    Cell id;    ///< 0: no team can be made by it any more
    Cell size;  ///< number of members, from the first that came
    Cell out;   ///< PE of the world plus one that could not take part; 0: none
    Cell left;  ///< members that need the board no more

    static constexpr std::size_t bytes(int n_pes) {
        return sizeof(BoardWords) + 2 * sizeof(Cell) * static_cast<std::size_t>(n_pes);
    }
};

/// The parts of an id, which is below 2**63. The count tells apart the ids of one board, which is this far
/// into the arena of the PE.
struct Id {
    static constexpr std::uint64_t unit_bytes = memory::Allocator::granule;

    std::uint16_t count, pe;
    std::uint32_t units;

    static Id of(std::uint64_t value) { return std::bit_cast<Id>(value); }
    std::uint64_t value() const { return std::bit_cast<std::uint64_t>(*this); }
    std::uint64_t offset(const Arena& arena) const { return arena.begin() + units * unit_bytes; }
    bool may_be_of(const JobBase& job) const {
        const std::uint64_t at = units * unit_bytes, size = BoardWords::bytes(job.n_pes());
        return count != 0 && pe < job.n_pes() && at + size <= job.arena().bytes();
    }
};

std::string text_of(std::uint64_t id) {
    char text[24];
    std::snprintf(text, sizeof text, "%#llx", static_cast<unsigned long long>(id));
    return text;
}

/// The board of an id, on any PE: atomic operations by loads and stores or by the transport.
class Board {
  public:
    Board(JobBase& job, std::uint64_t id)
        : job_(job), pe_(Id::of(id).pe), offset_(Id::of(id).offset(job.arena())) {
        if (job.topology().has_window_to(pe_))
            near_ = static_cast<BoardWords*>(job.arena().address(pe_, offset_));
    }
    std::uint64_t load(std::size_t at) const {
        if (near_ != nullptr) return cell(at).load(std::memory_order_acquire);
        return far(AtomicOp::fetch, at, 0, 0);
    }
    void store(std::size_t at, std::uint64_t value) const {
        if (near_ != nullptr)
            cell(at).store(value, std::memory_order_release);
        else
            far(AtomicOp::swap, at, value, 0);
    }
    std::uint64_t add(std::size_t at, std::uint64_t value) const {
        if (near_ != nullptr) return cell(at).fetch_add(value, std::memory_order_acq_rel);
        return far(AtomicOp::fetch_add, at, value, 0);
    }
    /// Stores `value` if the cell is 0. Returns the previous value.
    std::uint64_t claim(std::size_t at, std::uint64_t value) const {
        if (near_ == nullptr) return far(AtomicOp::compare_swap, at, value, 0);
        std::uint64_t seen = 0;
        cell(at).compare_exchange_strong(seen, value, std::memory_order_acq_rel);
        return seen;
    }
    static constexpr std::size_t id = offsetof(BoardWords, id), size = offsetof(BoardWords, size),
                                 out = offsetof(BoardWords, out), left = offsetof(BoardWords, left);
    static std::size_t member(int i) { return BoardWords::bytes(i); }
    static std::size_t memory_of(int i) { return member(i) + sizeof(Cell); }

  private:
    Cell& cell(std::size_t at) const { return *reinterpret_cast<Cell*>(reinterpret_cast<char*>(near_) + at); }
    std::uint64_t far(AtomicOp op, std::size_t at, std::uint64_t value, std::uint64_t compare) const {
        return job_.transport()->atomic(0, pe_, offset_ + at, op, DType::uint64, value, compare);
    }

    JobBase& job_;
    int pe_;
    std::uint64_t offset_;
    BoardWords* near_ = nullptr;
};

/// One member's way from the id to the team.
class TeamOfId {
  public:
    TeamOfId(JobBase& job, std::uint64_t id, int n_pes, int my_pe)
        : job_(job), id_(id), n_pes_(n_pes), my_pe_(my_pe), board_(checked(job, id, n_pes, my_pe), id) {
        if (board_.load(Board::id) != id)
            throw Error(
                ErrorCode::invalid_argument,
                "team_init: " + text_of(id) +
                    " is no id of a team that can still be made. Pass what get_team_unique_id returned on "
                    "one PE of this job; each id makes one team.");
        check_out();
    }

    std::shared_ptr<TeamState> run() {
        arrive();
        for (int i = 0; i < n_pes_; ++i) members_.push_back(static_cast<int>(await(Board::member(i), i) - 1));
        check_members();
        TeamState first(job_, job_.team_numbers().next(), members_, my_pe_, memory());
        first.meetings().recorded.set_team(
            common::team_identity(static_cast<std::uint32_t>((id_ * 0x9e3779b97f4a7c15) >> 32), 0));
        leave();
        // A split gives the team its memory for kernels and streams.
        try {
            std::shared_ptr<TeamState> team = split(first, 0, my_pe_, call_record("team_init"));
            first.destroy();
            return team;
        } catch (const Error& error) {
            if (error.code() == ErrorCode::out_of_memory) first.destroy();  // all members have this error
            throw;
        }
    }

  private:
    static constexpr std::uint64_t no_room = ~std::uint64_t{0};

    static JobBase& checked(JobBase& job, std::uint64_t id, int n_pes, int my_pe) {
        if (n_pes < 1 || n_pes > job.n_pes())
            throw Error(ErrorCode::invalid_argument, "team_init: n_pes is " + std::to_string(n_pes) +
                                                         "; pass 1 to " + std::to_string(job.n_pes()) +
                                                         ", the number of PEs in the job.");
        if (my_pe < 0 || my_pe >= n_pes)
            throw Error(ErrorCode::pe, "team_init: my_pe is " + std::to_string(my_pe) + "; pass 0 to " +
                                           std::to_string(n_pes - 1) + ", this PE's number in the new team.");
        if (!Id::of(id).may_be_of(job))
            throw Error(ErrorCode::invalid_argument, "team_init: " + text_of(id) +
                                                         " is no id of a team; pass what get_team_unique_id "
                                                         "returned on one PE of this job.");
        return job;
    }

    void arrive() {
        const std::uint64_t seen = board_.claim(Board::size, static_cast<std::uint64_t>(n_pes_));
        if (seen != 0 && seen != static_cast<std::uint64_t>(n_pes_))
            refuse("it passed n_pes " + std::to_string(n_pes_) + ", and another PE " + std::to_string(seen));
        const std::uint64_t taken = board_.claim(Board::member(my_pe_), world_pe() + 1);
        if (taken != 0)
            refuse("it passed my_pe " + std::to_string(my_pe_) + ", and so did PE " +
                   std::to_string(taken - 1));
    }
    std::uint64_t world_pe() const { return static_cast<std::uint64_t>(job_.pe()); }
    /// Ends the making of this team on all members.
    [[noreturn]] void refuse(const std::string& reason) {
        board_.claim(Board::out, world_pe() + 1);
        throw Error(ErrorCode::collective_mismatch,
                    "team_init: PE " + std::to_string(job_.pe()) + " cannot join the team of id " +
                        text_of(id_) + ": " + reason +
                        ". All members pass one n_pes, and each another my_pe.");
    }
    /// Returns a word of member `i` once it is there. Once all members have come, none may end the team.
    std::uint64_t await(std::size_t at, int i, bool may_end = true) const {
        const std::string subject =
            "PE " + std::to_string(i) + " of the " + std::to_string(n_pes_) + " of team id " + text_of(id_);
        detail::WaitReason why;
        why.operation = "team_init";
        why.subject = subject.c_str();
        if (static_cast<std::size_t>(i) < members_.size()) why.peer = members_[static_cast<std::size_t>(i)];
        std::uint64_t value = 0;
        try {
            detail::wait(job_.job_state(), job_.pace().spins, why, -1, [&] {
                value = board_.load(at);
                if (value == 0 && may_end) check_out();
                return value != 0;
            });
        } catch (const Error& error) {
            // The others then need not wait for their own time limits. After a death the board may be out of
            // reach.
            if (error.code() == ErrorCode::timeout || error.code() == ErrorCode::interrupted)
                board_.claim(Board::out, world_pe() + 1);
            throw;
        }
        return value;
    }
    void check_out() const {
        const std::uint64_t out = board_.load(Board::out);
        if (out != 0)
            throw Error(ErrorCode::collective_mismatch,
                        "team_init: the team of id " + text_of(id_) + " was not made: PE " +
                            std::to_string(out - 1) +
                            " could not join, and its error says why. Take a new id.");
    }
    void check_members() const {
        std::vector<int> sorted = members_;
        std::sort(sorted.begin(), sorted.end());
        const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
        if (twice != sorted.end())
            throw Error(ErrorCode::invalid_argument, "team_init: PE " + std::to_string(*twice) +
                                                         " joined the team of id " + text_of(id_) +
                                                         " twice; a PE has one place in a team.");
    }

    /// The first member of each part makes the part's block, and shows its offset.
    TeamMemory memory() {
        const Parts parts(job_, members_, my_pe_);
        TeamMemory memory;
        memory.owned = parts.leads(my_pe_);
        if (memory.owned) {
            job_.arena().sweep();
            try {
                memory.control =
                    static_cast<ControlBlock*>(job_.arena().allocate(TeamMemory::bytes(parts, parts.mine)));
                board_.store(Board::memory_of(my_pe_), job_.arena().offset(memory.control) + 1);
            } catch (const Error&) {
                board_.store(Board::memory_of(my_pe_), no_room);
            }
        }
        for (const int first : parts.first) {
            const std::uint64_t offset = await(Board::memory_of(first), first, false);
            if (offset == no_room) {
                if (memory.control != nullptr) job_.arena().free(memory.control);
                TeamMemory::fail_no_room(members_[static_cast<std::size_t>(first)]);
            }
            memory.offsets.push_back(offset - 1);
        }
        memory.find_control(job_, parts, members_);
        return memory;
    }
    /// The last member to leave ends the id, so that its maker frees the board.
    void leave() const {
        if (board_.add(Board::left, 1) + 1 == static_cast<std::uint64_t>(n_pes_)) board_.store(Board::id, 0);
    }

    JobBase& job_;
    std::uint64_t id_;
    int n_pes_, my_pe_;
    Board board_;
    std::vector<int> members_;  ///< members by their PEs in the world
};

}  // namespace

std::uint64_t TeamIds::make(JobBase& job) {
    const std::lock_guard lock(mutex_);
    // Boards are not freed: a PE may read one by an old id at any time.
    const auto is_free = [](void* board) {
        return static_cast<BoardWords*>(board)->id.load(std::memory_order_acquire) == 0;
    };
    const auto found = std::find_if(boards_.begin(), boards_.end(), is_free);
    BoardWords* board = nullptr;
    if (found != boards_.end()) {
        board = static_cast<BoardWords*>(*found);
        auto* const cells = static_cast<Cell*>(*found);
        for (std::size_t i = 0; i < BoardWords::bytes(job.n_pes()) / sizeof(Cell); ++i)
            cells[i].store(0, std::memory_order_relaxed);
    } else {
        job.arena().sweep();
        board = static_cast<BoardWords*>(job.arena().allocate(BoardWords::bytes(job.n_pes())));
        boards_.push_back(board);
    }
    const std::uint64_t units = (job.arena().offset(board) - job.arena().begin()) / Id::unit_bytes;
    if (++count_ == 0) ++count_;
    const Id id{count_, static_cast<std::uint16_t>(job.pe()), static_cast<std::uint32_t>(units)};
    board->id.store(id.value(), std::memory_order_release);
    return id.value();
}

Team make_team(JobBase& job, std::uint64_t id, int n_pes, int my_pe) {
    return Team(TeamOfId(job, id, n_pes, my_pe).run());
}

}  // namespace atl::core
