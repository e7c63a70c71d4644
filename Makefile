# Short names for the usual ways through the build, all of which is Meson's.
# No target installs packages: ./bootstrap does.

BUILD  = build
PREFIX = /usr/local
WERROR = true

all: $(BUILD)/build.ninja
	@if test -t 1; then ninja -C $(BUILD); else \
		echo "building: $$(ninja -C $(BUILD) -n | grep -c '^\[') steps, some minutes if they are many" && \
		ninja -C $(BUILD) --quiet; fi

$(BUILD)/build.ninja:
	@tools/configure $(BUILD) --prefix=$(PREFIX) --libdir=lib -Dwerror=$(WERROR)

# The same with MPI, for runs on several machines (docs/guide/scale.md); the build keeps it.
mpi: $(BUILD)/build.ninja
	@meson setup --reconfigure $(BUILD) -Dmpi=enabled >$(BUILD)/mpi.log || { cat $(BUILD)/mpi.log; exit 1; }
	@$(MAKE) --no-print-directory all

demo: all
	@$(BUILD)/retain demo

test: $(BUILD)/build.ninja
	@tools/run-tests $(BUILD)

# What the method is claimed to do, on the built-in stream (docs/results/claims.md), that a run of some
# minutes survives a hundred kills, that a hundred backups under load are whole, that a hundred kills
# during promotions and rollbacks lose nothing, that a hundred power cuts,
# full and broken disks and kills lose nothing over a file, lines, HTTP and C, and that 1 to 4 ranks come to
# the same bytes: long.
test-long: all
	@meson test -C $(BUILD) --no-rebuild --benchmark --verbose cli/ranks
	@tools/check-claims small --retain $(BUILD)/retain
	@$(BUILD)/retain verify-resume --set stream.preset=long --kills 100
	@tests/cli/backups.py $(BUILD)/retain 100
	@tests/serve/backups.py $(BUILD)/retain 100
	@tools/test-python tests/serve/shadows.py $(BUILD)/retain 100
	@tests/faults/power.py $(BUILD)/retain $(BUILD)/tests/faults/learner 100

# Every figure of the paper at laptop scale, into docs/results/figures.md: hours. MNIST=DIR and CIFAR10=KIND:PATH add
# those on real images, FLIGHTS=FILE and CUTS=FILES (tools/flights) those on a natural stream. Stopped, it goes on where it was.
results: all
	@tools/results --retain $(BUILD)/retain $(if $(MNIST),--mnist $(MNIST)) $(if $(CIFAR10),--cifar10 $(CIFAR10)) $(if $(FLIGHTS),--flights $(FLIGHTS)) $(if $(CUTS),--cuts '$(CUTS)') $(if $(PACS),--pacs $(PACS))

# The pictures of docs/results/gallery.md: some minutes, where their runs are not there yet.
gallery: all
	@tools/gallery $(BUILD)/retain

bench: all
	@$(BUILD)/retain bench train --arch resnet50
	@$(BUILD)/retain bench train --arch resnet50 --mode infer
	@$(BUILD)/retain bench train --arch resnet18-cifar --size 32 --classes 10 --batch 128
	@echo 'bench/against-pytorch races PyTorch on the same machine; docs/results/speed.md says how.'

sanitize:
	@tools/sanitize

# Readers against made-up bytes (clang); make fuzz FUZZ="--seconds 10 csv tar" for a part.
fuzz:
	@tools/fuzz $(FUZZ)

# A short demo under memcheck.
valgrind: all
	@tools/memcheck $(BUILD)

format:
	clang-format -i $$(git ls-files '*.c' '*.h')

install: all
	@meson configure $(BUILD) --prefix=$(PREFIX)
	@DESTDIR='$(DESTDIR)' meson install -C $(BUILD)

clean:
	rm -rf $(BUILD) build-asan build-tsan build-fuzz

.PHONY: all mpi demo test test-long results gallery bench sanitize fuzz valgrind format install clean
