#include "calls/call.hpp"

#include <algorithm>
#include <deque>
#include <string>
#include <string_view>

namespace atl::python {

std::string read_signature(Spec& spec, const char* name, std::string_view signature) {
    spec.name = name;
    spec.takes_device_arrays = signature.find("AnyArray") != std::string_view::npos;
    std::string plain = "(";
    bool positional = true;
    for_each_parameter(signature, [&](std::string_view parameter) {
        if (plain.size() > 1) plain += ", ";
        if (parameter == "*") {
            positional = false;
            plain += '*';
            return;
        }
        const std::string_view keyword = trimmed(parameter.substr(0, parameter.find(':')));
        const std::size_t equals = parameter.rfind(" = ");
        plain += keyword;
        if (equals != std::string_view::npos)
            plain += "=" + std::string(trimmed(parameter.substr(equals + 3)));
        else
            ++spec.n_required;
        if (positional) ++spec.n_positional;
        spec.keywords[spec.n_total++] = PyUnicode_InternFromString(std::string(keyword).c_str());
    });
    return plain + ")";
}

namespace {

/// The parameter `stream` in the docstring of every function with a stream; docs/python.md has the rules.
constexpr std::string_view stream_entry =
    "stream\n"
    "    For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is\n"
    "    complete. See \"Streams\" in docs/python.md.";

/// The parameter `blocking` in the docstring of every collective that can be started only.
constexpr std::string_view blocking_entry =
    "blocking\n"
    "    False: start the collective and return a Request, with wait, test and await. For arrays in host\n"
    "    memory of PEs that share it. See \"Collectives that do not block\" in docs/python.md.";

/// The parameters `ctx` and `team` in the docstring of every function that has them, unless it has its own
/// entry.
constexpr std::string_view context_entry =
    "ctx\n"
    "    A Context, whose own fence and quiet order and complete the call. None: the default context.";
constexpr std::string_view team_entry =
    "team\n"
    "    The team that numbers the PEs. None: that of ctx, by default all PEs. Not with ctx=.";
constexpr std::string_view team_alone_entry =
    "team\n"
    "    The team that numbers the PEs. None: all PEs.";

/// True if a docstring has an entry for the parameter, alone or as the last of several.
bool explains(const std::string& document, const std::string& parameter) {
    return document.find("\n" + parameter + "\n") != std::string::npos ||
           document.find(", " + parameter + "\n") != std::string::npos;
}

/// Adds an entry to the section Parameters of a docstring; adds the section if it is missing.
std::string with_entry(std::string document, std::string_view entry) {
    constexpr std::string_view heading = "Parameters\n----------\n";
    const std::size_t underline = document.find("\n---");
    if (underline == std::string::npos) return document + "\n\n" + std::string(heading) + std::string(entry);
    const std::size_t first = document.rfind('\n', underline - 1) + 1;
    if (document.compare(first, heading.size(), heading) != 0)
        return document.insert(first, std::string(heading) + std::string(entry) + "\n\n");
    const std::size_t end = std::min(document.find("\n\n", first), document.size());
    return document.insert(end, "\n" + std::string(entry));
}

/// "shmem.put" is the put of atoll.shmem. The module registers it as _shmem_put, because it has another put.
constexpr std::string_view shmem_prefix = "shmem.";

}  // namespace

void register_functions(PyObject* module, std::span<const Function> functions) {
    static std::deque<std::string> documents;  // objects of a PyMethodDef must live as long as the process
    static std::deque<PyMethodDef> definitions;
    Ref module_name(PyUnicode_InternFromString("atoll"));
    Ref shmem_name(PyUnicode_InternFromString("atoll.shmem"));
    PyObject* signatures = PyObject_GetAttrString(module, "__signatures__");
    if (signatures == nullptr) {
        PyErr_Clear();
        signatures = PyDict_New();
        if (!signatures || PyModule_AddObjectRef(module, "__signatures__", signatures) < 0) throw Raised{};
    }
    Ref held(signatures);
    for (const Function& f : functions) {
        const std::string_view signature = f.signature;
        const std::string plain = read_signature(*f.spec, f.name, signature.substr(0, signature.find('\n')));
        const bool of_shmem = std::string_view(f.name).starts_with(shmem_prefix);
        const char* name = of_shmem ? f.name + shmem_prefix.size() : f.name;
        std::string document = f.doc;
        const bool has_context = plain.find("ctx=") != std::string::npos;
        if (has_context && !explains(document, "ctx")) document = with_entry(document, context_entry);
        if (plain.find("team=") != std::string::npos && !explains(document, "team"))
            document = with_entry(document, has_context ? team_entry : team_alone_entry);
        if (plain.find("stream=") != std::string::npos) document = with_entry(document, stream_entry);
        if (plain.find("blocking=") != std::string::npos) document = with_entry(document, blocking_entry);
        documents.push_back(std::string(name).append(plain).append("\n--\n\n").append(document));
        definitions.push_back({name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(f.call)),
                               METH_FASTCALL | METH_KEYWORDS, documents.back().c_str()});
        Ref made(
            PyCFunction_NewEx(&definitions.back(), nullptr, (of_shmem ? shmem_name : module_name).get()));
        Ref text(PyUnicode_FromString(f.signature));
        const std::string key = (of_shmem ? "_shmem_" : "") + std::string(name);
        if (PyModule_AddObjectRef(module, key.c_str(), made.get()) < 0 ||
            PyDict_SetItemString(signatures, key.c_str(), text.get()) < 0)
            throw Raised{};
    }
}

