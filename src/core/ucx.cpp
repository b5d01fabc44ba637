#include "core/ucx.hpp"

#include "atoll/detail/wait.hpp"
#include "core/job_state.hpp"
#include "transport/ucx/ucx.hpp"

namespace atl::core {

static std::string key_of(int pe) { return "ucx/" + std::to_string(pe); }

std::unique_ptr<transport::Transport> make_ucx(JobState& job) {
    transport::UcxOptions options;
    options.pe = job.pe();
    options.n_pes = job.n_pes();
    options.base = job.window().mine;
    options.bytes = job.mapping()->layout().stride();
    options.memory = job.mapping();
    options.library = job.settings().ucx_library;
    options.progress_thread = job.settings().ucx_thread;
    options.publish = [&job](const std::string& address) { job.bootstrap().put(key_of(job.pe()), address); };
    options.find = [&job](int pe) { return job.bootstrap().get(key_of(pe)); };
    options.wait = [&job](const char* operation, int pe, const std::function<bool()>& ready) {
        detail::WaitReason reason;
        reason.operation = operation;
        reason.peer = pe;
        detail::wait(job, 0, reason, -1, ready);
    };
    options.lost = [&job](int pe, const std::string& sentence) {
        job.board().abort(pe, 1, sentence);
        job.bootstrap().abort(1, sentence);
    };
    options.carries = [&job](int pe) { return job.slot(pe) < 0; };
    return transport::create_ucx(std::move(options));
}

}  // namespace atl::core
