"""usage: make_ffi.py OUTPUT HEADER...

Writes the C source of the extension pyretain._retain. Its declarations are those of
the headers themselves: what cffi cannot read of them (the preprocessor, C++) is left out,
and the compiler checks the rest against the real one.
"""

import re
import sys

import cffi

CALLBACKS = """
extern "Python" void pyretain_warning(void *context, const char *message);
extern "Python" int pyretain_progress(void *context, const struct retain_progress *progress);
extern "Python" int pyretain_net_make(void *context, const struct retain_shape *shape, struct retain_net *net,
    struct retain_err *err);
extern "Python" int pyretain_net_first(void *context, uint64_t seed, float *params, float *stats, struct retain_err *err);
extern "Python" int pyretain_net_forward(void *context, const struct retain_pass *pass, struct retain_err *err);
extern "Python" int pyretain_net_backward(void *context, const struct retain_pass *pass, struct retain_err *err);
extern "Python" int pyretain_net_loss(void *context, const struct retain_losses *of, struct retain_err *err);
extern "Python" void pyretain_net_free(void *context);
extern "Python" int pyretain_vector_make(void *context, size_t floats, void **vector, struct retain_err *err);
extern "Python" void pyretain_vector_free(void *context, void *vector);
extern "Python" int pyretain_vector_copy(void *context, struct retain_span to, struct retain_span from, size_t count,
    struct retain_err *err);
extern "Python" int pyretain_vector_read(void *context, struct retain_span from, float *values, size_t count,
    struct retain_err *err);
extern "Python" int pyretain_vector_write(void *context, struct retain_span to, const float *values, size_t count,
    struct retain_err *err);
extern "Python" int pyretain_vector_combine(void *context, struct retain_span out, float a, struct retain_span x, float b,
    struct retain_span y, size_t count, struct retain_err *err);
extern "Python" int pyretain_vector_square(void *context, struct retain_span x, size_t count, double *sum,
    struct retain_err *err);
extern "Python" int pyretain_vector_step(void *context, const struct retain_step *step, struct retain_err *err);
extern "Python" int pyretain_vector_save(void *context, const void **bytes, size_t *size, struct retain_err *err);
extern "Python" float *pyretain_batch_make(void *context, size_t floats);
extern "Python" void pyretain_batch_free(void *context, float *batch);
extern "Python" int pyretain_vector_load(void *context, const void *bytes, size_t size, struct retain_err *err);
"""


def declarations(header: str) -> str:
    text = re.sub(r"/\*.*?\*/", "", header, flags=re.S)
    text = re.sub(r'#ifdef __cplusplus.*?#endif', "", text, flags=re.S)
    constants = re.findall(r"^#define (RETAIN_\w+)\s+\(?-?\d+\)?\s*$", text, flags=re.M)
    text = re.sub(r"^#.*$", "", text, flags=re.M).replace("RETAIN_API", "")
    return text + "".join(f"#define {name} ...\n" for name in constants)


def main() -> None:
    output, *headers = sys.argv[1:]
    ffi = cffi.FFI()
    for header in headers:
        with open(header, encoding="utf-8") as file:
            ffi.cdef(declarations(file.read()))
    ffi.cdef(CALLBACKS)
    ffi.set_source("pyretain._retain", '#include "retain.h"')
    ffi.emit_c_code(output)


main()
