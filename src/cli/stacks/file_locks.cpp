#include "cli/stacks/file_locks.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include <sys/stat.h>
#include <sys/sysmacros.h>

namespace atl::cli {

namespace {

/// The name of a file that a process has open; empty if it is not known.
std::string name_of(int process, const std::string& file_id) {
    std::error_code failed;
    const std::filesystem::path folder = "/proc/" + std::to_string(process) + "/fd";
    for (std::filesystem::directory_iterator entry(folder, failed), end; !failed && entry != end;
         entry.increment(failed)) {
        struct stat facts {};
        if (stat(entry->path().c_str(), &facts) != 0) continue;
        char id[64];
        std::snprintf(id, sizeof id, "%02x:%02x:%lu", major(facts.st_dev), minor(facts.st_dev),
                      static_cast<unsigned long>(facts.st_ino));
        if (file_id == id) return std::filesystem::read_symlink(entry->path(), failed).filename();
    }
    return {};
}

}  // namespace

std::map<int, FileLock> awaited_file_locks(std::istream& locks) {
    std::map<int, FileLock> awaited;
    std::map<std::string, int> holders;  // by the number of the lock
    for (std::string line; std::getline(locks, line);) {
        // "1: FLOCK  ADVISORY  WRITE 17641 fe:00:10952871 0 EOF", and after it "1: -> FLOCK ..." of those who
        // wait.
        std::istringstream words(line);
        std::string number, kind, rule, mode, file_id;
        int process = 0;
        words >> number >> kind;
        const bool waits = kind == "->";
        if (waits) words >> kind;
        if (!(words >> rule >> mode >> process >> file_id)) continue;
        if (!waits && process > 0)  // -1: a lock of an open file, which no process has alone
            holders[number] = process;
        else if (const auto holder = holders.find(number); waits && holder != holders.end())
            awaited[process] = {holder->second, file_id};
    }
    return awaited;
}

void name_file_locks(std::vector<common::PeDoing>& doing) {
    const auto is_outside = [](const common::PeDoing& one) { return !one.waits && one.pid > 0; };
    if (std::none_of(doing.begin(), doing.end(), is_outside)) return;
    std::ifstream locks("/proc/locks");
    const std::map<int, FileLock> awaited = awaited_file_locks(locks);
    for (common::PeDoing& one : doing) {
        const auto lock = awaited.find(one.pid);
        if (!is_outside(one) || lock == awaited.end()) continue;
        const auto holder = std::find_if(doing.begin(), doing.end(), [&](const common::PeDoing& other) {
            return other.pid == lock->second.holder;
        });
        if (holder == doing.end() || &*holder == &one) continue;
        one.file_lock_pe = static_cast<int>(holder - doing.begin());
        one.file_lock = name_of(one.pid, lock->second.file_id);
    }
}

}  // namespace atl::cli
