#!/usr/bin/env bash
# benches/cub/cub.sh PROGRAM
#
# Compiles benches/cub/cub.cu into PROGRAM, with CUDA's compiler and CUB from PyPI (in the cache of kernels/build): for an
# H200, or what $ARCH names.
set -euo pipefail
program=${1:?usage: benches/cub/cub.sh PROGRAM}
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/histeq-video/nvcc-13.0.88
[[ -d $cache ]] || python3 -m pip install --quiet --no-deps --target "$cache" nvidia-cuda-nvcc==13.0.88 \
    nvidia-nvvm==13.0.88 nvidia-cuda-crt==13.0.88 nvidia-cuda-runtime==13.0.96 nvidia-cuda-cccl==13.0.85
cuda=$cache/nvidia/cu13
"$cuda/bin/nvcc" -O3 -std=c++17 "-arch=${ARCH:-sm_90}" -I"$cuda/include" -I"$cuda/include/cccl" \
    -I"$here/../../kernels/headers/device" -L"$cuda/lib" \
    -o "$program" "$here/cub.cu"
