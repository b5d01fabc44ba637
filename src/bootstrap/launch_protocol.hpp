// What `atoll run` and a PE say to each other. Shared by src/cli and the launcher bootstrap.
//
// The launcher starts each PE with the variable ATOLL_LAUNCHED = "1:PE:N_PES:SOCKET:BOARD:HEAP", the last
// three being inherited descriptors: a SOCK_SEQPACKET socket of this PE alone, the memfd of the job board and
// the (yet empty) memfd of the host heap. A PE that adopts them sets FD_CLOEXEC on all three and removes the
// variable, so that programs which the PE starts are jobs of their own.
//
// A packet is one type byte and a body. The launcher answers only 'G', 'F', 'C' and 'R'.
//   PE → launcher
//   'H'  hello; carries one descriptor (SCM_RIGHTS): the launcher's end of a lifeline socketpair. While the
//   PE lives
//        the other end is open; end of file without goodbye is a death. The PE arms its own end with
//        F_SETSIG(SIGKILL), so that it ends when the launcher is killed
//   'P'  put:  key NUL value
//   'G'  get:  key; answered by 'V' value once somebody has put it
//   'F'  fence; answered by 'F' once all PEs have fenced as often
//   'C'  collect: value; answered, once all PEs have sent theirs, by packets 'C' with a '+' (more follows) or
//   '.'
//        (the last) and a part of all values as wire.hpp packs them
//   'B'  goodbye: finalized (body "f") or leaving without finalize (body "l")
//   'R'  rejoin, after a goodbye "f": init again. Answered by 'R' and a descriptor, the (yet empty) memfd of
//   the new
//        job's heap, once all PEs have asked; board and lifelines stay
//   'A'  abort: decimal status NUL text; the launcher ends the job with that status
#pragma once

namespace atl::bootstrap {
inline constexpr const char* launched_variable = "ATOLL_LAUNCHED";
inline constexpr int protocol_version = 1;
inline constexpr int max_packet_bytes = 64 * 1024;
}  // namespace atl::bootstrap
