// How device functions are declared: inlined into the kernels that call them.
#pragma once

#define DEVICE __device__ __forceinline__
