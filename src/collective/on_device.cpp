#include "collective/on_device.hpp"

namespace atl::collective {

void run_on_device(State& state, const char* operation, const core::GroupArguments& arguments) {
    core::TeamState& team = state.team();
    const core::DeviceMemory& device = *team.job().device();
    const heap::GroupCall call = core::group_call(team, device, arguments);
    if (arguments.bytes == 0) return;
    team.sync(operation);
    device.run(call);
}

void reduce_on_device(State& state, const char* operation, const core::GroupArguments& arguments) {
    core::check_reduction(arguments.type, arguments.op);
    run_on_device(state, operation, arguments);
}

}  // namespace atl::collective
