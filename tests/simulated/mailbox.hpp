// The simulated GPU's mailboxes.
#pragma once

#include "gpu/device_calls.hpp"

namespace atl::simulated {

/// Does the work of the library's kernel, in one thread.
void perform(const gpu::MailboxCall& call);

}  // namespace atl::simulated
