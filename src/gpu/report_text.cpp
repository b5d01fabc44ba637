#include "gpu/report_text.hpp"

#include "atoll/device/control.hpp"
#include "common/board/board.hpp"
#include "common/recorder/operation_names.hpp"
#include "common/text.hpp"

#include <cstdint>
#include <cstdio>
#include <iterator>

namespace atl::gpu {

namespace {

const char* name_of(device::Operation operation) {
    return common::device_operation_name(static_cast<std::uint32_t>(operation));
}

/// Text of a word of a report, by its type.
std::string value_text(device::Values values, unsigned long long bits) {
    switch (values) {
        case device::Values::int32:
            return std::to_string(static_cast<std::int32_t>(bits));
        case device::Values::int64:
            return std::to_string(static_cast<std::int64_t>(bits));
        case device::Values::float32:
            return common::floating_text(bits, 4);
        case device::Values::float64:
            return common::floating_text(bits, 8);
        default:
            return std::to_string(bits);
    }
}

std::string comparison_text(const device::Report& report) {
    return common::address_text(reinterpret_cast<const void*>(report.address)) + ": found " +
           value_text(report.values, report.found) + ", waiting for " +
           common::compare_sign(static_cast<std::uint32_t>(report.compare)) + " " +
           value_text(report.values, report.expected);
}

std::string far_text(const device::Report& report) {
    const auto pe = static_cast<int>(report.found);
    const std::string name = pe < 0 ? "" : "PE " + std::to_string(pe);
    if (report.subject == device::Subject::not_reached) return "; " + name;
    return name.empty() ? "" : " at " + name;
}

std::string hex(unsigned long long address) {
    char text[20];
    std::snprintf(text, sizeof text, "%#llx", address);
    return text;
}
}  // namespace

std::string operation_text(const device::Report& report) { return name_of(report.operation); }

std::string thread_text(const device::Report& report) {
    if (report.blocks == 0) return {};
    return "thread " + std::to_string(report.thread) + " of block " + std::to_string(report.block);
}

namespace {

std::string fault_text(const device::Report& report) {
    std::string text = name_of(report.operation);
    if (report.team != 0) text += " of team " + std::to_string(report.team);
    if (report.subject == device::Subject::wrong_pe)
        return text + " for team PE " + std::to_string(report.peer) + "; the team has PEs 0 to " +
               std::to_string(static_cast<long long>(report.expected) - 1);
    if (report.subject == device::Subject::wrong_index) {
        const auto size = static_cast<long long>(report.expected);
        return text + " for element " + std::to_string(static_cast<long long>(report.found)) + ", index " +
               std::to_string(report.address) + " of the call; the array has " + std::to_string(size) +
               " elements, so indices are " + std::to_string(-size) + " to " + std::to_string(size - 1);
    }
    if (report.subject == device::Subject::wrong_address)
        return text + " at " + hex(report.address) + "; this PE's symmetric memory is " +
               hex(report.expected) + " to " + hex(report.found) +
               ", and a peer's copy is addressed by it. Pass a symmetric array of this job, such as from "
               "atoll.zeros() or SymmetricArray";
    if (report.subject == device::Subject::far_wait)
        return text + ", which a thread of the host carries out" + far_text(report);
    if (report.subject == device::Subject::not_reached)
        return text + ", which kernels can do only with PEs in the window" + far_text(report) +
               " is reached by a transport. Use put, get, p, g, atomics, signals, sync, or the calls of the "
               "host";
    if (report.subject == device::Subject::word) text += " at " + comparison_text(report);
    if (report.peer >= 0) text += ", waiting for team PE " + std::to_string(report.peer);
    if (report.tag != 0) text += ", tag " + std::to_string(report.tag);
    return text;
}

}  // namespace

std::string report_text(const device::Report& report) {
    const std::string thread = thread_text(report);
    return fault_text(report) + (thread.empty() ? "" : ", in " + thread);
}

}  // namespace atl::gpu
