//! Measurements of the steps of equalization on elements in GPU memory, each with the chosen kernel and timed by
//! events. The result of a step is returned too, so that it can be checked.

use super::experiment::{copied, measured, once};
use super::kernels::{self, CountedArea, LoadedKernels, Scan};
use super::plane::{DevicePlane, ElementKind};
use super::shape::refused;
use super::{
    BusTimes, CdfMin, Elements, Experiment, Formula, HostMemory, KernelRepeats, KernelStep, MapVariant, Measured,
    PixelOrder, Run, StepTimes, managed, tuned,
};
use cudarc::driver::{CudaSlice, CudaStream, DeviceRepr, ValidAsZeroBits};
use histeq::internal::cuda::Gpu;
use histeq::internal::cuda::arguments::BlendedLevels;
use histeq::internal::cuda::error::{Doing, Error};
use histeq::internal::cuda::memory::PinnedPool;
use histeq::{Limits, Named};
use std::sync::Arc;

/// A GPU and the kernels of the publications.
pub struct KernelBench {
    gpu: Arc<Gpu>,
    stream: Arc<CudaStream>,
    loaded: LoadedKernels,
}

/// The most elements of a plane.
const MAX_ELEMENTS: usize = 1 << 31;

const ALLOCATING: &str = "allocating memory on the device";
const UPLOADING: &str = "copying to the device";
const DOWNLOADING: &str = "copying from the device";
const CLEARING: &str = "clearing memory on the device";

impl KernelBench {
    /// A bench on this GPU. Each kernel is loaded on first use, which takes some tenths of a second.
    ///
    /// # Errors
    /// When a stream cannot be made.
    pub fn new(gpu: &Arc<Gpu>) -> Result<Self, Error> {
        let stream = gpu.context.new_stream().doing("making a stream")?;
        Ok(KernelBench { gpu: gpu.clone(), stream, loaded: LoadedKernels::new(&gpu.context, gpu.multiprocessors)? })
    }

    /// Uploads `copies` copies (at least one) of an image of `size` (columns and rows), whose elements belong to
    /// `bins` bins, 2 to 65,536.
    ///
    /// # Errors
    /// [`Error::Refused`] when there are no elements, more than 2^31, or too few or too many bins; other errors when
    /// the GPU has no memory left.
    ///
    /// # Panics
    /// When there are more or fewer elements than pixels.
    pub fn put(
        &self,
        elements: Elements,
        size: (usize, usize),
        bins: u32,
        copies: usize,
    ) -> Result<DevicePlane, Error> {
        if !(2..=65536).contains(&bins) {
            return Err(refused(format!("there are 2 to 65,536 bins, not {bins}")));
        }
        if elements.element_bytes() == 1 && bins > 256 {
            return Err(refused(format!("elements of one byte have 256 bins at most, not {bins}")));
        }
        self.put_bytes(elements.bytes(), ElementKind::Elements(elements.element_bytes()), size, bins, copies)
    }

    /// Uploads colour pixels of 8 bits. Their luminance belongs to 256 bins; they can be counted, not mapped.
    ///
    /// # Errors
    /// As for [`put`](KernelBench::put).
    ///
    /// # Panics
    /// As for [`put`](KernelBench::put).
    pub fn put_pixels(
        &self,
        bytes: &[u8],
        order: PixelOrder,
        size: (usize, usize),
        copies: usize,
    ) -> Result<DevicePlane, Error> {
        self.put_bytes(bytes, ElementKind::Pixels(order), size, 256, copies)
    }

    fn put_bytes(
        &self,
        bytes: &[u8],
        kind: ElementKind,
        (width, height): (usize, usize),
        bins: u32,
        copies: usize,
    ) -> Result<DevicePlane, Error> {
        let unit = match kind {
            ElementKind::Elements(bytes) => usize::from(bytes),
            ElementKind::Pixels(order) => order.bytes(),
        };
        let elements = width.saturating_mul(height);
        if !(1..=MAX_ELEMENTS).contains(&elements) {
            return Err(refused(format!("a picture of {width}x{height} pixels: there are 1 to 2^31")));
        }
        assert_eq!(bytes.len(), elements * unit);
        let copy = |_| self.stream.clone_htod(bytes).doing(UPLOADING);
        let copies = (0..copies.max(1)).map(copy).collect::<Result<_, _>>()?;
        self.stream.synchronize().doing(UPLOADING)?;
        Ok(DevicePlane { kind, size: (width as u32, height as u32), bins, copies })
    }

