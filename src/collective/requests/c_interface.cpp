// The plain C interface of groups (atoll/groups.h).
#include "atoll/groups.h"

#include "collective/members/meeting.hpp"
#include "collective/requests/c_interface.hpp"
#include "collective/requests/group.hpp"

#include <cstring>
#include <vector>

struct atoll_group {  // NOLINT(readability-identifier-naming): names of C
    std::shared_ptr<atl::requests::Group> group;
};
struct atoll_request {  // NOLINT(readability-identifier-naming)
    std::shared_ptr<atl::requests::Group> group;
    atl::requests::RequestPtr request;
};

namespace atl::requests {

int failure_of(ErrorCode code) {
    switch (code) {
        case ErrorCode::timeout:
            return ATOLL_TIMED_OUT;
        case ErrorCode::pe:
        case ErrorCode::shape_mismatch:
        case ErrorCode::dtype_mismatch:
        case ErrorCode::invalid_argument:
        case ErrorCode::unsupported:
            return ATOLL_WRONG_CALL;
        case ErrorCode::interrupted:
            return ATOLL_INTERRUPTED;
        default:
            return ATOLL_FAILED;
    }
}

namespace {

std::vector<Span> spans_of(const atoll_span* spans, std::size_t n) {
    std::vector<Span> result(n);
    for (std::size_t i = 0; i < n; ++i) result[i] = {static_cast<char*>(spans[i].data), spans[i].bytes};
    return result;
}

}  // namespace

Call call_of(const atoll_call& from) {
    Call call;
    call.kind = static_cast<Kind>(from.kind);
    call.root = from.root;
    call.tag = from.tag;
    call.type = from.type;
    call.op = static_cast<ReduceOp>(from.op);
    call.in = spans_of(from.in, from.n_in);
    call.out = spans_of(from.out, from.n_out);
    return call;
}

[[noreturn]] static void throw_store(const char* what, const std::string& key) {
    throw Error(ErrorCode::bootstrap, std::string("The group's store failed to ") + what + " the key " + key +
                                          "; its own message tells the reason.");
}

JobOptions::Store store_of(const atoll_store& from) {
    JobOptions::Store store;
    store.put = [from](const std::string& key, const std::string& value) {
        if (from.put(from.state, key.c_str(), value.data(), value.size()) != 0) throw_store("take", key);
    };
    store.get = [from](const std::string& key) {
        std::string value;
        const auto deliver = [](void* sink, const char* data, std::size_t bytes) {
            static_cast<std::string*>(sink)->assign(data, bytes);
        };
        if (from.get(from.state, key.c_str(), &value, deliver) != 0) throw_store("give", key);
        return value;
    };
    return store;
}

namespace {

static_assert(static_cast<int>(Kind::receive) == ATOLL_RECEIVE);
static_assert(static_cast<int>(DType::bfloat16) == ATOLL_BFLOAT16);
static_assert(float8_e4m3 == ATOLL_FLOAT8_E4M3);
static_assert(static_cast<int>(ReduceOp::avg) == ATOLL_AVG);

/// The group's own thread may drop the last reference, but cannot end itself.
void destroy_elsewhere(Group* group) {
    if (group->is_own_thread())
        std::thread([group] { delete group; }).detach();
    else
        delete group;
}

void check_rank(int rank, int size) {
    if (rank < 0 || rank >= size)
        throw Error(ErrorCode::invalid_argument, "Rank " + std::to_string(rank) + " of a group of " +
                                                     std::to_string(size) + " was wanted; ranks are 0 to " +
                                                     std::to_string(size - 1) + ".");
}

const char* last_error() { return last_text.c_str(); }
int last_failure() { return failure_of(static_cast<ErrorCode>(last_code)); }
int last_error_code() { return last_code; }

atoll_group* join_group(const atoll_store* store, int rank, int size, const int* names, const char* label) {
    atoll_group* made = nullptr;
    guarded_call([&] {
        check_rank(rank, size);
        Joining joining{.store = store_of(*store), .rank = rank, .n = size};
        if (names != nullptr) joining.names.assign(names, names + size);
        if (label != nullptr) joining.label = label;
        Membership membership = join(joining);
        membership.names = std::move(joining.names);
        membership.label = std::move(joining.label);
        if (!membership.label.empty()) membership.group = " of group " + membership.label;
        made = new atoll_group{std::shared_ptr<Group>(new Group(std::move(membership)), destroy_elsewhere)};
        return 0;
    });
    return made;
}

int n_hosts_of(atoll_group* group) {
    const far::FarMembers* const far = group->group->members().far();
    return far == nullptr ? 1 : far->n_hosts();
}

void leave_group(atoll_group* group) { delete group; }

void abort_group(atoll_group* group, const char* reason) {
    guarded_call([&] {
        group->group->abort(reason);
        return 0;
    });
}

/// Throws if the caller's function asks to end a wait.
std::function<void()> check_of(int (*interrupted)()) {
    if (interrupted == nullptr) return {};
    return [interrupted] {
        if (interrupted() != 0) throw Error(ErrorCode::interrupted, "Interrupted while waiting.");
    };
}

int run_call(atoll_group* group, const atoll_call* call, int (*interrupted)()) {
    return guarded_call([&] {
        const RequestPtr request = group->group->run(call_of(*call), call->timeout_s, check_of(interrupted));
        return call->kind == ATOLL_RECEIVE ? request->source : 0;
    });
}

atoll_request* start_call(atoll_group* group, const atoll_call* call, const atoll_callbacks* callbacks) {
    atoll_request* started = nullptr;
    guarded_call([&] {
        std::function<void()> finish;
        std::function<void(const Request&)> notify;
        if (callbacks != nullptr && callbacks->finish != nullptr)
            finish = [given = *callbacks] { given.finish(given.state); };
        if (callbacks != nullptr && callbacks->notify != nullptr)
            notify = [given = *callbacks](const Request& request) {
                const bool failed = request.status.load() == Status::failed;
                given.notify(given.state, failed ? failure_of(request.code) : 0, request.error.c_str());
            };
        const RequestPtr request =
            group->group->start(call_of(*call), call->timeout_s, std::move(finish), std::move(notify));
        started = new atoll_request{group->group, request};
        return 0;
    });
    return started;
}

int result_of(const Request& request) {
    const Status status = request.status.load(std::memory_order_acquire);
    if (status == Status::pending) return 0;
    if (status == Status::done) return 1;
    last_text = request.error;
    last_code = static_cast<int>(request.code);
    return failure_of(request.code);
}

int test_request(atoll_request* request) {
    return guarded_call([&] {
        request->group->test(request->request);
        return result_of(*request->request);
    });
}

int wait_request(atoll_request* request, double seconds) {
    return guarded_call([&] {
        request->group->wait(request->request, seconds);
        return result_of(*request->request);
    });
}

int wait_of_program(atoll_request* request, double seconds, int (*interrupted)()) {
    return guarded_call([&] {
        request->group->wait_interruptibly(request->request, seconds, check_of(interrupted));
        return result_of(*request->request);
    });
}

int source_of(atoll_request* request) {
    return request->request->is_over() ? request->request->source : ATOLL_ANY_SOURCE;
}

void describe_wait(atoll_request* request, double seconds) {
    guarded_call([&]() -> int { request->group->throw_late(*request->request, seconds); });
}

void release_request(atoll_request* request) { delete request; }

}  // namespace
}  // namespace atl::requests

extern "C" const atoll_groups_table* atoll_groups(void) {
    using namespace atl::requests;
    static const atoll_groups_table table = {
        ATOLL_GROUPS_VERSION, last_error,      last_failure,    join_group,     n_hosts_of,   leave_group,
        abort_group,          run_call,        start_call,      test_request,   wait_request, source_of,
        describe_wait,        release_request, last_error_code, wait_of_program};
    return &table;
}
