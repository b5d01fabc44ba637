#include "core/job/ucx_transport.hpp"

#include "atoll/detail/wait.hpp"
#include "common/pe_ranges.hpp"
#include "core/job/end_of_job.hpp"
#include "core/job/job_state.hpp"
#include "transport/ucx/ucx.hpp"

#include <map>
#include <vector>

namespace atl::core {

static std::string key_of(int pe) { return "ucx/" + std::to_string(pe); }

/// Compares UCX's version between PEs. Otherwise a difference would show when two PEs first communicate,
/// possibly hours later. The answer contains each version once, so it costs a PE one small message.
void agree_on_ucx(JobState& job) {
    std::string mine;
    try {
        mine = transport::describe_ucx(job.settings().ucx_library);
    } catch (const Error& error) {  // reported to the other PEs, too
        throw Error(error.code(), job.topology().location_text(job.pe()) + ": " + error.what());
    }
    std::map<std::string, std::vector<int>> versions;
    std::map<std::string, std::string> examples;
    const std::vector<std::string> all = job.bootstrap().allgather(mine);
    for (std::size_t pe = 0; pe < all.size(); ++pe) {
        const std::string version = all[pe].substr(0, all[pe].find(" ("));  // without its place
        versions[version].push_back(static_cast<int>(pe));
        examples.try_emplace(version, all[pe]);
    }
    if (versions.size() == 1) return;
    std::string text;
    for (const auto& [version, pes] : versions)
        text += (text.empty() ? "PE " : ", PE ") + common::pe_ranges(pes) + " would use " + examples[version];
    throw Error(
        ErrorCode::bootstrap,
        text +
            ": all PEs of a job need the same UCX. ATOLL_UCX_LIBRARY names one; an MPI that is loaded "
            "before brings its own.");
}

std::unique_ptr<transport::Transport> make_ucx(JobState& job) {
    transport::UcxOptions options;
    options.pe = job.pe();
    options.n_pes = job.n_pes();
    options.base = job.window().mine;
    options.bytes = job.mapping()->layout().stride();
    options.memory = job.mapping();
    options.library = job.settings().ucx_library;
    options.progress_thread = job.settings().ucx_thread;
    options.rma = job.settings().ucx_rma;
    options.rma_bytes = job.settings().ucx_rma_bytes;
    options.publish = [&job](const std::string& address) { job.bootstrap().put(key_of(job.pe()), address); };
    options.find = [&job](int pe) { return job.bootstrap().get(key_of(pe)); };
    options.wait = [&job](const char* operation, int pe, const std::function<bool()>& ready) {
        detail::WaitReason reason;
        reason.operation = operation;
        reason.peer = pe;
        detail::wait(job, 0, reason, -1, ready);
    };
    options.is_over = [&job] { return job.board().header().abort.load(std::memory_order_acquire) != 0; };
    options.lost = [&job](int pe, const std::string& sentence) { end_job(job, sentence, pe); };
    options.carries = [&job](int pe) { return !job.topology().has_window_to(pe); };
    try {
        return transport::create_ucx(std::move(options));
    } catch (const Error& error) {  // reported to the other PEs, too

        throw Error(error.code(), job.topology().location_text(job.pe()) + ": " + error.what());
    }
}

}  // namespace atl::core