    /// Measures uploads, then downloads, of as many bytes as the plane has.
    ///
    /// # Errors
    /// When a copy fails, or the system has no more memory to pin.
    pub fn transfer(&self, plane: &DevicePlane, memory: HostMemory, repeats: KernelRepeats) -> Result<BusTimes, Error> {
        let bytes = plane.bytes();
        match memory {
            HostMemory::Pageable => self.transfer_through(&mut vec![0; bytes], repeats),
            HostMemory::Pinned => {
                let mut pinned = PinnedPool::new(&self.gpu.context, &Limits::default()).take(bytes)?;
                self.transfer_through(&mut pinned, repeats)
            }
        }
    }

    fn transfer_through(&self, host: &mut [u8], repeats: KernelRepeats) -> Result<BusTimes, Error> {
        let mut device = self.zeros(host.len())?;
        let upload = copied(&self.stream, repeats, |_| self.stream.memcpy_htod(&*host, &mut device).doing(UPLOADING))?;
        let download = copied(&self.stream, repeats, |_| self.stream.memcpy_dtoh(&device, host).doing(DOWNLOADING))?;
        Ok(BusTimes { upload, download })
    }

    /// Measures prefetching managed memory of the plane's size from the host to the device, in µs.
    ///
    /// # Errors
    /// When the GPU has no managed memory, or too little memory.
    pub fn prefetch(&self, plane: &DevicePlane, repeats: KernelRepeats) -> Result<Vec<f64>, Error> {
        managed::prefetch(&self.stream, plane.bytes(), repeats)
    }

    /// Equalizes elements as opencl-blelloch-scan does: the host downloads the result of each kernel, and uploads it
    /// and the image for the next one. Returns the equalized image. The map is computed, without a curve.
    ///
    /// # Errors
    /// As for [`put`](KernelBench::put) and [`equalize`](KernelBench::equalize).
    pub fn equalize_with_read_backs(
        &self,
        elements: Elements,
        size: (usize, usize),
        bins: u32,
        experiment: &Experiment,
    ) -> Result<Vec<u8>, Error> {
        let counts = self.zeros(bins as usize)?;
        self.count(&self.put(elements, size, bins, 1)?, 0, &counts, experiment)?;
        let counts = self.up(&self.down(&counts)?)?;
        let (cdf, least) = (self.zeros(bins as usize)?, self.zeros(1)?);
        kernels::scan(&self.stream, &self.scan_of(bins, experiment)?, &counts, &cdf)?;
        let cdf = self.up(&self.down(&cdf)?)?;
        let plane = self.put(elements, size, bins, 1)?;
        let mapped = self.zeros(plane.bytes())?;
        if experiment.variants.map != Some(MapVariant::GroupMin) {
            self.find_least(&cdf, &least, experiment)?;
        }
        self.compute(&plane, 0, &mapped, (&cdf, &least), experiment)?;
        self.down(&mapped)
    }

    /// Counts the elements of a plane, or the luminance of its pixels. The times do not include clearing the counts.
    ///
    /// # Errors
    /// [`Error::Refused`] when the launch is not possible; other errors when it fails.
    pub fn histogram(
        &self,
        plane: &DevicePlane,
        experiment: &Experiment,
        repeats: KernelRepeats,
    ) -> Result<Measured<Vec<u32>>, Error> {
        let counts = self.zeros(plane.bins as usize)?;
        self.measure(repeats, |launch| self.count(plane, launch, &counts, experiment), || self.down(&counts))
    }

    /// Limits counts to `most`.
    ///
    /// # Errors
    /// As for [`histogram`](KernelBench::histogram).
    pub fn saturation(&self, counts: &[u32], most: u32, repeats: KernelRepeats) -> Result<Measured<Vec<u32>>, Error> {
        let counts = self.up(counts)?;
        let saturate = |_| kernels::saturation(&self.loaded, &self.stream, &counts, most);
        self.measure(repeats, saturate, || self.down(&counts))
    }

