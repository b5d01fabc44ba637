// take, put_at and add_at of GPU arrays, for calls that block the host and for streams.
#include "arrays/staging.hpp"
#include "gpu/stream_cache.hpp"
#include "operations/elements/irregular.hpp"

#include "atoll/elements.hpp"

namespace atl::python {
namespace {

constexpr std::size_t most_copied_bytes = 16;

/// index, pe or values: the argument, or an array made from it on the host.
struct Operand {
    Ref held;
    bool is_for_gpu;  ///< the GPU reads it where it is, and checks it

    PyArrayObject* array() const { return held.array(); }
    std::size_t size() const { return size_of(held.array()); }
};

/// The arguments of one call.
class DeviceElements {
  public:
    DeviceElements(const Spec& spec, const Context& ctx, const Arguments<7>& a, ElementsOp op, int pe)
        : spec_(spec), ctx_(ctx), a_(a), op_(op), stream_(stream_of(spec, a[6], a.adopted)) {
        array_ = array_arg(spec, name(), a[0]);
        if (!on_device(array_)) fail_on_host(spec, name(), array_);
        low_ = symmetric_arg(spec, name(), array_, op != ElementsOp::take).low;
        one_axis_ = PyArray_NDIM(array_) == 1;
        if (!one_axis_ && !c_contiguous(array_))
            fail(ErrorCode::unsupported,
                 "%s(): %s is a view of an array of a GPU; it is not contiguous and has several axes. Pass a "
                 "view of one axis (of any step), or number the elements of the whole array.",
                 spec.name, name());
        index_ = numbers("index", a[1]);
        pe_ = numbers("pe", a[pe]);
        shape_.join(index_.array());
        shape_.join(pe_.array());
    }

    PyObject* take() {
        settle(nullptr);
        if (!given(a_[3])) {
            if (stream_.given)
                fail(
                    ErrorCode::unsupported,
                    "take(): on a stream nothing can be returned; pass out=, an array in memory of the GPU.");
            Ref made = new_array(array_, shape_.nd(), shape_.dims());
            run(PyArray_BYTES(made.array()), ElementsValues::each, DType::uint8);
            return made.release();
        }
        PyArrayObject* out = array_arg(spec_, "out", a_[3]);
        check_writeable(spec_, "out", out);
        if (!same_dtype(array_, out)) fail_output_dtype(spec_, "src", array_, "out", out);
        const bool is_one = n_ == 1 && size_of(out) == 1;
        if (!(is_one || shape_.is_shape_of(out)) || !c_contiguous(out))
            fail(ErrorCode::shape_mismatch,
                 "take(): out must be contiguous and have the shape of index and pe together (%zu elements).",
                 n_);
        run(PyArray_BYTES(out), ElementsValues::each, DType::uint8);
        return Ref::borrow(passed(a_[3])).release();
    }

    void scatter(PyObject* value, DType type) {
        const bool is_number = !is_array(value) && is_scalar(value);
        if (is_number && item_bytes(array_) <= most_copied_bytes) {
            settle(nullptr);
            alignas(most_copied_bytes) char element[most_copied_bytes];
            write_element({spec_, "values", reinterpret_cast<PyObject*>(PyArray_DESCR(array_))}, value,
                          element);
            return run(element, ElementsValues::copied, type);
        }
        Operand values = values_operand(value);
        shape_.join(values.array());
        settle(values.array());
        if (values.size() == 1) return run(PyArray_BYTES(values.array()), ElementsValues::one, type);
        fit("values", values);
        run(PyArray_BYTES(values.array()), ElementsValues::each, type);
    }

  private:
    const char* name() const { return op_ == ElementsOp::take ? "src" : "dst"; }

    PyObject* passed(PyObject* header) const {
        for (int i = 0; i < a_.adopted.n; ++i)
            if (a_.adopted.headers[i] == header) return a_.adopted.passed[i];
        return header;
    }

    /// Checks an operand that the GPU reads in place.
    void check_for_gpu(const char* which, PyArrayObject* array) const {
        check_readable(spec_, which, array);
        if (!c_contiguous(array))
            fail(ErrorCode::unsupported, "%s(): %s is a view of an array that is not contiguous; copy it.",
                 spec_.name, which);
    }

    [[noreturn, gnu::cold]] void fail_not_there(const char* which, const char* what) const {
        fail(ErrorCode::unsupported,
             "%s(): on a stream, %s must be %s, or an array in memory of the GPU or pinned. It must stay "
             "until the stream comes to it.",
             spec_.name, which, what);
    }

