#include "calls/names.hpp"

#include "calls/caller.hpp"

#include <map>
#include <mutex>
#include <utility>

namespace atl::python {
namespace {

struct Named {
    std::size_t bytes;
    std::size_t item;
    std::string text;
};

/// Waiting threads look up names without the GIL, hence the mutex. No thread waits while it holds the mutex.
struct Names {
    std::mutex mutex;
    std::map<const char*, Named> all;
};
Names& names() {
    static auto& instance = *new Names;
    return instance;
}

std::string found_name(const void* address, bool with_element) {
    const auto* at = static_cast<const char*>(address);
    Names& known = names();
    const std::lock_guard lock(known.mutex);
    auto next = known.all.upper_bound(at);
    if (next == known.all.begin()) return {};
    const auto& [start, named] = *--next;
    const auto offset = static_cast<std::size_t>(at - start);
    if (offset >= named.bytes) return {};
    if (!with_element || named.bytes <= named.item) return "the " + named.text;
    return "element " + std::to_string(offset / named.item) + " of the " + named.text;
}

}  // namespace

void name_memory(const void* address, std::size_t bytes, std::size_t item, std::string what) {
    CallerLine line = caller_line();
    if (line.is_allocation) line.operation.clear();  // "allocated" is enough
    if (line) what += " allocated at " + line.text(false);
    Names& known = names();
    const std::lock_guard lock(known.mutex);
    known.all.insert_or_assign(static_cast<const char*>(address),
                               Named{bytes, item == 0 ? 1 : item, std::move(what)});
}

void forget_name(const void* address) noexcept {
    Names& known = names();
    const std::lock_guard lock(known.mutex);
    known.all.erase(static_cast<const char*>(address));
}

void forget_names() noexcept {
    Names& known = names();
    const std::lock_guard lock(known.mutex);
    known.all.clear();
}

std::string name_of(const void* address) { return found_name(address, true); }
std::string array_name(const void* address) { return found_name(address, false); }

}  // namespace atl::python