    /// Scans counts to cumulative counts.
    ///
    /// # Errors
    /// As for [`histogram`](KernelBench::histogram).
    pub fn scan(
        &self,
        counts: &[u32],
        experiment: &Experiment,
        repeats: KernelRepeats,
    ) -> Result<Measured<Vec<u32>>, Error> {
        let (scan, cdf) = (self.scan_of(counts.len() as u32, experiment)?, self.zeros(counts.len())?);
        let counts = self.up(counts)?;
        self.measure(repeats, |_| kernels::scan(&self.stream, &scan, &counts, &cdf), || self.down(&cdf))
    }

    /// Finds the cumulative count of the first occupied bin.
    ///
    /// # Errors
    /// As for [`histogram`](KernelBench::histogram).
    pub fn cdf_min(
        &self,
        cdf: &[u32],
        experiment: &Experiment,
        repeats: KernelRepeats,
    ) -> Result<Measured<u32>, Error> {
        let (cdf, least) = (self.up(cdf)?, self.zeros(1)?);
        self.measure(repeats, |_| self.find_least(&cdf, &least, experiment), || Ok(self.down(&least)?[0]))
    }

    /// Makes the curve from cumulative counts, of which the last is the number of samples and the first above 0 is
    /// `cdf_min`.
    ///
    /// # Errors
    /// As for [`histogram`](KernelBench::histogram).
    ///
    /// # Panics
    /// When there are no counts.
    pub fn curve(
        &self,
        cdf: &[u32],
        cdf_min: u32,
        experiment: &Experiment,
        repeats: KernelRepeats,
    ) -> Result<Measured<Vec<u16>>, Error> {
        let total = *cdf.last().expect("a bin at least");
        let (cdf, least) = (self.up(cdf)?, self.up(&[cdf_min])?);
        let curve = self.zeros(cdf.len())?;
        let make = |_| self.make_curve((&cdf, &least, total), experiment, &curve);
        self.measure(repeats, make, || self.down(&curve))
    }

    /// Maps the elements of a plane by a curve. The output has elements of the same width, in native byte order.
    ///
    /// # Errors
    /// As for [`histogram`](KernelBench::histogram). Colour pixels and a computed map, which has no curve, are refused.
    ///
    /// # Panics
    /// When the curve does not have an entry for each bin.
    pub fn map(
        &self,
        plane: &DevicePlane,
        curve: &[u16],
        experiment: &Experiment,
        repeats: KernelRepeats,
    ) -> Result<Measured<Vec<u8>>, Error> {
        assert_eq!(curve.len(), plane.bins as usize);
        let curve = self.up(curve)?;
        let mapped = self.zeros(plane.bytes())?;
        self.measure(repeats, |launch| self.send(plane, launch, &mapped, &curve, experiment), || self.down(&mapped))
    }

