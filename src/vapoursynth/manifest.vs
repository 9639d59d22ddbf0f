[VapourSynth Manifest V1]
libhisteq_vapoursynth
