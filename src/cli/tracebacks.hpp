// Python's tracebacks in what PEs print: the same one of several PEs is shown once, with their numbers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace atl::cli {

/// Finds tracebacks in the stderr of one PE, and lines by which a PE says where another's end has stopped it.
class TracebackReader {
  public:
    explicit TracebackReader(int pe = 0);
    /// Keeps what begins with such a text, and appends to `passed` what came before.
    void feed(std::string_view data, std::string& passed);
    /// An unfinished line is kept because a traceback may begin with it.
    bool withholds() const { return state_ == State::outside && !partial_.empty(); }
    /// Gives up waiting for the rest of that line, and appends it to `passed`.
    void finish(std::string& passed);

    int pe() const { return pe_; }
    /// What is kept, from the first traceback on.
    const std::string& text() const { return text_; }
    /// Returns what is kept and keeps nothing.
    std::string take();

  private:
    enum class State { outside, frames, behind };
    void take_line(std::string_view line, std::string& passed);
    bool may_begin(std::string_view part) const;

    int pe_;
    std::string stopped_;  ///< "PE 3 stopped"
    State state_ = State::outside;
    std::string partial_;  ///< the line that has not ended
    std::string text_;
};

struct Traceback {
    int pe;
    std::string text;
};

/// What is shown of them, in their order; the same one once, below "PE 0-3:".
struct MergedTraceback {
    std::vector<int> pes;
    std::string text;
};
std::vector<MergedTraceback> merge(const std::vector<Traceback>& all);

}  // namespace atl::cli
