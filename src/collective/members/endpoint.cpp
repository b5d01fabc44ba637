#include "collective/members/endpoint.hpp"

#include "atoll/error.hpp"
#include "common/clock.hpp"
#include "common/settings/settings.hpp"

#include <unistd.h>

#include <cstdlib>
#include <utility>

namespace atl::far {
namespace {

constexpr std::uint64_t explain_ns = 20'000'000;
/// Longest time for which a send waits for UCX; the message is then posted already.
constexpr std::uint64_t longest_wait_ns = 100'000'000;

/// All endpoints of the process.
struct Registry {
    std::atomic<pid_t> process{0};  ///< created the newest endpoint; a forked child inherits the value
    std::mutex mutex;
    std::vector<std::weak_ptr<Endpoint>> endpoints;
};

Registry& registry() {
    static auto* const made = new Registry;  // never destroyed: threads may use it while the process ends
    return *made;
}

std::vector<std::shared_ptr<Endpoint>> alive() {
    std::vector<std::shared_ptr<Endpoint>> found;
    Registry& known = registry();
    const std::lock_guard lock(known.mutex);
    for (const auto& each : known.endpoints)
        if (std::shared_ptr<Endpoint> endpoint = each.lock()) found.push_back(std::move(endpoint));
    return found;
}

/// Sends what a program has left to send when it ends without destroying its groups. Also stops the threads
/// that use UCX, which ends after this. In a forked child the locks of its parent may be held.
void close_all() {
    if (::getpid() != registry().process.load()) return;
    for (const auto& endpoint : alive()) endpoint->transport().close();
}

void wait_briefly(const std::function<bool()>& ready) {
    const std::uint64_t start = common::now_ns();
    while (!ready()) {
        if (common::now_ns() - start > longest_wait_ns)
            throw Error(ErrorCode::timeout, "UCX has too many messages in flight.");
        ::usleep(50);
    }
}

}  // namespace

Endpoint::Endpoint(std::string name, int number, int n) : name_(std::move(name)), number_(number) {
    const common::Settings settings = common::read_settings();
    transport::UcxOptions options;
    options.pe = number;
    options.n_pes = n;
    options.parts = this;
    options.library = settings.ucx_library;
    options.rma = transport::UcxRma::off;
    options.explain_ns = explain_ns;
    options.publish = [this](const std::string& address) { address_ = address; };
    options.find = [this](int pe) { return addresses_.at(static_cast<std::size_t>(pe)); };
    options.wait = [](const char*, int, const std::function<bool()>& ready) { wait_briefly(ready); };
    options.lost = [this](int pe, const std::string& sentence) {
        const std::lock_guard lock(ends_mutex_);
        const std::size_t reason = sentence.find("any more: ");
        ends_[pe] = reason == std::string::npos ? sentence : sentence.substr(reason + 10);
        if (ends_[pe].ends_with('.')) ends_[pe].pop_back();
    };
    transport_ = transport::create_ucx(std::move(options));
}

/// The transport still delivers messages while it closes.
Endpoint::~Endpoint() { transport_.reset(); }

std::shared_ptr<Endpoint> Endpoint::make(std::string name, int number, int n) {
    std::shared_ptr<Endpoint> made(new Endpoint(std::move(name), number, n));
    // After UCX is loaded, so that this runs before UCX's own end.
    [[maybe_unused]] static const int registered = std::atexit(close_all);
    Registry& known = registry();
    const std::lock_guard lock(known.mutex);
    std::erase_if(known.endpoints, [](const auto& each) { return each.expired(); });
    known.endpoints.push_back(made);
    known.process.store(made->process_);
    return made;
}

std::vector<std::shared_ptr<Endpoint>> Endpoint::all() {
    std::vector<std::shared_ptr<Endpoint>> found = alive();
    std::erase_if(found, [](const auto& endpoint) {
        if (endpoint->process_ != ::getpid()) return true;
        const std::lock_guard lock(endpoint->ends_mutex_);
        return !endpoint->is_open_ || !endpoint->ends_.empty();
    });
    return found;
}

void Endpoint::set_addresses(std::vector<std::string> addresses) {
    addresses_ = std::move(addresses);
    const std::lock_guard lock(ends_mutex_);
    is_open_ = true;
}

std::uint64_t Endpoint::add(Target& target) {
    const std::lock_guard lock(mutex_);
    targets_[++last_target_] = &target;
    return last_target_ << offset_shift;
}

void Endpoint::remove(std::uint64_t offset) {
    const std::lock_guard lock(mutex_);
    targets_.erase(offset >> offset_shift);
}

void Endpoint::put(std::uint64_t offset, const char* data, std::size_t bytes,
                   const transport::Signal* signal) {
    constexpr std::uint64_t within = (std::uint64_t{1} << offset_shift) - 1;
    const std::lock_guard lock(mutex_);
    const auto found = targets_.find(offset >> offset_shift);
    if (found == targets_.end()) return;
    Target& target = *found->second;
    if (bytes != 0) target.put(offset & within, data, bytes);
    if (signal != nullptr) target.set(signal->offset & within, signal->value);
    target.arrived();
}

void Endpoint::retire(std::shared_ptr<const void> memory) {
    // Before the check: memory that another thread retires after it may still be sent from.
    const std::lock_guard lock(retired_mutex_);
    if (transport_->is_sending())
        retired_.push_back(std::move(memory));
    else
        retired_.clear();
}

std::string Endpoint::end_of(int number) {
    const std::lock_guard lock(ends_mutex_);
    const auto found = ends_.find(number);
    return found == ends_.end() ? std::string() : found->second;
}

}  // namespace atl::far
