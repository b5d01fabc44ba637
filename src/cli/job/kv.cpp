#include "cli/job/kv.hpp"

#include "bootstrap/launcher/launch_protocol.hpp"
#include "bootstrap/store/wire.hpp"

#include <algorithm>
#include <utility>

namespace atl::cli {

KeyValueStore::KeyValueStore(int n_pes, std::function<void(int, const std::string&)> answer)
    : answer_(std::move(answer)),
      fences_(static_cast<std::size_t>(n_pes)),
      departed_(static_cast<std::size_t>(n_pes)),
      collected_(static_cast<std::size_t>(n_pes)) {}

void KeyValueStore::put(const std::string& key, const std::string& value) {
    values_[key] = value;
    const auto [first, last] = getters_.equal_range(key);
    for (auto getter = first; getter != last; ++getter) answer_(getter->second, "V" + value);
    getters_.erase(first, last);
}

void KeyValueStore::get(int pe, const std::string& key) {
    const auto found = values_.find(key);
    if (found != values_.end()) {
        answer_(pe, "V" + found->second);
    } else {
        getters_.emplace(key, pe);
    }
}

void KeyValueStore::fence(int pe) {
    ++fences_[static_cast<std::size_t>(pe)];
    release_fences();
}

void KeyValueStore::collect(int pe, const std::string& value) {
    collected_[static_cast<std::size_t>(pe)] = value;
    release_collection();
}

void KeyValueStore::release_collection() {
    bool any_pe = false;
    for (std::size_t pe = 0; pe < collected_.size(); ++pe) {
        if (!collected_[pe] && !departed_[pe]) return;
        any_pe = any_pe || collected_[pe];
    }
    if (!any_pe) return;
    std::vector<std::string> values;
    for (const auto& value : collected_) values.push_back(value.value_or(""));
    const std::string packed = bootstrap::pack(values);
    constexpr std::size_t most = bootstrap::max_packet_bytes - 2;
    for (std::size_t pe = 0; pe < collected_.size(); ++pe) {
        if (!collected_[pe].has_value()) continue;
        for (std::size_t at = 0; at < packed.size(); at += most)
            answer_(static_cast<int>(pe),
                    (packed.size() - at > most ? "C+" : "C.") + packed.substr(at, most));
        collected_[pe].reset();
    }
}

void KeyValueStore::depart(int pe) {
    departed_[static_cast<std::size_t>(pe)] = true;
    for (auto getter = getters_.begin(); getter != getters_.end();) {
        getter = getter->second == pe ? getters_.erase(getter) : std::next(getter);
    }
    collected_[static_cast<std::size_t>(pe)].reset();
    release_fences();
    release_collection();
}

void KeyValueStore::release_fences() {
    bool any_pe = false;
    for (std::size_t pe = 0; pe < fences_.size(); ++pe) {
        if (departed_[pe]) continue;
        if (fences_[pe] <= released_) return;
        any_pe = true;
    }
    if (!any_pe) return;
    ++released_;
    for (std::size_t pe = 0; pe < fences_.size(); ++pe) {
        if (!departed_[pe]) answer_(static_cast<int>(pe), "F");
    }
}

std::vector<int> KeyValueStore::waiting() const {
    std::vector<int> pes;
    for (const auto& [key, pe] : getters_) pes.push_back(pe);
    for (std::size_t pe = 0; pe < fences_.size(); ++pe) {
        if (!departed_[pe] && (fences_[pe] > released_ || collected_[pe]))
            pes.push_back(static_cast<int>(pe));
    }
    std::sort(pes.begin(), pes.end());
    pes.erase(std::unique(pes.begin(), pes.end()), pes.end());
    return pes;
}

}  // namespace atl::cli
