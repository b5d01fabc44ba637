#include "simulated/many_words.hpp"

#include "gpu/cuda/kernels/many_words.hpp"

namespace atl::simulated {

void perform(const gpu::WaitManyCall& call) {
    kernels::poll_many(call.team, call.asked, call.operation, call.reported_values, kernels::OneLane{});
}

}  // namespace atl::simulated
