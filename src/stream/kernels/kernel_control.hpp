// Control blocks of teams for kernels (atoll/device/control.hpp): the fields that the host writes.
#pragma once

#include "atoll/types.hpp"

#include <memory>
#include <string>

namespace atl::device {
struct Control;
struct Report;
struct Team;
struct TraceSink;
struct Watch;
}  // namespace atl::device

namespace atl::core {
class JobState;
class TeamState;
}  // namespace atl::core

namespace atl::stream {

/// This PE's control block of a team in that memory, filled in for kernels. Throws Error(unsupported): no
/// place for the team, or too many members.
device::Control* kernel_control(core::TeamState& team, Memory memory);
/// Throws Error(unsupported) that names such a member. `who` cannot reach it; `instead` can.
void check_near(const core::TeamState& team, const std::string& who, const std::string& instead);
/// The team as a kernel argument. Throws Error: unsupported, not_initialized (no device heap). `far_too`
/// allows PEs whose device heap only a transport reaches.
device::Team kernel_team(core::TeamState& team, Memory memory, bool far_too = false);
/// The sink of a trace in the memory of this PE's GPU. Null if the world's team cannot be used in kernels.
device::TraceSink* trace_sink(const core::JobState& job, char* gpu_memory);
/// Zeroes a team's blocks on this PE and frees its place. No member may use them any more.
void release_kernel_control(core::TeamState& team) noexcept;

/// World number of a team's PE, from the team's control block. `watch` identifies the memory.
int world_pe(core::JobState& job, const device::Watch& watch, int team, int pe);
/// The words that functions of kernels on the host poll.
std::shared_ptr<device::Watch> make_host_watch(core::JobState& job);
/// Sets the check made by device functions on the host, which throws Error(pe_died, timeout,
/// not_initialized), and the wait that takes over from them.
void set_host_check(core::JobState& job, device::Watch& watch);

}  // namespace atl::stream
