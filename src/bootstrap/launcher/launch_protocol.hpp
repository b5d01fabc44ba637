// The protocol between `atoll run` and a PE. Shared by src/cli and the launcher bootstrap.
//
// The launcher starts each PE with the variable ATOLL_LAUNCHED = "1:PE:N_PES:SOCKET:BOARD:HEAP". SOCKET,
// BOARD and HEAP are inherited descriptors. SOCKET is a SOCK_SEQPACKET socket of this PE alone; BOARD is the
// memfd of the job board. HEAP is that of the host heap, still empty. A PE that adopts them sets FD_CLOEXEC
// on all three and removes the variable. Programs that the PE starts are then separate jobs.
//
// A packet is one type byte and a body. The launcher answers only 'G', 'F', 'C' and 'R'.
//
//   PE → launcher
//   'H'  Hello. Carries one descriptor (SCM_RIGHTS): the launcher's end of a lifeline socket pair.
//        The PE holds the other end while it lives. End of file without a goodbye is a death.
//        The PE arms its own end with F_SETSIG(SIGKILL), so that it ends when the launcher is killed.
//   'P'  Put: key NUL value.
//   'G'  Get: key. Answered by 'V' value once a PE has put it.
//   'F'  Fence. Answered by 'F' once every PE has sent as many 'F' packets as this PE.
//   'C'  Collect: value. Answered once all PEs have sent theirs, by one or more packets 'C'.
//        Each has a '+' (more follows) or '.' (the last) and a part of all values as wire.hpp packs them.
//   'T'  This PE takes part without init: it has signed in on the board, for its groups of torch.distributed.
//   'B'  Goodbye: finalized (body "f") or leaving without finalize (body "l").
//   'R'  Rejoin, after a goodbye "f": init again. Answered by 'R' once all PEs have asked.
//        The answer carries the memfd of the new job's heap, still empty. Board and lifelines stay.
//   'A'  Abort: decimal status NUL text. The launcher ends the job with that status.
//   'J'  The job board of the PE's host, as one descriptor, for a trace.
//        Only from a PE of `atoll run --hosts` to its agent; it sends nothing else.
#pragma once

namespace atl::bootstrap {
inline constexpr const char* launched_variable = "ATOLL_LAUNCHED";
inline constexpr int protocol_version = 1;
inline constexpr int max_packet_bytes = 64 * 1024;
}  // namespace atl::bootstrap