    Operand numbers(const char* which, PyObject* value) const {
        const bool is_there = is_array(value) && (on_device(as_array(value)) ||
                                                  (stream_.given && PyArray_NDIM(as_array(value))));
        if (!is_there) {
            if (stream_.given && !PyIndex_Check(value)) fail_not_there(which, "an integer");
            return {integer_array(spec_, which, value), false};
        }
        PyArrayObject* array = as_array(value);
        const bool is_integer = PyArray_DESCR(array)->kind == 'i' && plain_native(array) &&
                                (item_bytes(array) == 4 || item_bytes(array) == 8);
        if (!is_integer)
            fail(ErrorCode::dtype_mismatch,
                 "%s(): %s has dtype %S; in memory that the GPU reads, numbers are int64 or int32.",
                 spec_.name, which, dtype_name(array).get());
        check_for_gpu(which, array);
        return {Ref::borrow(value), true};
    }

    Operand values_operand(PyObject* value) const {
        const bool is_there = is_array(value) && (on_device(as_array(value)) || stream_.given);
        if (!is_there) {
            if (stream_.given) fail_not_there("values", "a number of at most 16 bytes");
            return {values_of(spec_, array_, value), false};
        }
        PyArrayObject* array = as_array(value);
        check_for_gpu("values", array);
        if (!same_dtype(array_, array)) fail_dtypes(spec_, "dst", array_, "values", array);
        return {Ref::borrow(value), true};
    }

    /// Broadcasts an operand on the host to the number of elements to move.
    void fit(const char* which, Operand& operand) const {
        if (operand.size() == n_) return;
        if (operand.is_for_gpu)
            fail(ErrorCode::shape_mismatch,
                 "%s(): %s has %zu elements, and %zu are moved; arrays that a GPU reads are not spread: pass "
                 "one for all, or one for each.",
                 spec_.name, which, operand.size(), n_);
        operand.held = shape_.spread(std::move(operand.held));
    }

    /// Checks shapes, and all numbers that the host can read.
    void settle(PyArrayObject* values) {
        if (!shape_.fits()) fail_broadcast(spec_, index_.array(), pe_.array(), values);
        n_ = shape_.size();
        if (n_ == 0) return;
        for (Operand* operand : {&index_, &pe_})
            if (operand->size() != 1) fit(operand == &index_ ? "index" : "pe", *operand);
        if (!index_.is_for_gpu) check_indices(spec_, name(), array_, host(index_), n_);
        if (!pe_.is_for_gpu) check_pes(spec_, ctx_, host(pe_), n_);
        const bool one_pe = !pe_.is_for_gpu && pe_.size() == 1;
        const int first = one_pe ? static_cast<int>(host(pe_)[0]) : 0;
        for (int i = first; i < (one_pe ? first + 1 : ctx_.n_pes()); ++i)
            check_pool_block(spec_, name(), low_, ctx_, i);
    }

    static Integers host(const Operand& operand) {
        const auto* data = static_cast<const npy_int64*>(PyArray_DATA(operand.array()));
        Integers made;
        if (operand.size() == 1)
            made.scalar = data[0];
        else
            made.data = data;
        return made;
    }

    static Numbers numbers_of(const Operand& operand) {
        const void* data = PyArray_DATA(operand.array());
        if (!operand.is_for_gpu && operand.size() == 1) return *static_cast<const npy_int64*>(data);
        const Numbers each = item_bytes(operand.array()) == 4
                                 ? Numbers(static_cast<const std::int32_t*>(data))
                                 : Numbers(reinterpret_cast<const std::int64_t*>(data));
        return operand.size() == 1 ? each.for_all() : each;
    }

    void run(char* values, ElementsValues kind, DType type) const {
        if (n_ == 0) return;
        const std::size_t item = item_bytes(array_);
        const Elements elements{op_,
                                PyArray_BYTES(array_),
                                one_axis_ ? PyArray_STRIDES(array_)[0] : static_cast<npy_intp>(item),
                                size_of(array_),
                                item,
                                type,
                                numbers_of(index_),
                                numbers_of(pe_),
                                values,
                                kind,
                                n_};
        if (stream_.given) return stream_context(ctx_, stream_).elements(elements);
        finish_current(a_.adopted);
        ReleaseGil released(true);  // even one element waits for the GPU
        move_elements(ctx_, elements);
    }

    const Spec& spec_;
    const Context& ctx_;
    const Arguments<7>& a_;
    const ElementsOp op_;
    const StreamArg stream_;
    PyArrayObject* array_ = nullptr;
    char* low_ = nullptr;
    bool one_axis_ = false;
    Operand index_, pe_;
    Broadcast shape_;
    std::size_t n_ = 0;
};

}  // namespace

PyObject* take_on_device(const Spec& spec, const Context& ctx, const Arguments<7>& a) {
    return DeviceElements(spec, ctx, a, ElementsOp::take, 2).take();
}

void scatter_on_device(const Spec& spec, const Context& ctx, const Arguments<7>& a, bool adds, DType type) {
    DeviceElements(spec, ctx, a, adds ? ElementsOp::add_at : ElementsOp::put_at, 3).scatter(a[2], type);
}

}  // namespace atl::python
