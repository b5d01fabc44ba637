// The stacks that a report has: those in the program, one line a thread.
#include <string_view>

#include "cli/stacks/stacks.hpp"
#include "common/text.hpp"
#include "core/hang/cause.hpp"

namespace atl::cli {
namespace {

constexpr std::size_t most_stacks = 8, most_frames = 12;

std::string joined(const std::vector<std::string>& frames) {
    std::string text;
    for (std::size_t i = 0; i < frames.size() && i < most_frames; ++i)
        text += (i == 0 ? "" : ", from ") + frames[i];
    if (frames.size() > most_frames) text += ", and " + std::to_string(frames.size() - most_frames) + " more";
    return text;
}

/// True if there is at most one frame, and the table names its place.
bool is_known(const PeStacks& stacks, const common::PeDoing& one) {
    if (stacks.program.empty() || (stacks.program.size() == 1 && stacks.program[0].frames.empty()))
        return true;
    if (stacks.program.size() > 1 || stacks.program[0].frames.size() > 1) return false;
    const std::string& frame = stacks.program[0].frames[0];
    const std::size_t at = frame.find(" at ");
    const std::string position =
        at == std::string::npos ? frame : frame.substr(at + std::string_view(" at ").size());
    return one.text.find(position) != std::string::npos || one.site.find(position) != std::string::npos;
}

/// The stacks; those of the PEs in `first` come first. Empty if the report has said as much.
std::string stacks_by_site(const common::BoardView& board, const std::vector<common::PeDoing>& doing,
                           const std::vector<int>& first) {
    std::vector<std::vector<int>> groups = common::pes_by_site(doing, first);
    std::erase_if(groups, [&](const std::vector<int>& pes) {
        const common::PeDoing& one = doing[static_cast<std::size_t>(pes.front())];
        const bool has_not_answered = !one.waits && one.site.empty();
        return has_not_answered || !may_answer(one) ||
               board.entry(pes.front()).pid.load() == common::pid_elsewhere;
    });
    if (groups.size() > most_stacks) groups.resize(most_stacks);
    std::vector<int> pes;
    for (const std::vector<int>& group : groups) pes.push_back(group.front());
    constexpr double patience_s = 1;
    const std::vector<PeStacks> stacks = read_stacks(board, pes, patience_s, StackDetail::program);
    std::string lines;
    bool is_new = false;
    for (std::size_t i = 0; i < pes.size(); ++i) {
        is_new = is_new || !is_known(stacks[i], doing[static_cast<std::size_t>(pes[i])]);
        for (const ProgramStack& one : stacks[i].program) {
            if (one.frames.empty()) continue;
            lines += "\n  PE " + std::to_string(pes[i]) + (one.label.empty() ? "" : ", " + one.label) + ": " +
                     joined(one.frames);
        }
    }
    return is_new ? "\nstacks in the program, of one PE of each line:" + lines : "";
}

}  // namespace

std::string report_with_stacks(const common::BoardView& board, const std::vector<common::PeDoing>& doing,
                               const std::string& heading, const std::string& begin) {
    const core::Cause cause = core::find_cause(doing);
    return core::report_of(doing, cause, heading, begin) + stacks_by_site(board, doing, cause.pes);
}

}  // namespace atl::cli
