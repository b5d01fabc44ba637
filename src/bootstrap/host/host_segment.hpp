// Creates the memory that the PEs of a host share, and checks such memory received from another process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/board/board.hpp"
#include "common/descriptors/fd.hpp"

namespace atl::bootstrap {

/// The logs on a job board, for a trace or record.
struct BoardLogs {
    std::uint64_t events = 0;  ///< most of a PE; 0: there are no logs
    bool moves = false;        ///< they also hold one-sided operations, and events of kernels
};

/// A job board mapped into this process. Owns the mapping; the bootstrap that made it lives as long as its
/// job.
class MappedBoard {
  public:
    MappedBoard() = default;
    /// A board of this process alone. Throws Error(system).
    static MappedBoard create_private(int n_pes);
    /// A new board in a memfd, which is returned in `fd`. This process keeps a descriptor, by which `atoll
    /// ps` finds the board. Without room for `logs` it has none: a job runs without a trace then. Throws
    /// Error(system).
    static MappedBoard create_shared(int n_pes, common::Fd& fd, const BoardLogs& logs = {});
    /// Maps a board that another process made for `n_pes` PEs. Throws Error(bootstrap) if `fd` is not such a
    /// board; `whence` is the source of the descriptor, for the error's text.
    static MappedBoard adopt(int fd, int n_pes, const std::string& whence);
    /// The same. Without room for its logs it maps the rest: the caller must see to it that no PE uses them.
    static MappedBoard adopt_what_fits(int fd, int n_pes, const std::string& whence);
    /// The error for which the logs of this board were left out; empty if they were not.
    const std::string& why_no_logs() const { return why_no_logs_; }

    MappedBoard(MappedBoard&& other) noexcept;
    MappedBoard& operator=(MappedBoard&& other) noexcept;
    ~MappedBoard();

    const common::BoardView& view() const { return view_; }
    explicit operator bool() const { return static_cast<bool>(view_); }
    /// Equal for all mappings of one board, and unique on this host.
    const std::string& identity() const { return identity_; }
    /// For processes of this host, which open a board of `create_shared` by this path while its maker lives.
    std::string path() const { return view_.header().path; }
    /// Maps the board of that path and identity. Throws Error(bootstrap, system).
    static MappedBoard open(const std::string& path, const std::string& identity, int n_pes);

  private:
    MappedBoard(int fd, std::size_t bytes);
    static MappedBoard create_with(int n_pes, common::Fd& fd, const BoardLogs& logs);

    void* memory_ = nullptr;
    std::size_t bytes_ = 0;
    common::BoardView view_;
    std::string identity_;
    std::string why_no_logs_;
    common::Fd shown_;  ///< board that this process made for others
};

/// The numbers 0 to n_pes - 1: the PEs of a job on one host.
std::vector<int> all_pes(int n_pes);

/// The memfd of the host heap, still empty. Throws Error(system).
common::Fd make_heap_fd();
/// True if `fd` is an open descriptor of memory (or of a file).
bool is_memory(int fd) noexcept;

/// Returns a text such as "PE 3 (process 4711)" as far as the board knows.
std::string pe_text(const common::BoardView& board, int pe);
/// Throws Error(pe_died) with the board's sentence if the job is over.
void throw_if_aborted(const common::BoardView& board);

}  // namespace atl::bootstrap
