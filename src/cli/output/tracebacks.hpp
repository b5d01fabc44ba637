// Python's tracebacks in the output of PEs: equal ones of several PEs are shown once, with the PEs' numbers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace atl::cli {

/// Finds tracebacks and syntax errors in the stderr of one PE, and lines in which a PE reports that another's
/// end stopped it.
class TracebackReader {
  public:
    explicit TracebackReader(int pe = 0);
    /// Keeps text from such a beginning on; appends text before it to `passed`.
    void feed(std::string_view data, std::string& passed);
    /// True while an unfinished line is kept because a traceback may begin with it.
    bool withholds() const { return state_ == State::outside && !partial_.empty(); }
    /// Gives up waiting for the rest of that line, and appends it to `passed`.
    void finish(std::string& passed);

    int pe() const { return pe_; }
    /// The kept text, from the first traceback on.
    const std::string& text() const { return text_; }
    /// Returns the kept text and clears it.
    std::string take();

  private:
    enum class State { outside, frames, behind };
    void take_line(std::string_view line, std::string& passed);
    bool may_begin(std::string_view part) const;

    int pe_;
    std::string stopped_;  ///< such as "PE 3 stopped"
    State state_ = State::outside;
    bool in_list_ = false;  ///< within another list of frames
    std::string begun_;     ///< the part of a line outside tracebacks that was passed on before its end
    std::string partial_;   ///< the line that has not ended
    std::string text_;
};

struct Traceback {
    int pe;
    std::string text;
};

/// A merged text in the order of the output; an equal one is shown once, below "PE 0-3:".
struct MergedTraceback {
    std::vector<int> pes;
    std::string text;
};
/// `names_each`: the traceback of a single PE has such a heading, too.
std::vector<MergedTraceback> merge(const std::vector<Traceback>& all, bool names_each);

}  // namespace atl::cli
