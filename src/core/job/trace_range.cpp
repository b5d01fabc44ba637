#include "atoll/trace.hpp"

#include "atoll/job.hpp"
#include "common/recorder/event_log.hpp"
#include "core/job/job_state.hpp"

#include <string>

namespace atl {

TraceRange::TraceRange(const Job& job, std::string_view name) : job_(job) {
    common::EventLog* log = job.state().log.get();
    if (log == nullptr) return;
    name_ = log->number_of(std::string(name));
    began_ = log->now();
}

TraceRange::~TraceRange() {
    const std::shared_ptr<core::JobState> state = job_.handle().lock();
    if (began_ == 0 || state == nullptr || state->log == nullptr) return;
    state->log->add_range(name_, began_);
}

}  // namespace atl
