#include "core/base/job_base.hpp"

#include <utility>

namespace atl::core {

JobBase::JobBase(JobState& job_state, std::unique_ptr<bootstrap::Bootstrap> bootstrap,
                 const common::Settings& settings, const UpperLayers& upper)
    : settings_(settings),
      bootstrap_(std::move(bootstrap)),
      pe_(bootstrap_->pe()),
      n_pes_(bootstrap_->n_pes()),
      segment_(bootstrap_->host_segment()),
      devices_(*this, upper),
      job_state_(job_state) {
    recorder = std::make_unique<common::Recorder>(segment_.board.events(pe_));
    const common::BoardHeader& board = segment_.board.header();
    if (board.log_events != 0)
        log = std::make_unique<common::EventLog>(segment_.board.log(pe_), board.log_events);
    recorder->log = log.get();
    if (settings_.stats || log)
        meter = std::make_unique<common::Meter>(segment_.board.counters(pe_), log.get());
}

JobBase::~JobBase() = default;

}  // namespace atl::core
