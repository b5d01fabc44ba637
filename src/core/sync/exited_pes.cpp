#include "core/sync/exited_pes.hpp"

#include "common/clock.hpp"
#include "core/job/job_state.hpp"

namespace atl::core {

namespace {

constexpr std::uint32_t kept_calls = 4;  ///< so few calls are among the events of each PE
constexpr std::uint64_t parting_ns = 500'000'000, longest_parting_ns = 10 * parting_ns;

bool has_exited(common::PeState state) {
    return state == common::PeState::left || state == common::PeState::died ||
           state == common::PeState::finalized;
}

const char* how_exited(common::PeState state, bool initialized) {
    const bool is_left = state == common::PeState::left;
    return is_left && !initialized ? "ended before it called init" : common::exit_text(state);
}

/// The event of a PE's last call of a team, and its place if a wait in it was recorded. No kind: none is
/// known.
common::EventCopy last_call_of(const common::PeEvents& all, std::uint32_t team) {
    common::EventCopy last;
    for (const common::EventCopy& event : common::read_events(all)) {
        if (event.kind == common::EventKind::init) last = {};  // calls are counted from there
        if (event.team != team || event.call == 0) continue;
        if (event.kind == common::EventKind::collective && event.call >= last.call) {
            last = event;
        } else if (event.kind == common::EventKind::wait && event.call == last.call && !event.site.empty()) {
            last.site = event.site;
        }
    }
    return last;
}

}  // namespace

ExitedPes ExitedPes::among(const JobState& job, const int* pes, int n) {
    for (int i = 0; i < n; ++i)
        if (has_exited(job.board().state(pes[i]))) return {job, pes[i], false};
    return {job, -1, false};
}

ExitedPes ExitedPes::with_all_others(const JobState& job) {
    for (int pe = 0; pe < job.n_pes(); ++pe)
        if (pe != job.pe() && !has_exited(job.board().state(pe))) return {job, -1, true};
    return {job, job.n_pes() == 1 ? -1 : job.pe() == 0 ? 1 : 0, true};
}

bool ExitedPes::is_final(std::uint64_t since_ns) const {
    const common::BoardView& board = job_.board();
    const common::PeState state = board.state(pe_);
    const std::uint64_t now_ns = common::now_ns();
    // The launcher, or PE 0, writes how the PE died to the board after this state. That text is the better
    // error. It comes soon, unless the machine is busy.
    if (state == common::PeState::died) {
        const bool is_explained = board.has_launcher() || !has_exited(board.state(0));
        return now_ns >= since_ns + (is_explained ? longest_parting_ns : parting_ns);
    }
    if (state != common::PeState::left || board.process_ended(pe_)) return true;
    // Its interpreter may still end. A process that sleeps may never do so.
    if (now_ns < since_ns + parting_ns) return false;
    return now_ns >= since_ns + longest_parting_ns || !board.process_works(pe_);
}

std::string ExitedPes::text(bool initialized) const {
    const std::string one =
        "PE " + std::to_string(pe_) + " " + how_exited(job_.board().state(pe_), initialized);
    return any_pe_ && job_.n_pes() > 2 ? "Every other PE has ended (" + one + ")" : one;
}

std::string ExitedPes::text_in_call() const {
    if (any_pe_ || job_.board().state(pe_) != common::PeState::left) return text();
    return "PE " + std::to_string(pe_) + std::string(left_job);
}

std::string ExitedPes::calls_text(std::uint32_t team, std::uint32_t call) const {
    const common::PeState state = job_.board().state(pe_);
    const bool is_here = job_.board().entry(pe_).pid.load(std::memory_order_acquire) > 0;
    if (call == 0 || any_pe_ || !is_here || state == common::PeState::died) return {};
    const common::EventCopy last = last_call_of(job_.board().events(pe_), team);
    if (last.call >= call) return {};
    if (last.call == 0 && call > kept_calls) return {};  // newer events may have replaced its calls
    std::string called = common::called_name(last);
    if (!last.site.empty()) called += " at " + last.site;
    const std::string team_name = common::team_text(team);
    const std::string how = state == common::PeState::left ? " left " : " finalized ";
    std::string text = " PE " + std::to_string(pe_) + how +
                       (last.call == 0 ? "before its first call of " + team_name
                                       : "after call " + std::to_string(last.call) + " of " + team_name +
                                             " (" + called + ")") +
                       ", and this PE waits in call " + std::to_string(call) +
                       ": every PE must make the same collective calls.";
    const std::string handled = job_.board().stacks(pe_).handled.read();
    if (!handled.empty()) text += " PE " + std::to_string(pe_) + " handled " + handled + ".";
    return text;
}

}  // namespace atl::core
