#include "common/settings/algorithms.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "atoll/error.hpp"

namespace atl::common {
namespace {

constexpr const char* collective_names[] = {"broadcast", "fcollect", "collect",   "alltoall",       "gather",
                                            "scatter",   "reduce",   "reduce_to", "reduce_scatter", "scan"};
constexpr const char* algorithm_names[] = {"line", "staged", "pull", "both", "push", "slices"};
static_assert(std::size(collective_names) == collective_count);
static_assert(std::size(algorithm_names) == algorithm_count);

[[noreturn]] void refuse_rules(const std::string& text, const std::string& sentence) {
    throw Error(ErrorCode::settings, "ATOLL_COLLECTIVE=" + text + " cannot be read: " + sentence);
}

std::string comma_list(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
    return text;
}

Collective collective_named(const std::string& text, std::string_view name) {
    const auto* found = std::find(std::begin(collective_names), std::end(collective_names), name);
    if (found == std::end(collective_names))
        refuse_rules(text, "\"" + std::string(name) + "\" is not one of " +
                               comma_list({std::begin(collective_names), std::end(collective_names)}) + ".");
    return static_cast<Collective>(found - collective_names);
}

Algorithm algorithm_named(const std::string& text, Collective collective, std::string_view name) {
    std::vector<std::string> good;
    for (int i = 0; i < algorithm_count; ++i) {
        const auto algorithm = static_cast<Algorithm>(i);
        if (!has_algorithm(collective, algorithm)) continue;
        if (name == name_of(algorithm)) return algorithm;
        good.emplace_back(name_of(algorithm));
    }
    refuse_rules(text, std::string(name_of(collective)) + " goes by " + comma_list(good) + ", not by \"" +
                           std::string(name) + "\".");
}

std::size_t size_named(const std::string& text, std::string_view digits) {
    std::size_t bytes = 0;
    const auto [rest, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bytes);
    if (error != std::errc{} || rest != digits.data() + digits.size())
        refuse_rules(text, "\"" + std::string(digits) + "\" is not a number of bytes.");
    return bytes;
}

}  // namespace

AlgorithmRules parse_algorithms(const std::string& text) {
    AlgorithmRules rules;
    for (std::string_view rest = text; !rest.empty();) {
        const std::string_view item = rest.substr(0, rest.find(','));
        rest.remove_prefix(std::min(item.size() + 1, rest.size()));
        const std::size_t equals = item.find('=');
        if (equals == std::string_view::npos)
            refuse_rules(
                text, "expected COLLECTIVE[:BYTES]=ALGORITHM, such as broadcast:65536=pull,reduce=slices.");
        const std::string_view left = item.substr(0, equals);
        const std::size_t colon = left.find(':');
        AlgorithmRule rule{};
        rule.collective = collective_named(text, left.substr(0, colon));
        rule.algorithm = algorithm_named(text, rule.collective, item.substr(equals + 1));
        if (colon != std::string_view::npos) rule.from_bytes = size_named(text, left.substr(colon + 1));
        rules.push_back(rule);
    }
    return rules;
}

std::string text_of(const AlgorithmRules& rules) {
    std::string text;
    for (const AlgorithmRule& rule : rules) {
        text += (text.empty() ? "" : ",") + std::string(name_of(rule.collective));
        if (rule.from_bytes != 0) text += ":" + std::to_string(rule.from_bytes);
        text += "=" + std::string(name_of(rule.algorithm));
    }
    return text;
}

const char* name_of(Collective collective) { return collective_names[static_cast<int>(collective)]; }
const char* name_of(Algorithm algorithm) { return algorithm_names[static_cast<int>(algorithm)]; }

}  // namespace atl::common
