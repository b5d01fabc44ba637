#include "collective/members/members.hpp"

namespace atl::requests {

std::string list_of(const Members& members, const std::vector<int>& ranks) {
    std::string text = members.membership().noun + (ranks.size() == 1 ? "" : "s");
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        text += (i == 0 ? " " : ", ") + std::to_string(members.number(ranks[i]));
    }
    return text;
}

}  // namespace atl::requests
