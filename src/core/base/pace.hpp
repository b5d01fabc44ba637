// Pace: numbers of polls that fit this machine.
#pragma once

namespace atl::common {
struct Settings;
}

namespace atl::core {

/// Fixed when the job starts.
struct Pace {
    int usable_cpus = 1;       ///< cores that the PEs of this machine may use
    int spins = 0;             ///< pauses of a wait before it yields
    int pauses_of_a_line = 1;  ///< pauses in the time that a cache line takes between cores, at least 1
};

/// Measures the duration of a pause. `machine_pes` is the number of PEs on this machine.
Pace pace_of(const common::Settings& settings, int usable_cpus, int machine_pes);

}  // namespace atl::core
