#include "collective/on_device.hpp"

namespace atl::collective {

void throw_on_device(const char* operation) {
    throw Error(
        ErrorCode::not_symmetric,
        std::string(operation) +
            " needs memory of the host, and an array is in the device heap; broadcast, fcollect, alltoall, "
            "gather, scatter, reduce and reduce_scatter take such arrays.");
}

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
