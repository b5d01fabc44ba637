// PMI's two versions against a launcher in the test; real ones are in tests/clusters.
#include "bootstrap/pmi/pmi_client.hpp"

#include "atoll/error.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

namespace atl::bootstrap {
namespace {

/// The words of a request, by their names.
std::map<std::string, std::string> parse(const std::string& text, char between) {
    std::map<std::string, std::string> words;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find(between, at), text.size());
        const std::string word = text.substr(at, end - at);
        const std::size_t equals = word.find('=');
        if (equals != std::string::npos) words[word.substr(0, equals)] = word.substr(equals + 1);
        at = end + 1;
    }
    return words;
}

std::string framed(const std::string& text) {
    char length[16];
    // Slurm aligns the digits left, Hydra right.
    std::snprintf(length, sizeof length, text.size() % 2 ? "%-6zu" : "%6zu", text.size());
    return length + text;
}

/// One PE's connection to a launcher, and the requests that the launcher received.
struct Connection {
    int launcher = -1, pe = -1;
    std::vector<std::string> received;
};

class PmiLauncher {
  public:
    explicit PmiLauncher(int n_pes) : connections_(static_cast<std::size_t>(n_pes)) {
        for (Connection& each : connections_) {
            int ends[2];
            EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
            each.launcher = ends[0];
            each.pe = ends[1];
        }
    }
    ~PmiLauncher() {
        for (const Connection& each : connections_) {
            ::close(each.launcher);
            ::close(each.pe);
        }
    }
    Connection& at(int pe) { return connections_[static_cast<std::size_t>(pe)]; }

    common::JobEnvironment environment(int pe) {
        common::JobEnvironment result;
        result.pmi_fd = std::to_string(at(pe).pe);
        result.pmi_rank = std::to_string(pe);
        result.pmi_size = std::to_string(connections_.size());
        result.pmi_job = "7.0";
        return result;
    }
    /// Serves one PE in either version until it finalizes.
    void serve(int pe) {
        Connection& with = at(pe);
        const std::string offer = line(with.launcher);
        const bool newer = parse(offer, ' ')["pmi_version"] == "2";
        say(with.launcher, "cmd=response_to_init rc=0 " + offer.substr(offer.find("pmi_version")) + "\n");
        for (bool goes_on = true; goes_on;) {
            const std::string request = newer ? frame(with.launcher) : line(with.launcher);
            auto words = parse(request, newer ? ';' : ' ');
            with.received.push_back(words["cmd"]);
            goes_on = words["cmd"] != "finalize";
            const std::string answer = newer ? answer2(pe, words) : answer1(words);
            say(with.launcher, newer ? framed(answer) : answer + "\n");
        }
    }

    static void say(int fd, const std::string& text) {
        EXPECT_EQ(::write(fd, text.data(), text.size()), static_cast<ssize_t>(text.size()));
    }
    static std::string line(int fd) {
        std::string text;
        for (char c = 0; ::read(fd, &c, 1) == 1 && c != '\n';) text += c;
        return text;
    }
    static std::string frame(int fd) { return bytes(fd, std::stoul("0" + trimmed(bytes(fd, 6)))); }

  private:
    static std::string trimmed(const std::string& text) {
        const std::size_t first = text.find_first_not_of(' ');
        return first == std::string::npos ? "" : text.substr(first);
    }
    static std::string bytes(int fd, std::size_t count) {
        std::string text(count, '\0');
        std::size_t done = 0;
        while (done < count) {
            const ssize_t got = ::read(fd, text.data() + done, count - done);
            if (got <= 0) return text;
            done += static_cast<std::size_t>(got);
        }
        return text;
    }
    void put(const std::string& key, const std::string& value) {
        const std::lock_guard lock(mutex_);
        values_[key] = value;
    }
    std::string get(const std::string& key) {
        const std::lock_guard lock(mutex_);
        return values_.at(key);
    }
    void meet() {
        std::unique_lock lock(mutex_);
        const int round = met_ / static_cast<int>(connections_.size());
        ++met_;
        changed_.notify_all();
        changed_.wait(lock, [&] { return met_ / static_cast<int>(connections_.size()) > round; });
    }
    std::string answer1(std::map<std::string, std::string>& words) {
        const std::string& command = words["cmd"];
        if (command == "get_maxes") return "cmd=maxes kvsname_max=64 keylen_max=64 vallen_max=1024";
        if (command == "get_my_kvsname") return "cmd=my_kvsname kvsname=space";
        if (command == "put") put(words["key"], words["value"]);
        if (command == "put") return "cmd=put_result rc=0";
        if (command == "barrier_in") meet();
        if (command == "barrier_in") return "cmd=barrier_out";
        if (command == "get") return "cmd=get_result rc=0 value=" + get(words["key"]);
        return "cmd=finalize_ack";
    }
    std::string answer2(int pe, std::map<std::string, std::string>& words) {
        const std::string& command = words["cmd"];
        std::string more;
        if (command == "fullinit")
            more = "rank=" + std::to_string(pe) + ";size=" + std::to_string(connections_.size()) +
                   ";appnum=0;debugged=FALSE;";
        if (command == "job-getid") more = "jobid=a;;b;";  // a semicolon within is written twice
        if (command == "kvs-put") put(words["key"], words["value"]);
        if (command == "kvs-fence") meet();
        if (command == "kvs-get") more = "found=TRUE;value=" + get(words["key"]) + ";";
        return "cmd=" + command + "-response;rc=0;" + more;
    }

    std::vector<Connection> connections_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::map<std::string, std::string> values_;
    int met_ = 0;
};

