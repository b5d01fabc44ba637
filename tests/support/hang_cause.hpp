// HangCause, UnsetWord: PEs that wait, as the tests of causes describe them.
#pragma once

#include "common/recorder/recorder.hpp"
#include "core/hang/cause.hpp"

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace atl::core {

class HangCause : public ::testing::Test {
  public:
    explicit HangCause(int n = 4) {
        for (int pe = 0; pe < n; ++pe) {
            doing.push_back(common::of_state(common::PeState::running, "in its own code"));
            doing.back().process = 'R';
            doing.back().pid = 100 + pe;
        }
    }
    common::PeDoing& pe(int number) { return doing[static_cast<std::size_t>(number)]; }
    common::PeDoing& wait(int number, const char* operation, std::vector<int> missing,
                          const char* site = "") {
        common::PeDoing& one = pe(number);
        one.waits = true;
        one.process = 'S';
        one.text = operation + (*site != '\0' ? std::string(", at ") + site : std::string());
        std::snprintf(one.wait.operation, sizeof one.wait.operation, "%s", operation);
        std::snprintf(one.wait.site, sizeof one.wait.site, "%s", site);
        for (std::size_t i = 0; i < missing.size(); ++i) one.wait.missing[i] = missing[i];
        return one;
    }
    /// The PE is in a call of the world team, or was.
    common::CallSeen& call(int number, std::uint32_t call, const char* operation, common::EventState state) {
        common::CallSeen& seen = pe(number).calls.emplace_back();
        seen.team = 1;
        seen.call = call;
        seen.operation = common::operation_number(operation);
        seen.state = state;
        if (state < common::EventState::ended) {
            pe(number).wait.team_id = 1;
            pe(number).wait.call = call;
        }
        return seen;
    }
    std::string cause() const { return find_cause(doing).sentence; }

    std::vector<common::PeDoing> doing;
};

class UnsetWord : public HangCause {
  public:
    UnsetWord() {
        common::WaitCopy& awaited = wait(3, "signal_wait_until", {}).wait;
        awaited.word_bytes = 8;
        awaited.offset = 64;
        awaited.block_begin = 32;
        awaited.block_bytes = 64;
        for (const int number : {0, 1, 2}) wait(number, "barrier", {3});
    }
    void signal(int from, int to, std::uint64_t value, bool adds = false, std::uint64_t place = 64) {
        pe(from).signals.push_back(
            {place, value, to, adds ? common::UpdateKind::add : common::UpdateKind::set});
    }
    void write(int from, const common::UpdateSeen& update) { pe(from).writes.push_back(update); }
    static std::string fault(const std::string& text) { return text + "; " + sentence(""); }
    static std::string no_signal(const std::string& others) {
        return sentence(", for a word that no PE is known to have signalled (" + others + ")");
    }
    static std::string sentence(const std::string& signals) {
        return "PE 3 waits in signal_wait_until" + signals +
               ", and every PE waits: none is left that could set it";
    }
};

}  // namespace atl::core