    /// The whole equalization: histogram, saturation if set, scan, cdf-min, curve, map. Colour pixels are not mapped.
    /// The times omit steps for which a publication has no launch: the curve, if the map is computed; cdf-min, if the
    /// formula needs none, or if the launch of the curve or of the map finds it.
    ///
    /// # Errors
    /// As for [`histogram`](KernelBench::histogram).
    pub fn equalize(&self, plane: &DevicePlane, experiment: &Experiment, repeats: KernelRepeats) -> Result<Run, Error> {
        if experiment.saturated_at.is_some() && experiment.formula.is_some_and(|formula| formula.makes_curves()) {
            return Err(refused("no publication makes a picture of saturated counts"));
        }
        let bins = plane.bins as usize;
        let mut counts = self.zeros(bins)?;
        let (cdf, least) = (self.zeros(bins)?, self.zeros(1)?);
        let curve = self.zeros(bins)?;
        let is_mapped = matches!(plane.kind, ElementKind::Elements(_));
        let is_computed = experiment.variants.map.is_some_and(MapVariant::is_computed);
        let mapped = self.zeros(if is_mapped { plane.bytes() } else { 1 })?;
        let scan = self.scan_of(plane.bins, experiment)?;
        let step = |step: KernelStep, launch: usize, counts: &CudaSlice<u32>| match step {
            KernelStep::Histogram => self.count(plane, launch, counts, experiment),
            KernelStep::Saturation => {
                let most = experiment.saturated_at.unwrap_or(u32::MAX);
                kernels::saturation(&self.loaded, &self.stream, counts, most)
            }
            KernelStep::Scan => kernels::scan(&self.stream, &scan, counts, &cdf),
            KernelStep::CdfMin => self.find_least(&cdf, &least, experiment),
            KernelStep::Curve => self.make_curve((&cdf, &least, plane.elements()), experiment, &curve),
            KernelStep::Map if is_computed => self.compute(plane, launch, &mapped, (&cdf, &least), experiment),
            KernelStep::Map => self.send(plane, launch, &mapped, &curve, experiment),
        };
        let steps: Vec<KernelStep> = KernelStep::ALL
            .iter()
            .copied()
            .filter(|&step| step != KernelStep::Saturation || experiment.saturated_at.is_some())
            .filter(|&step| step != KernelStep::Map || is_mapped)
            .collect();

        once(&self.stream, || steps.iter().try_for_each(|&one| step(one, 0, &counts)))?;
        let (found, sums, codes) = (self.down(&counts)?, self.down(&cdf)?, self.down(&curve)?);
        let picture = if is_mapped { self.down(&mapped)? } else { Vec::new() };

        let Experiment { variants, formula, .. } = experiment;
        let finds_least = variants.cdf_min != Some(CdfMin::InCurve) && variants.map != Some(MapVariant::GroupMin);
        let has_cdf_min = finds_least && formula.is_none_or(Formula::has_minimum);
        let is_timed = |step: &KernelStep| match step {
            KernelStep::Curve => !is_computed,
            KernelStep::CdfMin => has_cdf_min,
            _ => true,
        };
        let steps: Vec<KernelStep> = steps.into_iter().filter(is_timed).collect();
        let total = measured(&self.loaded, &self.stream, repeats, |launch| {
            self.stream.memset_zeros(&mut counts).doing(CLEARING)?;
            steps.iter().try_for_each(|&one| step(one, launch, &counts))
        })?;
        let time = |one: KernelStep| {
            let times = measured(&self.loaded, &self.stream, repeats, |launch| step(one, launch, &counts))?;
            Ok(StepTimes { step: one, times })
        };
        let steps = steps.iter().map(|&one| time(one)).collect::<Result<_, Error>>()?;
        Ok(Run { steps, total, counts: found, cdf: sums, curve: codes, picture })
    }

    /// The whole equalization with the tuned kernels of normal runs, which map in place.
    ///
    /// # Errors
    /// [`Error::Refused`] except for 1 byte and 256 bins, or 2 bytes and 512, 1,024, 4,096, 16,384 or 65,536 bins.
    pub fn tuned(&self, plane: &DevicePlane, repeats: KernelRepeats) -> Result<Run, Error> {
        tuned::run(&self.gpu, &self.loaded, plane, repeats)
    }

    fn count(
        &self,
        plane: &DevicePlane,
        launch: usize,
        counts: &CudaSlice<u32>,
        experiment: &Experiment,
    ) -> Result<(), Error> {
        let Experiment { variants, shape, formula, .. } = experiment;
        let (copy, area) = (plane.copy(launch), plane.area());
        match plane.kind {
            ElementKind::Elements(element_bytes) => {
                let (levels, codes) = (BlendedLevels::for_bins(plane.bins), plane.bins);
                let counted = CountedArea { plane: copy, element_bytes, area, levels, counts, codes };
                kernels::histogram(&self.loaded, &self.stream, &counted, variants, shape)
            }
            ElementKind::Pixels(order) => {
                let pixels = (copy, order, area);
                kernels::luminance_histogram(&self.loaded, &self.stream, pixels, counts, (variants, shape), *formula)
            }
        }
    }

