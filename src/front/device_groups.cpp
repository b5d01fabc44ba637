// The plain C interface of groups on GPUs (atoll/groups.h).
#include "atoll/groups.h"

#include "collective/requests/c_interface.hpp"
#include "front/device_group.hpp"

struct atoll_device_group {  // NOLINT(readability-identifier-naming): names of C
    atl::front::DeviceGroup group;
};

namespace atl::front {
namespace {

using requests::guarded_call;
using requests::store_of;

atoll_device_group* join_group(const atoll_store* store, const atoll_device_options* options) {
    atoll_device_group* made = nullptr;
    guarded_call([&] {
        if (options->size < 1 || options->rank < 0 || options->rank >= options->size)
            throw Error(ErrorCode::invalid_argument, "Rank " + std::to_string(options->rank) +
                                                         " of a group of " + std::to_string(options->size) +
                                                         " was wanted.");
        made = new atoll_device_group{{store_of(*store),
                                       {.rank = options->rank,
                                        .n = options->size,
                                        .device = options->device,
                                        .for_messages = options->for_messages != 0,
                                        .timeout_s = options->timeout_s,
                                        .join_timeout_s = options->join_timeout_s}}};
        return 0;
    });
    return made;
}

void leave_group(atoll_device_group* group) {
    guarded_call([&] {
        delete group;
        return 0;
    });
}

int start_calls(atoll_device_group* group, const atoll_call* calls, std::size_t n, void* stream) {
    return guarded_call([&] {
        if (n == 0) return 0;
        if (n == 1 && calls->kind != ATOLL_SEND && calls->kind != ATOLL_RECEIVE) {
            group->group.start(requests::call_of(*calls), stream);
            return 0;
        }
        std::vector<requests::Call> messages;
        for (std::size_t i = 0; i < n; ++i) messages.push_back(requests::call_of(calls[i]));
        group->group.exchange(messages, stream);
        return 0;
    });
}

int is_capturing(atoll_device_group* group, void* stream) {
    return guarded_call([&] { return group->group.is_capturing(stream) ? 1 : 0; });
}

}  // namespace
}  // namespace atl::front

extern "C" const atoll_device_table* atoll_device_groups(void) {
    using namespace atl::front;
    static const atoll_device_table table = {ATOLL_GROUPS_VERSION, join_group, leave_group, start_calls,
                                             is_capturing};
    return &table;
}
