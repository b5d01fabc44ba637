// The simulated GPU's mailboxes.
#pragma once

#include "heap/device_calls.hpp"

namespace atl::simulated {

/// As the library's kernel does it, by one thread.
void perform(const heap::MailboxCall& call);

}  // namespace atl::simulated