void fail_too_many(const Spec& spec, Py_ssize_t n) {
    PyErr_Format(PyExc_TypeError,
                 "%s() takes at most %d positional argument%s (%zd given); see help(atoll.%s)", spec.name,
                 spec.n_positional, spec.n_positional == 1 ? "" : "s", n, spec.name);
    throw Raised{};
}

void fail_missing(const Spec& spec, PyObject* const* values) {
    int i = 0;
    while (values[i] != nullptr) ++i;
    PyErr_Format(PyExc_TypeError, "%s() lacks its argument '%U'; see help(atoll.%s)", spec.name,
                 spec.keywords[i], spec.name);
    throw Raised{};
}

namespace {

/// Keywords of other libraries, and ours for the same.
constexpr struct {
    const char *theirs, *ours;
} other_keywords[] = {
    {"dest", "pe"},   {"source", "pe"},  {"target", "pe"},         {"rank", "pe"},
    {"comm", "team"}, {"group", "team"}, {"sendbuf", "src"},       {"recvbuf", "dst"},
    {"buf", "src"},   {"obj", "src"},    {"async_op", "blocking"},
};

bool has_keyword(const Spec& spec, const char* name) {
    return std::any_of(spec.keywords, spec.keywords + spec.n_total, [&](PyObject* keyword) {
        return PyUnicode_CompareWithASCIIString(keyword, name) == 0;
    });
}

/// How an error about a wrong keyword goes on.
std::string keyword_cure(const Spec& spec, PyObject* keyword) {
    const auto is = [&](const char* name) { return PyUnicode_CompareWithASCIIString(keyword, name) == 0; };
    const std::string_view name = spec.name;
    const bool is_message = name == "send" || name == "recv";
    const std::string no_tags =
        is_message ? "messages have no tags, those between two PEs arrive in the order of the sends" : "";
    if (is_message && is("tag")) return "; " + no_tags;
    for (const auto& other : other_keywords)
        if (is(other.theirs) && has_keyword(spec, other.ours))
            return std::string("; Atoll's is ") + other.ours + "=" + (is_message ? ", and " + no_tags : "");
    return std::string("; see help(atoll.") + spec.name + ")";
}

}  // namespace

int find_keyword(const Spec& spec, PyObject* keyword) {
    for (int i = 0; i < spec.n_total; ++i)
        if (PyUnicode_Compare(keyword, spec.keywords[i]) == 0) return i;
    PyErr_Format(PyExc_TypeError, "%s() has no argument '%U'%s", spec.name, keyword,
                 keyword_cure(spec, keyword).c_str());
    throw Raised{};
}

void bind_keywords(const Spec& spec, PyObject** values, Py_ssize_t n, PyObject* const* args,
                   PyObject* names) {
    const Py_ssize_t n_names = PyTuple_Size(names);
    for (Py_ssize_t k = 0; k < n_names; ++k) {
        PyObject* keyword = PyTuple_GetItem(names, k);
        int i = 0;
        while (i < spec.n_total && spec.keywords[i] != keyword) ++i;
        if (i == spec.n_total) i = find_keyword(spec, keyword);
        if (values[i] != nullptr) {
            PyErr_Format(PyExc_TypeError, "%s() got its argument '%U' twice", spec.name, keyword);
            throw Raised{};
        }
        values[i] = args[n + k];
    }
}

}  // namespace atl::python
