#include "bootstrap/store/store_link.hpp"

#include <unistd.h>

#include "common/recorder/stack_area.hpp"

namespace atl::bootstrap {

StoreLink::StoreLink(Link link, std::string_view name)
    : name_(name),
      pe_(link.pe),
      n_pes_(link.n_pes),
      server_(std::move(link.server)),
      client_(std::move(link.client)),
      process_(::getpid()) {}

StoreLink::~StoreLink() {
    if (board_ && !is_child()) common::withdraw_stacks(board_.view().stacks(pe_));
}

bool StoreLink::is_child() const noexcept { return ::getpid() != process_; }

void StoreLink::sign_in(HostSegment& segment) {
    board_.view().sign_in(pe_);
    // A process offers its stacks on one board only. Groups on GPUs are jobs, too: the default group's board
    // has the stacks.
    if (common::offered_stacks() == nullptr) common::offer_stacks(board_.view().stacks(pe_));
    client_->watch_board(board_.view());
    segment.board = board_.view();
    // After the fence all PEs have mapped the memory and are reported if they die.
    client_->fence();
}

void StoreLink::goodbye(bool finalized) noexcept {
    if (is_child()) return;
    // The PEs of this host read the board.
    if (board_ && board_.view().state(pe_) < common::PeState::finalized)
        board_.view().set_state(pe_, finalized ? common::PeState::finalized : common::PeState::left);
    client_->goodbye(finalized);
}

void StoreLink::abort(int status, const std::string& sentence) noexcept {
    if (is_child()) return;
    const std::string text = sentence_of_end(pe_, status, sentence);
    if (board_) board_.view().abort(pe_, status, text);
    client_->abort(status, text);
}

}  // namespace atl::bootstrap
