// Locks of files (flock, fcntl) that one PE of a host holds and others wait for.
#pragma once

#include "common/board/board.hpp"

#include <istream>
#include <map>
#include <string>
#include <vector>

namespace atl::cli {

/// A lock of a file that a process waits for.
struct FileLock {
    int holder = 0;       ///< process
    std::string file_id;  ///< such as "fe:00:1234", the device and the inode
};

/// The awaited locks by waiting process, of text like that of /proc/locks.
std::map<int, FileLock> awaited_file_locks(std::istream& locks);

/// Fills PeDoing::file_lock and file_lock_pe of PEs that do not wait in Atoll.
void name_file_locks(std::vector<common::PeDoing>& doing);

}  // namespace atl::cli
