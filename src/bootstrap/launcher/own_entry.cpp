#include "bootstrap/launcher/own_entry.hpp"

#include <cerrno>
#include <csignal>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "atoll/error.hpp"
#include "bootstrap/launcher/launch_protocol.hpp"
#include "bootstrap/launcher/launched_variable.hpp"
#include "common/descriptors/fd_passing.hpp"
#include "common/recorder/stack_area.hpp"
#include "common/settings/job_environment.hpp"
#include "common/settings/settings.hpp"

namespace atl::bootstrap {
namespace {

std::mutex mutex;  // guards the next one
/// Never destroyed: a signal's handler writes to the board while the process ends.
std::shared_ptr<OwnEntry>& of_this_process = *new std::shared_ptr<OwnEntry>;

/// Null if the launcher's descriptors have been closed, as in programs that a PE starts.
std::shared_ptr<OwnEntry> invited() {
    const std::string text = common::read_job_environment().launched;
    try {
        if (text.empty() || common::read_settings().no_launcher) return nullptr;
        const LaunchedVariable found = LaunchedVariable::parse(text);
        if (!is_launcher_socket(found.socket) || !is_memory(found.board)) return nullptr;
        auto board =
            std::make_shared<MappedBoard>(MappedBoard::adopt(found.board, found.n_pes, "from the launcher"));
        return std::make_shared<OwnEntry>(std::move(board), found.pe, found.socket);
    } catch (const Error&) {  // init reports it
        return nullptr;
    }
}

/// The board of the entry before stays mapped: a signal's handler may still write to it. Call with the mutex.
void replace(std::shared_ptr<OwnEntry> own_entry) {
    static auto& before = *new std::vector<std::shared_ptr<OwnEntry>>;
    if (of_this_process) before.push_back(of_this_process);
    of_this_process = std::move(own_entry);
}

std::mutex shown_mutex;  // guards `shown` and BoardEntry::group
/// The wait that the board shows; null: none.
const OwnEntry::Wait* shown = nullptr;

}  // namespace

std::shared_ptr<OwnEntry> OwnEntry::of_process() {
    const std::lock_guard lock(mutex);
    if (!of_this_process) of_this_process = invited();
    return of_this_process && of_this_process->is_of_this_process() ? of_this_process : nullptr;
}

void OwnEntry::set_taken(std::shared_ptr<MappedBoard> board, int pe) {
    const std::lock_guard lock(mutex);
    of_this_process = std::make_shared<OwnEntry>(std::move(board), pe, -1);
}

std::shared_ptr<OwnEntry> OwnEntry::take_on_board_of_group(std::shared_ptr<MappedBoard> board, int pe) {
    auto own_entry = std::make_shared<OwnEntry>(std::move(board), pe, -1, true);
    own_entry->sign_in();
    const std::lock_guard lock(mutex);
    replace(own_entry);
    return own_entry;
}

void OwnEntry::leave_board_of_group() {
    const std::lock_guard lock(mutex);
    if (!of_this_process || !of_this_process->is_of_group() || !of_this_process->is_of_this_process()) return;
    common::withdraw_stacks(of_this_process->board().stacks(of_this_process->pe()));
    replace(nullptr);
}

void OwnEntry::sign_in() {
    board().sign_in(pe_);
    entry().is_guest.store(1, std::memory_order_relaxed);
    common::offer_stacks(board().stacks(pe_));
    board().set_state(pe_, common::PeState::running);
}

bool OwnEntry::is_of_this_process() const { return ::getpid() == process_; }

bool OwnEntry::take() {
    const std::lock_guard lock(mutex_);
    if (is_taken_) return true;
    common::BoardEntry& mine = entry();
    std::int32_t other = mine.pid.load(std::memory_order_relaxed);
    const bool lives = other > 0 && other != process_ && (::kill(other, 0) == 0 || errno != ESRCH);
    if (lives || !mine.pid.compare_exchange_strong(other, process_)) return false;
    is_taken_ = true;
    mine.group.active.store(0, std::memory_order_relaxed);
    sign_in();
    common::send_with_fds(socket_, "T", 1, {}, MSG_DONTWAIT);  // without an answer; lost if it has no room
    return true;
}

bool OwnEntry::is_taken() {
    const std::lock_guard lock(mutex_);
    return is_taken_;
}

bool OwnEntry::Wait::claim() {
    if (!own_entry_ || !own_entry_->is_of_this_process() || !own_entry_->is_taken()) return false;
    const std::lock_guard lock(shown_mutex);
    if (shown == this) return true;
    const bool replaces = shown != nullptr && shown->how_ == common::HostWait::pending && how_ != shown->how_;
    if (shown != nullptr && !replaces) return false;
    shown = this;
    was_shown_ = true;
    own_entry_->entry().waits.fetch_add(1, std::memory_order_relaxed);
    return true;
}

void OwnEntry::Wait::write(common::WaitCopy values) {
    values.active = static_cast<std::uint32_t>(how_);
    values.offset = ~std::uint64_t{0};
    const std::lock_guard lock(shown_mutex);
    if (shown == this) common::write_wait(own_entry_->entry().group, values);
}

OwnEntry::Wait::~Wait() {
    if (!was_shown_) return;
    const std::lock_guard lock(shown_mutex);
    if (shown != this) return;
    common::WaitRecord& record = own_entry_->entry().group;
    record.sequence.fetch_add(2, std::memory_order_release);
    record.active.store(0, std::memory_order_release);
    shown = nullptr;
}

}  // namespace atl::bootstrap