/// Three PEs exchange values twice; returns the requests of PE 2.
std::vector<std::string> exchange(
    const std::function<void(PmiLauncher&, int,
                             const std::function<void(const std::function<void(const std::string&)>&,
                                                      const std::function<std::string(int)>&)>&)>& as_pe) {
    constexpr int n_pes = 3;
    PmiLauncher launcher(n_pes);
    std::vector<std::thread> threads;
    for (int pe = 0; pe < n_pes; ++pe) {
        threads.emplace_back([&launcher, pe] { launcher.serve(pe); });
        threads.emplace_back([&launcher, &as_pe, pe] {
            as_pe(launcher, pe, [pe](const auto& publish, const auto& value_of) {
                for (const std::string& round : {std::string("first;\n "), std::string("\0second", 7)}) {
                    publish(round + std::to_string(pe));
                    for (int other = 0; other < n_pes; ++other)
                        EXPECT_EQ(value_of(other), round + std::to_string(other));
                }
            });
        });
    }
    for (std::thread& each : threads) each.join();
    return launcher.at(2).received;
}

template <class Client> void use(Client& client, int pe, const auto& body) {
    EXPECT_EQ(client.pe(), pe);
    EXPECT_EQ(client.n_pes(), 3);
    body([&](const std::string& value) { client.publish(value); },
         [&](int other) { return client.value_of(other); });
}

TEST(Pmi, Version1Exchanges) {
    const auto received = exchange([](PmiLauncher& launcher, int pe, const auto& body) {
        PmiSocket socket(launcher.environment(pe), 20);
        EXPECT_TRUE(socket.agree_on(1, 1));
        Pmi1Client client(std::move(socket));
        use(client, pe, body);
    });
    const std::vector<std::string> expected{
        "get_maxes", "get_my_kvsname", "put", "barrier_in", "get", "get",     "get",
        "put",       "barrier_in",     "get", "get",        "get", "finalize"};
    EXPECT_EQ(received, expected);
}

TEST(Pmi, Version2Exchanges) {
    const auto received = exchange([](PmiLauncher& launcher, int pe, const auto& body) {
        PmiSocket socket(launcher.environment(pe), 20);
        EXPECT_TRUE(socket.agree_on(2, 0));
        Pmi2Client client(std::move(socket), "7.0");
        use(client, pe, body);
    });
    const std::vector<std::string> expected{"fullinit", "job-getid", "kvs-put", "kvs-fence", "kvs-get",
                                            "kvs-get",  "kvs-get",   "kvs-put", "kvs-fence", "kvs-get",
                                            "kvs-get",  "kvs-get",   "finalize"};
    EXPECT_EQ(received, expected);
}

/// The report of a PE whose launcher, of one PE, behaves like `launcher`.
std::string said(const std::function<void(int)>& launcher, const std::function<void(PmiSocket)>& pe) {
    PmiLauncher one(1);
    const int fd = one.at(0).launcher;
    std::thread thread([&] {
        launcher(fd);
        ::shutdown(fd, SHUT_WR);
    });
    std::string text;
    try {
        pe(PmiSocket(one.environment(0), 20));
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::bootstrap);
        text = error.what();
    }
    thread.join();
    return text;
}

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Pmi, AnotherVersionIsNoAgreement) {
    for (const char* answer : {"cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=-1\n",
                               "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n"})
        said([&](int fd) { PmiLauncher::say(fd, answer); },
             [](PmiSocket socket) { EXPECT_FALSE(socket.agree_on(2, 0)); });
}

TEST(Pmi, FaultsAreReported) {
    const auto version2 = [](PmiSocket socket) { const Pmi2Client client(std::move(socket), ""); };
    const auto speaks = [](const std::string& answer) {
        return [=](int fd) { PmiLauncher::say(fd, answer); };
    };
    const std::string refused = said(speaks(framed("cmd=fullinit-response;rc=14;errmsg=no;")), version2);
    EXPECT_TRUE(holds(refused, "rc=14;errmsg=no") && holds(refused, "initialise MPI first")) << refused;
    const std::string lacking = said(speaks(framed("cmd=fullinit-response;rc=0;rank=0;")), version2);
    EXPECT_TRUE(holds(lacking, "lacks size")) << lacking;
    const std::string rubbish = said(speaks("rubbish"), version2);
    EXPECT_TRUE(holds(rubbish, "the length of PMI-2's answer=rubbis is not a number")) << rubbish;
    const std::string gone = said([](int) {}, version2);
    EXPECT_TRUE(holds(gone, "closed PMI_FD")) << gone;
}

TEST(Pmi, NumbersThatCannotBeAreNamed) {
    PmiLauncher launcher(1);
    common::JobEnvironment environment = launcher.environment(0);
    environment.pmi_rank = "1";
    try {
        const PmiSocket socket(environment, 20);
        ADD_FAILURE() << "nothing was thrown";
    } catch (const Error& error) {
        EXPECT_TRUE(holds(error.what(), "PMI_RANK=1 is not below PMI_SIZE=1")) << error.what();
    }
}

TEST(Pmi, AValueThatIsTooLongSaysWhatMakesItShorter) {
    try {
        PmiSocket::to_value(std::string(600, 'a'), 1024);
        ADD_FAILURE() << "nothing was thrown";
    } catch (const Error& error) {
        EXPECT_TRUE(holds(error.what(), "1201 characters") && holds(error.what(), "ATOLL_INTERFACE"))
            << error.what();
    }
}

}  // namespace
}  // namespace atl::bootstrap
