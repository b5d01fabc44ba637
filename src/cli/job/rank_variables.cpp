#include "cli/job/rank_variables.hpp"

#include <cstdlib>
#include <netinet/in.h>
#include <random>
#include <sys/socket.h>
#include <utility>

#include "bootstrap/store/tcp_socket.hpp"
#include "common/settings/job_environment.hpp"
#include "common/text.hpp"

namespace atl::cli {
namespace {

using common::environment_value;

constexpr const char* names[] = {"RANK",        "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE",
                                 "MASTER_ADDR", "MASTER_PORT"};

/// A socket bound to `port` (0: any free one), at which nothing listens. While it exists, a program that asks
/// for any port does not get this one. PyTorch can listen there, because its socket has SO_REUSEADDR too.
common::Fd bound(int family, const sockaddr* address, socklen_t size) {
    common::Fd fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!fd) return {};
    const int on = 1, off = 0;
    ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (family == AF_INET6) ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    return ::bind(fd.get(), address, size) == 0 ? std::move(fd) : common::Fd();
}

common::Fd bound_ipv4(int port, in_addr_t address) {
    sockaddr_in four{};
    four.sin_family = AF_INET;
    four.sin_port = htons(static_cast<std::uint16_t>(port));
    four.sin_addr.s_addr = htonl(address);
    return bound(AF_INET, reinterpret_cast<sockaddr*>(&four), sizeof four);
}

/// Reserves a port at all addresses of this host; empty if that fails.
common::Fd reserve(int port) {
    sockaddr_in6 six{};
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(static_cast<std::uint16_t>(port));
    common::Fd fd = bound(AF_INET6, reinterpret_cast<sockaddr*>(&six), sizeof six);
    return fd ? std::move(fd) : bound_ipv4(port, INADDR_ANY);
}

std::string text_of_user() {
    std::vector<std::string> entries;
    for (const char* name : {"RANK", "WORLD_SIZE"})
        if (const std::string value = environment_value(name); !value.empty())
            entries.push_back(std::string(name) + "=" + value);
    return common::list_text(entries);
}

}  // namespace

RankStore store_over_hosts(const std::string& first_host) {
    RankStore store{environment_value("MASTER_ADDR"), environment_value("MASTER_PORT")};
    if (store.address.empty()) store.address = first_host.substr(first_host.find('@') + 1);
    // The host cannot be asked for a free port before the other hosts start, hence a random number of a wide
    // range.
    constexpr int least = 22000, most = 31999;
    std::random_device random;
    if (store.port.empty()) store.port = std::to_string(std::uniform_int_distribution(least, most)(random));
    return store;
}

RankVariables::RankVariables(const RunOptions& options)
    : first_pe_(options.first_pe),
      n_here_(options.n_pes),
      n_all_(options.join ? options.join->n_pes : options.n_pes),
      of_user_(text_of_user()) {
    // Empty ones count as unset, and would hide ours.
    for (const char* name : names)
        if (environment_value(name).empty()) ::unsetenv(name);
    if (!of_user_.empty()) return;
    if (options.join) {
        store_ = options.store;
        if (first_pe_ == 0) reserved_ = reserve(std::atoi(store_.port.c_str()));
    } else if (environment_value("MASTER_PORT").empty() && (reserved_ = reserve(0))) {
        store_.port = std::to_string(bootstrap::port_of(reserved_.get()));
    }
    if (store_.address.empty()) store_.address = bound_ipv4(0, INADDR_LOOPBACK) ? "127.0.0.1" : "::1";
}

std::vector<std::string> RankVariables::of(int pe) const {
    if (!of_user_.empty()) return {};
    const std::string values[] = {std::to_string(first_pe_ + pe), std::to_string(n_all_), std::to_string(pe),
                                  std::to_string(n_here_),        store_.address,         store_.port};
    std::vector<std::string> entries;
    std::string record = std::string(common::ranks_record) + "=";
    for (std::size_t i = 0; i < std::size(names); ++i) {
        if (values[i].empty() || std::getenv(names[i])) continue;
        entries.push_back(std::string(names[i]) + "=" + values[i]);
        record += (entries.size() == 1 ? "" : " ") + entries.back();
    }
    entries.push_back(record);
    return entries;
}

}  // namespace atl::cli
