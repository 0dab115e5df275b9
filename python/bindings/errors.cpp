// Turns exceptions of the library into those of palmette.errors, with their places.
#include <new>

#include "bindings.hpp"

namespace palmette::python {
namespace {

const char* name_of(FailureKind kind) {
  switch (kind) {
    case FailureKind::structurally_singular: return "structurally_singular";
    case FailureKind::numerically_singular: return "numerically_singular";
    case FailureKind::not_positive_definite: return "not_positive_definite";
    case FailureKind::not_finite: return "not_finite";
    case FailureKind::no_convergence: return "no_convergence";
  }
  return "numerically_singular";
}

void set_error(const nb::object& exception) {
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
}

nb::object python_class(const char* name) { return nb::module_::import_("palmette.errors").attr(name); }

void set_numerical_error(const NumericalFailure& failure) {
  set_error(python_class("numerical_error")(name_of(failure.kind), failure.message,
                                            nb::make_tuple(failure.row, failure.column), failure.rows,
                                            failure.columns));
}

void translate(const std::exception_ptr& pointer, void*) {
  try {
    std::rethrow_exception(pointer);
  } catch (const NumericalError& error) {
    set_numerical_error(error.failure());
  } catch (const DimensionError& error) {
    set_error(python_class("DimensionError")(error.what()));
  } catch (const UsageError& error) {
    set_error(python_class("UsageError")(error.what()));
  } catch (const IoError& error) {
    set_error(python_class("IoError")(error.what(), error.file(), error.line()));
  } catch (const MemoryError& error) {
    set_error(python_class("OutOfMemoryError")(error.what(), error.requested_bytes()));
  } catch (const Error& error) {
    set_error(python_class("Error")(error.what()));
  } catch (const std::bad_alloc&) {
    set_error(python_class("OutOfMemoryError")("out of memory"));
  }
}

}  // namespace

void bind_errors(nb::module_&) { nb::register_exception_translator(translate); }

}  // namespace palmette::python
