#include "core/sync/wait_on_board.hpp"

#include "common/clock.hpp"
#include "common/elf/call_site.hpp"
#include "common/text.hpp"
#include "common/wait_hooks.hpp"
#include "core/job/job_state.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>

namespace atl::core {

namespace {

/// Copies the end of a text, which says more than the beginning of a long path.
template <std::size_t bytes> void copy_end(std::string_view text, char (&to)[bytes]) {
    const std::size_t length = std::min(text.size(), bytes - 1);
    text.copy(to, length, text.size() - length);
    to[length] = '\0';
}

}  // namespace

std::uint64_t word_offset(const JobState& job, const void* word) {
    const auto address = reinterpret_cast<std::uintptr_t>(word);
    const detail::Window& window = job.window();
    if (window.heap_holds(word, 1)) return address - reinterpret_cast<std::uintptr_t>(window.mine);
    if (window.holds(word, 1)) return common::offset_in_statics | (address - window.statics.image);
    return common::absolute_address | address;
}

namespace {

/// The static object of the program around a word.
std::optional<common::DataSymbol> static_object(const JobState& job, const void* word) {
    const detail::Window& window = job.window();
    if (window.heap_holds(word, 1) || !window.holds(word, 1)) return std::nullopt;
    return common::data_symbol("/proc/self/exe",
                               reinterpret_cast<std::uintptr_t>(word) - window.statics.image);
}

/// The front's name of a word, else its allocation.
std::string given_name(const JobState& job, const void* word) {
    const auto name = common::wait_hooks().name;
    return name != nullptr ? name(word) : job.heap().sites().name(word);
}

std::string static_name(const JobState& job, const void* word,
                        const std::optional<common::DataSymbol>& object) {
    if (!object) return {};
    const std::uint64_t at = (word_offset(job, word) & ~common::offset_in_statics) - object->offset;
    if (at == 0) return object->name;
    return "byte " + std::to_string(at) + " of the " + std::to_string(object->bytes) + " bytes of " +
           object->name;
}

}  // namespace

std::string name_of(const JobState& job, const void* word) {
    std::string text = given_name(job, word);
    return text.empty() ? static_name(job, word, static_object(job, word)) : text;
}

/// Takes the record if it is free. A wait that sleeps also takes it from a polling one.
bool WaitOnBoard::claim() {
    std::atomic<const void*>& shown = job_.waits().shown;
    const auto active = job_.board().entry(job_.pe()).wait.active.load(std::memory_order_acquire);
    const void* other = shown.load(std::memory_order_acquire);
    const bool replaces =
        how_ == common::HostWait::sleeps && active == static_cast<std::uint32_t>(common::HostWait::polls);
    if (other != nullptr && !replaces) return false;
    if (!shown.compare_exchange_strong(other, this, std::memory_order_acq_rel)) return false;
    if (other != nullptr) common::Recorder::set_state(job_.recorder->shown_wait, common::EventState::ended);
    return true;
}

bool WaitOnBoard::is_mine() const { return job_.waits().shown.load(std::memory_order_acquire) == this; }

void WaitOnBoard::show(void* hook_state, std::uint64_t found) {
    auto& entry = job_.board().entry(job_.pe());
    auto& record = entry.wait;
    common::WaitCopy values;
    const bool is_first = !is_shown_ || !is_mine();
    if (is_first) {
        is_shown_ = claim();
        if (!is_shown_) return;  // when the wait that is shown ends, this one takes its place
        entry.waits.fetch_add(1, std::memory_order_relaxed);
        if (reason_.word != nullptr && common::wait_hooks().name != nullptr)
            name_of(job_, reason_.word).copy(values.name, sizeof values.name - 1);
    } else {
        std::memcpy(values.name, record.name, sizeof values.name);
        std::memcpy(values.site, record.site, sizeof values.site);
        name(values, hook_state);
        values.other = ShownMessage::find();
        if (reason_.word_bytes != 0) {
            const auto block = job_.heap().block_around(reason_.word);
            values.block_begin = block.begin;
            values.block_bytes = block.bytes;
            if (object_) {
                values.block_begin = common::offset_in_statics | object_->offset;
                values.block_bytes = object_->bytes;
            }
        }
    }
    if (reason_.subject != nullptr) std::strncpy(values.name, reason_.subject, sizeof values.name - 1);
    values.active = static_cast<std::uint32_t>(how_);
    std::strncpy(values.operation, reason_.operation, sizeof values.operation - 1);
    values.team = reason_.team;
    values.peer = values.missing[0] = reason_.peer;
    if (reason_.missing) {
        const int n = reason_.missing(reason_.argument, values.missing, common::WaitRecord::most_missing);
        if (n < common::WaitRecord::most_missing) values.missing[n] = -1;
        values.peer = values.missing[0];
    }
    values.word_bytes = reason_.word_floating ? 0 : reason_.word_bytes;  // the board's values are integers
    values.offset = reason_.word != nullptr ? word_offset(job_, reason_.word) : ~std::uint64_t{0};
    values.expected = reason_.expected;
    values.found = found;
    values.compare = static_cast<std::uint32_t>(reason_.compare);
    if (poll_of_ >= 0) values.compare = common::compared_by_program;
    values.word_pe = poll_of_ == job_.pe() ? -1 : poll_of_;
    values.since_ns = start_ns_;
    values.polled_ns = how_ == common::HostWait::polls ? common::now_ns() : 0;
    const auto [team_id, call] = job_.recorder->current_call();
    values.team_id = team_id;
    values.call = call;
    common::write_wait(record, values);
    this->record(values, is_first);
}

/// Only from the second call on: debug information is read slowly, and most waits have ended by then.
void WaitOnBoard::name(common::WaitCopy& values, void* hook_state) {
    if (reason_.word != nullptr && !is_named_) {
        object_ = static_object(job_, reason_.word);
        std::string text = values.name;
        if (text.empty()) text = given_name(job_, reason_.word);
        if (text.empty()) text = static_name(job_, reason_.word, object_);
        text.copy(values.name, sizeof values.name - 1);
    }
    is_named_ = true;
    if (values.site[0] != '\0') return;
    const std::string site = common::call_site(hook_state);
    copy_end(common::file_name(site), values.site);  // the folder would only lengthen a report
}

/// Writes the event of the wait.
void WaitOnBoard::record(const common::WaitCopy& values, bool is_first) {
    common::Recorder& recorder = *job_.recorder;
    if (is_first) {
        recorder.shown_wait =
            recorder.begin(common::EventKind::wait, common::operation_number(values.operation),
                           values.team_id, values.call, values.peer);
        common::Recorder::set_arguments(recorder.shown_wait, values.offset, values.compare, values.expected,
                                        values.found);
    } else {
        common::Recorder::set_peer(recorder.shown_wait, values.peer);  // others may have come meanwhile
    }
    recorder.set_delay(recorder.shown_wait, values.since_ns, 0, values.site);
}

void WaitOnBoard::hide(bool failed) {
    if (!is_shown_ || !is_mine()) return;
    is_shown_ = false;
    auto& record = job_.board().entry(job_.pe()).wait;
    common::Recorder& recorder = *job_.recorder;
    common::Recorder::set_state(recorder.shown_wait,
                                failed ? common::EventState::failed : common::EventState::ended);
    recorder.set_delay(recorder.shown_wait, start_ns_, common::now_ns(), record.site);
    record.sequence.fetch_add(2, std::memory_order_release);
    record.active.store(0, std::memory_order_release);
    job_.waits().shown.store(nullptr, std::memory_order_release);
}

}  // namespace atl::core
