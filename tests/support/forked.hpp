// PEs as forked processes: each runs a function. Its result, its exception or its end is the outcome.
#pragma once

#include "common/descriptors/fd.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace atl::test {

struct Outcome {
    std::string text;  ///< the function's result, or what() of its exception
    bool threw = false;
    int status = 0;  ///< status from waitpid

    bool ended_by(int signal) const { return WIFSIGNALED(status) && WTERMSIG(status) == signal; }
    bool ok() const { return WIFEXITED(status) && WEXITSTATUS(status) == 0 && !threw; }
};

class Forked {
  public:
    explicit Forked(const std::function<std::string()>& body) {
        int ends[2];
        if (::pipe(ends) != 0) throw std::runtime_error("pipe");
        pid_ = ::fork();
        if (pid_ == 0) {
            ::close(ends[0]);
            run(body, ends[1]);
        }
        ::close(ends[1]);
        text_ = common::Fd(ends[0]);
    }

    pid_t pid() const { return pid_; }

    Outcome wait() {
        Outcome outcome;
        char bytes[4096];
        for (ssize_t n = 0; (n = ::read(text_.get(), bytes, sizeof bytes)) > 0;)
            outcome.text.append(bytes, static_cast<std::size_t>(n));
        ::waitpid(pid_, &outcome.status, 0);
        outcome.threw = WIFEXITED(outcome.status) && WEXITSTATUS(outcome.status) == threw_status;
        return outcome;
    }

  private:
    static constexpr int threw_status = 77;

    [[noreturn]] static void run(const std::function<std::string()>& body, int out) {
        ::alarm(60);  // whatever fails, no child remains
        std::string text;
        int status = 0;
        try {
            text = body();
        } catch (const std::exception& error) {
            text = error.what();
            status = threw_status;
        }
        if (::testing::Test::HasFailure()) status = 78;  // an EXPECT in the child reported on standard output
        static_cast<void>(!::write(out, text.data(), text.size()));
        ::_exit(status);
    }

    pid_t pid_ = -1;
    common::Fd text_;
};

/// Runs `body(pe)` in `n_pes` processes, started in the given order (by PE if it is empty).
inline std::vector<Outcome> run_forked(int n_pes, const std::function<std::string(int pe)>& body,
                                       std::vector<int> order = {}) {
    if (order.empty())
        for (int pe = 0; pe < n_pes; ++pe) order.push_back(pe);
    std::vector<std::pair<int, Forked>> started;
    for (const int pe : order) started.emplace_back(pe, Forked([&, pe] { return body(pe); }));
    std::vector<Outcome> outcomes(static_cast<std::size_t>(n_pes));
    for (auto& [pe, child] : started) outcomes[static_cast<std::size_t>(pe)] = child.wait();
    return outcomes;
}

}  // namespace atl::test
