// Mismatch: the report of two members in different collectives. It waits briefly for the place of the other
// member's call, without blocking.
#pragma once

#include "collective/requests/rounds.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace atl::requests {

class Mismatch {
  public:
    explicit Mismatch(Members& members) : members_(members) {}

    /// Returns the error's text once the call sites of both members are known, or one is late; empty until
    /// then. The first call publishes the site of `request`, this member's call, if that is known.
    std::string text(const Rounds::Difference& difference, const Request& request,
                     const std::vector<Rounds::Form>& forms);
    /// True if `text` waits for the place of this member's call, of which `set_site` tells it.
    bool lacks_site() const { return until_ns_ != 0 && !is_site_final_; }
    void set_site(const std::string& site, const Rounds::Difference& difference);
    /// The sentence for a launcher, by numbers of PEs: "PE 1 called barrier at x.py:9 as call 6 of group 0,
    /// where …".
    std::string sentence(const Rounds::Difference& difference, const std::vector<Rounds::Form>& forms) const;

  private:
    std::string calls_text(const std::vector<Rounds::Form>& forms, const std::string& who, bool is_short,
                           const std::function<int(int)>& number_of) const;
    std::string text_of_group(const std::vector<Rounds::Form>& forms) const;
    std::string site_of(int member, const Announcement& call) const;
    void publish(const std::string& site, std::uint32_t number);
    bool is_sited(int member, const Announcement& call) const;
    bool are_known(const std::vector<Rounds::Form>& forms) const;

    Members& members_;
    std::string site_;
    std::uint64_t until_ns_ = 0;  ///< 0: not begun
    bool is_site_final_ = false;  ///< `site_` is known, or will not be
};

}  // namespace atl::requests
