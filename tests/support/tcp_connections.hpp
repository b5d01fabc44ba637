// Connections of a process: show that a message used the network.
#pragma once

#include <dirent.h>
#include <unistd.h>

#include <fstream>
#include <set>
#include <sstream>
#include <string>

namespace atl::testing {

/// Number of established TCP connections of this process.
inline int tcp_connections() {
    std::set<std::string> mine;
    DIR* folder = ::opendir("/proc/self/fd");
    while (const dirent* entry = ::readdir(folder)) {
        char target[64] = {};
        const std::string path = std::string("/proc/self/fd/") + entry->d_name;
        if (::readlink(path.c_str(), target, sizeof target - 1) > 0) mine.insert(target);
    }
    ::closedir(folder);
    int found = 0;
    for (const char* table : {"/proc/self/net/tcp", "/proc/self/net/tcp6"}) {
        std::ifstream file(table);
        std::string line;
        std::getline(file, line);
        while (std::getline(file, line)) {
            std::istringstream fields(line);
            std::string field[10];
            for (std::string& each : field) fields >> each;
            if (field[3] == "01" && mine.contains("socket:[" + field[9] + "]")) ++found;
        }
    }
    return found;
}

}  // namespace atl::testing
