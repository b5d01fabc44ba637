#include "bootstrap/host/hosts.hpp"

#include <unistd.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "bootstrap/fail.hpp"
#include "bootstrap/host/host_identity.hpp"
#include "common/kernel_identity.hpp"

namespace atl::bootstrap {

namespace {

/// The lines of the message that a PE sends. The note is the last; it may itself have several lines.
enum Line : std::size_t { host_line, domain_line, machine_line, name_line, note_line };

std::string host_text(int pe, const common::Settings& settings, const std::vector<int>& sharing,
                      const std::string& note) {
    const std::string id = host_id_of(settings.host_ids, pe);
    const std::string boot = common::boot_id();
    const std::string name = host_name();
    const std::string first = std::to_string(sharing.empty() ? pe : sharing.front());
    // The name is part of it because containers of one machine have different names.
    return boot + " " + name + " " + id + "\n" + first + " " + id + "\n" + boot + "\n" +
           (id.empty() ? name : id) + "\n" + note;
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::size_t at = 0;
    while (lines.size() < note_line) {
        const std::size_t end = text.find('\n', at);
        if (end == std::string::npos)
            throw_bootstrap(
                "The description of another PE's host cannot be read; do all PEs run one release of Atoll?");
        lines.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    lines.push_back(text.substr(at));
    return lines;
}

}  // namespace

Hosts Hosts::one(int n_pes, int my_pe) {
    Hosts hosts;
    hosts.host_of.assign(static_cast<std::size_t>(n_pes), 0);
    hosts.domain_of = hosts.host_of;
    hosts.names = {host_name()};
    hosts.members.resize(static_cast<std::size_t>(n_pes));
    std::iota(hosts.members.begin(), hosts.members.end(), 0);
    hosts.machine_pes = n_pes;
    hosts.machine_index = my_pe;
    return hosts;
}

std::string host_id_of(const std::vector<std::string>& names, int pe) {
    return names.empty() ? std::string() : names[static_cast<std::size_t>(pe) % names.size()];
}

Hosts find_hosts(Bootstrap& bootstrap, const common::Settings& settings, const std::vector<int>& sharing,
                 const std::string& note, std::vector<std::string>& notes) {
    Hosts hosts;
    std::map<std::string, int> host_numbers, domain_numbers;
    std::vector<int> host_of_domain;
    std::vector<std::string> machines;
    notes.clear();
    for (const std::string& text : bootstrap.allgather(host_text(bootstrap.pe(), settings, sharing, note))) {
        std::vector<std::string> lines = lines_of(text);
        const auto [domain, is_new_domain] =
            domain_numbers.try_emplace(lines[domain_line], static_cast<int>(domain_numbers.size()));
        // Containers that share memory are one host, whatever their host names.
        if (is_new_domain) {
            const auto [host, is_new] = host_numbers.try_emplace(lines[host_line], hosts.n_hosts());
            if (is_new) hosts.names.push_back(lines[name_line]);
            host_of_domain.push_back(host->second);
        }
        hosts.domain_of.push_back(domain->second);
        hosts.host_of.push_back(host_of_domain[static_cast<std::size_t>(domain->second)]);
        machines.push_back(std::move(lines[machine_line]));
        notes.push_back(std::move(lines[note_line]));
    }
    hosts.n_domains = static_cast<int>(domain_numbers.size());
    const auto me = static_cast<std::size_t>(bootstrap.pe());
    for (std::size_t pe = 0; pe < hosts.domain_of.size(); ++pe)
        if (hosts.domain_of[pe] == hosts.domain_of[me]) hosts.members.push_back(static_cast<int>(pe));
    hosts.machine_pes = static_cast<int>(std::count(machines.begin(), machines.end(), machines[me]));
    hosts.machine_index =
        static_cast<int>(std::count(machines.begin(), machines.begin() + bootstrap.pe(), machines[me]));
    return hosts;
}

}  // namespace atl::bootstrap
