// A device of PyTorch's that is not the CPU, with real numbers, for machines without a GPU. Its memory
// is the host's under another name, so every operation works by the CPU's; but tensors of the two
// cannot be mixed, so what forgets a copy fails as it would on a GPU.
#include <ATen/EmptyTensor.h>
#include <ATen/autocast_mode.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <ATen/native/CPUFallback.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/native_batch_norm.h>
#include <ATen/ops/view_native.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/core/impl/alloc_cpu.h>
#include <torch/extension.h>

#include <mutex>
#include <pthread.h>
#include <set>

using namespace at;

static constexpr DeviceType SHAM = DeviceType::PrivateUse1;
static constexpr DispatchKeySet KEY(DispatchKey::PrivateUse1);

struct Memory final : Allocator {
	static void drop(void *at) { c10::free_cpu(at); }
	DataPtr allocate(size_t size) override {
		void *at = size ? c10::alloc_cpu(size) : nullptr;
		return {at, at, &drop, Device(SHAM, 0)};
	}
	DeleterFnPtr raw_deleter() const override { return &drop; }
	void copy_data(void *to, const void *from, size_t size) const override { memcpy(to, from, size); }
};
static Memory memory;
REGISTER_ALLOCATOR(SHAM, &memory);

struct Guard final : c10::impl::DeviceGuardImplInterface {
	static constexpr DeviceType static_type = SHAM;
	static Device only() { return Device(SHAM, 0); }
	DeviceType type() const override { return SHAM; }
	Device exchangeDevice(Device) const override { return only(); }
	Device getDevice() const override { return only(); }
	void setDevice(Device) const override {}
	void uncheckedSetDevice(Device) const noexcept override {}
	Stream getStream(Device) const override { return Stream(Stream::DEFAULT, only()); }
	Stream exchangeStream(Stream stream) const override { return stream; }
	DeviceIndex deviceCount() const noexcept override { return 1; }
};
C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard);

// Batches are made and dropped by several threads. A process that forks has the lock, so its child finds it free.
static std::mutex lock;
static const int forks = pthread_atfork([] { lock.lock(); }, [] { lock.unlock(); }, [] { lock.unlock(); });
using Locked = std::lock_guard<std::mutex>;

// Memory of the host from which the device copies by itself.
struct Pinned final : Allocator {
	std::set<const void *> held;
	static Pinned &all() {
		static Pinned one;
		return one;
	}
	bool has(const void *at) {
		const Locked locked(lock);
		return held.count(at);
	}
	static void drop(void *at) {
		{
			const Locked locked(lock);
			all().held.erase(at);
		}
		c10::free_cpu(at);
	}
	DataPtr allocate(size_t size) override {
		void *at = c10::alloc_cpu(size ? size : 1);
		const Locked locked(lock);
		held.insert(at);
		return {at, at, &drop, Device(DeviceType::CPU)};
	}
	DeleterFnPtr raw_deleter() const override { return &drop; }
	void copy_data(void *to, const void *from, size_t size) const override { memcpy(to, from, size); }
};

struct Hooks final : PrivateUse1HooksInterface {
	bool hasPrimaryContext(DeviceIndex) const override { return true; }
	bool isAvailable() const override { return true; }
	bool isPinnedPtr(const void *at) const override { return Pinned::all().has(at); }
	Allocator *getPinnedMemoryAllocator() const override { return &Pinned::all(); }
};
static const bool hooked = (RegisterPrivateUse1HooksInterface(new Hooks), true);

static Tensor sham_make(IntArrayRef size, std::optional<ScalarType> type, std::optional<Layout>, std::optional<Device>,
	std::optional<bool>, std::optional<MemoryFormat> format) {
	return at::detail::empty_generic(size, &memory, KEY, c10::dtype_or_default(type), format);
}

static Tensor sham_make_strided(IntArrayRef size, IntArrayRef stride, std::optional<ScalarType> type, std::optional<Layout>,
	std::optional<Device>, std::optional<bool>) {
	return at::detail::empty_strided_generic(size, stride, &memory, KEY, c10::dtype_or_default(type));
}

// The same memory as the CPU sees it.
static Tensor sham_seen(const Tensor &t) {
	if (t.device().type() != SHAM)
		return t;
	return from_blob(t.data_ptr(), t.sizes(), t.strides(), TensorOptions().dtype(t.dtype()));
}

