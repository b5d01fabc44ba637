// WaitOnBoard: a wait of this PE as the job board and the flight recorder show it.
#pragma once

#include "atoll/detail/wait.hpp"
#include "common/board/board.hpp"
#include "common/elf/elf_symbols.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

namespace atl::core {

/// Shows one wait from the first `show` on, until it is destroyed. The board shows one wait per PE. A
/// sleeping thread replaces one that polls.
class WaitOnBoard {
  public:
    WaitOnBoard(JobState& job, const detail::WaitReason& reason, std::uint64_t start_ns, common::HostWait how)
        : job_(job), reason_(reason), start_ns_(start_ns), how_(how) {}
    ~WaitOnBoard() { hide(); }
    WaitOnBoard(const WaitOnBoard&) = delete;
    WaitOnBoard& operator=(const WaitOnBoard&) = delete;

    /// Writes the wait. From the second call on, the place of the program's call, too. `hook_state` is the
    /// result of WaitHooks::enter, or null. `found` is the value last seen.
    void show(void* hook_state, std::uint64_t found);
    bool is_shown() const { return is_shown_; }
    /// The program polls the word of `world_pe` and compares it itself.
    void set_poll_of(int world_pe) { poll_of_ = world_pe; }
    /// `failed`: the wait ends by an error.
    void hide(bool failed = false);
    /// Leaves the board as it is. For the time after the job, when the board is gone.
    void abandon() { is_shown_ = false; }

  private:
    bool claim();
    bool is_mine() const;
    void name(common::WaitCopy& values, void* hook_state);
    void record(const common::WaitCopy& values, bool is_first);

    JobState& job_;
    const detail::WaitReason& reason_;
    std::uint64_t start_ns_;
    common::HostWait how_;
    bool is_shown_ = false;
    int poll_of_ = -1;
    bool is_named_ = false;  ///< a name was looked for
    std::optional<common::DataSymbol>
        object_;  ///< static variable that holds the word; read once, from the program's symbols
};

/// For its life, a slow wait of this thread shows the message that a function finds. It has come while the
/// wait is for another. The function is called in that wait only.
class ShownMessage {
  public:
    using Find = std::function<common::OtherMessage()>;

    explicit ShownMessage(const Find& find) : before_(std::exchange(of_thread(), find ? &find : nullptr)) {}
    ~ShownMessage() { of_thread() = before_; }
    ShownMessage(const ShownMessage&) = delete;
    ShownMessage& operator=(const ShownMessage&) = delete;

    static common::OtherMessage find() { return of_thread() ? (*of_thread())() : common::OtherMessage(); }

  private:
    static const Find*& of_thread() {
        thread_local const Find* current = nullptr;
        return current;
    }

    const Find* before_;
};

/// Place of a symmetric word, as WaitRecord::offset.
std::uint64_t word_offset(const JobState& job, const void* word);
/// The front's name of a word, else its allocation. Empty if neither is known.
std::string name_of(const JobState& job, const void* word);

}  // namespace atl::core