    fn scan_of(&self, bins: u32, experiment: &Experiment) -> Result<Scan, Error> {
        let Experiment { variants, shape, formula, .. } = experiment;
        Scan::new(&self.loaded, &self.stream, bins, variants, shape, *formula)
    }

    fn find_least(&self, cdf: &CudaSlice<u32>, least: &CudaSlice<u32>, experiment: &Experiment) -> Result<(), Error> {
        let Experiment { variants, formula, .. } = experiment;
        kernels::cdf_min(&self.loaded, &self.stream, cdf, least, variants, *formula)
    }

    fn make_curve(
        &self,
        sums: (&CudaSlice<u32>, &CudaSlice<u32>, u32),
        experiment: &Experiment,
        curve: &CudaSlice<u16>,
    ) -> Result<(), Error> {
        let (cdf, least, total) = sums;
        let levels = BlendedLevels::for_bins(cdf.len() as u32);
        let Experiment { variants, formula, .. } = experiment;
        // The wrong search has a separate kernel.
        let in_curve = variants.cdf_min == Some(CdfMin::InCurve) && *formula != Some(Formula::WrongMin);
        let sums = (cdf, (!in_curve).then_some(least), total);
        kernels::curve(&self.loaded, &self.stream, sums, &levels, *formula, curve)
    }

    fn send(
        &self,
        plane: &DevicePlane,
        launch: usize,
        mapped: &CudaSlice<u8>,
        curve: &CudaSlice<u16>,
        experiment: &Experiment,
    ) -> Result<(), Error> {
        let ElementKind::Elements(element_bytes) = plane.kind else {
            return Err(refused("colour pixels are counted, not mapped"));
        };
        let Experiment { variants, shape, .. } = experiment;
        let (planes, lies) = ((plane.copy(launch), mapped), (element_bytes, plane.area()));
        kernels::map(&self.loaded, &self.stream, planes, lies, curve, (variants, shape))
    }

    /// Maps a plane directly from its cumulative counts.
    fn compute(
        &self,
        plane: &DevicePlane,
        launch: usize,
        mapped: &CudaSlice<u8>,
        (cdf, least): (&CudaSlice<u32>, &CudaSlice<u32>),
        experiment: &Experiment,
    ) -> Result<(), Error> {
        let ElementKind::Elements(element_bytes) = plane.kind else {
            return Err(refused("colour pixels are counted, not mapped"));
        };
        if experiment.saturated_at.is_some() {
            return Err(refused("saturated counts are mapped through a curve"));
        }
        let Experiment { variants, shape, formula, .. } = experiment;
        let (planes, lies) = ((plane.copy(launch), mapped), (element_bytes, plane.area()));
        let sums = (cdf, least, plane.elements());
        kernels::map_computed(&self.loaded, &self.stream, planes, lies, sums, (variants, shape), *formula)
    }

    /// Runs a step once for its result, then for the times. Timed histograms add to the same counts, at the same speed.
    fn measure<T>(
        &self,
        repeats: KernelRepeats,
        mut step: impl FnMut(usize) -> Result<(), Error>,
        result: impl Fn() -> Result<T, Error>,
    ) -> Result<Measured<T>, Error> {
        once(&self.stream, || step(0))?;
        let result = result()?;
        Ok(Measured { result, times: measured(&self.loaded, &self.stream, repeats, step)? })
    }

    fn zeros<T: DeviceRepr + ValidAsZeroBits>(&self, entries: usize) -> Result<CudaSlice<T>, Error> {
        self.stream.alloc_zeros(entries).doing(ALLOCATING)
    }

    fn up<T: DeviceRepr>(&self, values: &[T]) -> Result<CudaSlice<T>, Error> {
        let device = self.stream.clone_htod(values).doing(UPLOADING)?;
        self.stream.synchronize().doing(UPLOADING)?;
        Ok(device)
    }

    fn down<T: DeviceRepr>(&self, device: &CudaSlice<T>) -> Result<Vec<T>, Error> {
        let values = self.stream.clone_dtoh(device).doing(DOWNLOADING)?;
        self.stream.synchronize().doing(DOWNLOADING)?;
        Ok(values)
    }
}