// Floats of copies from one memory to the other, since they were asked for.
// Those of operations that work by the CPU's are none of the program's.
static std::vector<int64_t> crossings;
static thread_local int inside;

static void cross(int64_t floats) {
	const Locked locked(lock);
	crossings.push_back(floats);
}

static Tensor sham_copy(const Tensor &from, const Tensor &to, bool) {
	if (!inside && from.device().type() != to.device().type())
		cross(to.numel());
	if (to.numel())
		sham_seen(to).copy_(sham_seen(from));
	return to;
}

static const Tensor &sham_resize(const Tensor &t, IntArrayRef size, std::optional<MemoryFormat>) {
	size_t bytes = t.itemsize();
	for (const int64_t side : size)
		bytes *= side;
	if (bytes > t.storage().nbytes()) {
		t.storage().set_data_ptr(memory.allocate(bytes));
		t.storage().unsafeGetStorageImpl()->set_nbytes(bytes);
	}
	t.unsafeGetTensorImpl()->set_sizes_contiguous(size);
	return t;
}

static Tensor sham_copy_and_resize(const Tensor &from, const Tensor &to) {
	if (to.sizes() != from.sizes())
		to.resize_(from.sizes());
	return sham_copy(from, to, false);
}

static Tensor sham_strided(const Tensor &t, IntArrayRef size, IntArrayRef stride, std::optional<int64_t> offset) {
	return native::as_strided_tensorimpl(t, size, stride, offset);
}

static Tensor sham_view(const Tensor &t, IntArrayRef size) { return native::view(t, size); }

static Tensor sham_alias(const Tensor &t, IntArrayRef size, IntArrayRef stride) {
	return native::as_strided_tensorimpl(t, size, stride, t.storage_offset());
}

static Tensor sham_own(const Tensor &t) {
	const Tensor made = sham_make(t.sizes(), t.scalar_type(), {}, {}, {}, {});
	if (t.numel())
		sham_seen(made).copy_(t);
	return made;
}

// By hand: its schema does not say that it changes statistics, so the fallback changes copies of them.
static std::tuple<Tensor, Tensor, Tensor> sham_norm(const Tensor &t, const std::optional<Tensor> &weight,
	const std::optional<Tensor> &bias, const std::optional<Tensor> &mean, const std::optional<Tensor> &var, bool training,
	double momentum, double eps) {
	const auto seen = [](const std::optional<Tensor> &one) {
		return one && one->defined() ? std::optional<Tensor>(sham_seen(*one)) : std::nullopt;
	};
	const auto [out, m, v] =
		at::native_batch_norm(sham_seen(t), seen(weight), seen(bias), seen(mean), seen(var), training, momentum, eps);
	return {sham_own(out), sham_own(m), sham_own(v)};
}

static Scalar number(const Tensor &t) {
	if (!inside)
		cross(1);
	return sham_seen(t).item();
}

static void by_cpu(const c10::OperatorHandle &op, torch::jit::Stack *stack) {
	inside++;
	native::cpu_fallback(op, stack);
	inside--;
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
	m.impl("empty.memory_format", &sham_make);
	m.impl("empty_strided", &sham_make_strided);
	m.impl("_copy_from", &sham_copy);
	m.impl("_copy_from_and_resize", &sham_copy_and_resize);
	m.impl("as_strided", &sham_strided);
	m.impl("view", &sham_view);
	m.impl("_reshape_alias", &sham_alias);
	m.impl("native_batch_norm", &sham_norm);
	m.impl("resize_", &sham_resize);
	m.impl("_local_scalar_dense", &number);
}
TORCH_LIBRARY_IMPL(_, AutocastPrivateUse1, m) { m.fallback(torch::CppFunction::makeFallthrough()); }
TORCH_LIBRARY_IMPL(aten, AutocastPrivateUse1, m) { KERNEL_PRIVATEUSEONE(linear, lower_precision_fp) }
TORCH_LIBRARY_IMPL(_, PrivateUse1, m) { m.fallback(torch::CppFunction::makeFromBoxedFunction<&by_cpu>()); }

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
	m.def("crossed", [] {
		const Locked locked(lock);
		return std::exchange(crossings, {});
	});
}
