#include "calls/errors.hpp"

#include "calls/caller.hpp"
#include "calls/state.hpp"
#include "common/recorder/stack_area.hpp"

#include <array>
#include <cstdarg>
#include <exception>
#include <new>
#include <string>

namespace atl::python {
namespace {

struct Class {
    ErrorCode code;
    const char* name;
    PyObject** also;  // the built-in class from which it derives, too
    const char* doc;
};

const Class classes[] = {
    {ErrorCode::not_initialized, "NotInitialized", nullptr,
     "A call before atoll.init() or after the last atoll.finalize()."},
    {ErrorCode::pe, "PeError", &PyExc_IndexError, "A PE number outside 0 ... n_pes()-1 of the team."},
    {ErrorCode::not_symmetric, "NotSymmetric", &PyExc_ValueError,
     "An array outside the symmetric heap where a symmetric one is needed, or a view that leaves its array."},
    {ErrorCode::shape_mismatch, "ShapeMismatch", &PyExc_ValueError,
     "Shapes or sizes that do not fit each other."},
    {ErrorCode::dtype_mismatch, "DtypeMismatch", &PyExc_TypeError,
     "Element types that do not fit each other or the operation."},
    {ErrorCode::use_after_free, "UseAfterFree", nullptr, "An array or object that was freed or destroyed."},
    {ErrorCode::collective_mismatch, "CollectiveMismatch", nullptr, "PEs called a collective differently."},
    {ErrorCode::timeout, "Timeout", &PyExc_TimeoutError,
     "A bounded wait ran out; the text says what it waited for."},
    {ErrorCode::pe_died, "PeDied", nullptr, "A PE that this call needs has ended."},
    {ErrorCode::out_of_memory, "OutOfMemory", &PyExc_MemoryError,
     "No room in the symmetric heap or the system."},
    {ErrorCode::unsupported, "Unsupported", nullptr, "Not available here."},
    {ErrorCode::invalid_argument, "InvalidArgument", &PyExc_ValueError, "A value that makes no sense."},
    {ErrorCode::settings, "SettingsError", &PyExc_ValueError,
     "An ATOLL_* or SHMEM_* variable of the environment that cannot be read."},
    {ErrorCode::bootstrap, "BootstrapError", nullptr, "The PEs could not find each other."},
    {ErrorCode::kernel, "KernelError", &PyExc_RuntimeError,
     "The GPU stopped a kernel of this process; the text says what it waited for, or that its PE was wrong. "
     "This process's GPU context is lost: no call of the GPU will succeed any more."},
    {ErrorCode::system, "SystemFailure", &PyExc_OSError, "A system call failed."},
};

PyObject* error_class = nullptr;
std::array<PyObject*, 32> class_of_code{};

}  // namespace

PyObject* exception_class(ErrorCode code) {
    const auto i = static_cast<std::size_t>(code);
    return i < class_of_code.size() && class_of_code[i] ? class_of_code[i] : error_class;
}

void fail(ErrorCode code, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    PyErr_FormatV(exception_class(code), format, arguments);
    va_end(arguments);
    throw Raised{};
}

/// Combines the driver's error with the report that the kernel itself made before.
static void set_kernel_error(const Error& error) {
    std::string text = error.what();
    try {
        if (g.job != nullptr) g.job->check_kernels();
    } catch (const Error& report) {
        if (text != report.what()) text = std::string(report.what()) + " (" + text + ")";
    }
    PyErr_SetString(exception_class(ErrorCode::kernel), text.c_str());
}

/// A call that differs may be that of a `finally`, after an exception on this PE alone.
static void set_mismatch(const Error& error) {
    common::note_handled(handled_exception());
    PyErr_SetString(exception_class(error.code()), error.what());
}

/// A sentence for the only PE of a job that no launcher started; else empty.
static std::string alone_text() {
    if (g.job == nullptr || g.job->n_pes() != 1) return {};
    const nb::object module = nb::steal(PyImport_ImportModule("atoll._job"));
    const nb::object text =
        nb::steal(module.is_valid() ? PyObject_CallMethod(module.ptr(), "alone_text", nullptr) : nullptr);
    const char* found = text.is_valid() ? PyUnicode_AsUTF8AndSize(text.ptr(), nullptr) : nullptr;
    PyErr_Clear();
    return found == nullptr ? "" : found;
}

/// The error of a PE's number, after the call that got it.
static void set_pe_error(const char* function, const Error& error) {
    const std::string text = error.what() + alone_text();
    if (function != nullptr)
        PyErr_Format(exception_class(error.code()), "%s(): %s", function, text.c_str());
    else
        PyErr_SetString(exception_class(error.code()), text.c_str());
}

PyObject* translate(const char* function) noexcept {
    try {
        throw;
    } catch (const Raised&) {
    } catch (nb::python_error& error) {
        error.restore();
    } catch (const Error& error) {
        // A signal handler has set its own exception (KeyboardInterrupt).
        if (error.code() == ErrorCode::pe)
            set_pe_error(function, error);
        else if (error.code() == ErrorCode::collective_mismatch)
            set_mismatch(error);
        else if (error.code() == ErrorCode::kernel)
            set_kernel_error(error);
        else if (error.code() != ErrorCode::interrupted || !PyErr_Occurred())
            PyErr_SetString(exception_class(error.code()), error.what());
    } catch (const std::bad_alloc&) {
        PyErr_NoMemory();
    } catch (const std::exception& error) {
        PyErr_SetString(error_class, error.what());
    } catch (...) {
        PyErr_SetString(error_class, "an unknown C++ exception");
    }
    return nullptr;
}

void register_errors(PyObject* module) {
    error_class = PyErr_NewExceptionWithDoc(
        "atoll.Error",
        "The base class of the exceptions. The text tells what was passed, what was expected and what to do.",
        nullptr, nullptr);
    if (!error_class || PyModule_AddObjectRef(module, "Error", error_class) < 0) throw Raised{};
    for (const Class& c : classes) {
        Ref bases(c.also ? PyTuple_Pack(2, error_class, *c.also) : PyTuple_Pack(1, error_class));
        const std::string name = std::string("atoll.") + c.name;
        PyObject* made = PyErr_NewExceptionWithDoc(name.c_str(), c.doc, bases.get(), nullptr);
        if (!made || PyModule_AddObjectRef(module, c.name, made) < 0) throw Raised{};
        class_of_code[static_cast<std::size_t>(c.code)] = made;
    }
    // nanobind's own functions (classes, cold calls) use the same translation.
    nb::register_exception_translator([](const std::exception_ptr& error, void*) {
        try {
            std::rethrow_exception(error);
        } catch (const Error&) {
            translate();
        } catch (const Raised&) {
        }
    });
}

}  // namespace atl::python
