#include "bootstrap/rendezvous.hpp"

#include <fstream>
#include <unistd.h>

#include "bootstrap/host_link.hpp"

namespace atl::bootstrap {
namespace {

std::string host_key(int pe) { return "atoll/host/" + std::to_string(pe); }
constexpr const char* verdict_key = "atoll/job";

std::string boot_of(const std::string& identity) { return identity.substr(0, identity.find(' ')); }

std::string difference(const std::string& host, const std::string& other, int pe) {
    const std::string who = "PE " + std::to_string(pe) + " runs ";
    if (boot_of(host) == boot_of(other))
        return who +
               "on PE 0's host but in another network namespace (another container?). Start all PEs in one "
               "container.";
    return who + "on another host than PE 0. This version of Atoll joins PEs of one host only.";
}

/// On PE 0: the id, or '!' and why there is none.
std::string judge(const JobOptions::Store& store, int n_pes, const std::string& host) {
    // All are heard before any verdict: nobody comes to a PE 0 that has given up already.
    std::string trouble;
    for (int pe = 1; pe < n_pes; ++pe) {
        const std::string other = store.get(host_key(pe));
        if (other != host && trouble.empty()) trouble = "!" + difference(host, other, pe);
    }
    return trouble.empty() ? make_unique_id() : trouble;
}

}  // namespace

std::string host_identity() {
    std::string boot;
    std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
    char network[64] = {};
    static_cast<void>(!::readlink("/proc/self/ns/net", network, sizeof network - 1));
    return boot + " " + network;
}

std::string meet(const JobOptions::Store& store, int pe, int n_pes, const std::string& host) {
    store.put(host_key(pe), host);
    if (pe == 0) store.put(verdict_key, judge(store, n_pes, host));
    std::string verdict = store.get(verdict_key);
    if (verdict.starts_with('!')) throw Error(ErrorCode::unsupported, verdict.substr(1));
    return verdict;
}

}  // namespace atl::bootstrap
