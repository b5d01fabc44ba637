#include "simulated/mailbox.hpp"

#include "atoll/error.hpp"
#include "gpu/mailbox_on_device.hpp"

#include <string>

namespace atl::simulated {

void perform(const gpu::MailboxCall& call) {
    gpu::perform_mailbox(call, device::Thread{}, [&](std::uint64_t bytes) {
        throw Error(ErrorCode::kernel, "The simulated GPU stopped a kernel: a message has " +
                                           std::to_string(bytes) + " bytes, where " +
                                           std::to_string(call.bytes) + " were expected.");
    });
}

}  // namespace atl::simulated
