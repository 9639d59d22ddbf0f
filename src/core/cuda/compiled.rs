//! The compiled files of `kernels/`: machine code for common GPUs, and PTX for all others, which the driver compiles on
//! first use. `Compiled -> ArchivePart for a device -> Module -> functions`, which `kernels` launches.

use super::error::{Doing, Error};
use cudarc::driver::sys::CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_BINARY_VERSION;
use cudarc::driver::{CudaContext, CudaFunction, CudaModule, DriverError};
use cudarc::nvrtc::Ptx;
use flate2::read::ZlibDecoder;
use std::io::Read;
use std::sync::Arc;

/// A compute capability: the major number and the minor one.
type Capability = (i32, i32);

/// Jetson modules (AGX Orin, Orin NX and Nano). They do not run the machine code of other GPUs, nor do other GPUs run
/// theirs.
const JETSON: Capability = (8, 7);

/// The kind of a compiled kernel file, and its compute capability. Of several that run on a device, the greatest in the
/// order of this type is the best.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Code {
    /// PTX, which the driver compiles.
    Ptx(Capability),
    /// Machine code.
    Cubin(Capability),
}

impl Code {
    /// The compute capability that the sources were compiled for; the device may be newer. In the sources it is
    /// `__CUDA_ARCH__`: 900 for (9, 0).
    pub fn architecture(self) -> Capability {
        match self {
            Code::Cubin(architecture) | Code::Ptx(architecture) => architecture,
        }
    }

    /// Whether a device runs this code. PTX runs on devices that are not older. Machine code runs on devices of the
    /// same major number whose minor number is not lower.
    fn runs_on(self, device: Capability) -> bool {
        let architecture = self.architecture();
        let is_kin = device.0 == architecture.0 && (device == JETSON) == (architecture == JETSON);
        device >= architecture && (matches!(self, Code::Ptx(_)) || is_kin)
    }

    /// The code with this name in an archive: `ptx_75` or `sm_90`.
    fn named(name: &str) -> Option<Self> {
        let (kind, number) = name.split_once('_')?;
        let number: i32 = number.parse().ok()?;
        let architecture = (number / 10, number % 10);
        match kind {
            "ptx" => Some(Code::Ptx(architecture)),
            "sm" => Some(Code::Cubin(architecture)),
            _ => None,
        }
    }
}

/// A part of an archive.
#[derive(Clone, Copy)]
struct ArchivePart {
    code: Code,
    zlib: &'static [u8],
}

impl ArchivePart {
    /// The input of the driver's loader: an ELF file, or text that ends with a zero byte.
    fn decompressed(&self) -> Vec<u8> {
        let mut code = Vec::new();
        ZlibDecoder::new(self.zlib).read_to_end(&mut code).expect("compressed by kernels/build");
        code
    }

    fn load(&self, context: &Arc<CudaContext>) -> Result<Module, DriverError> {
        let module = context.load_module(Ptx::from_binary(self.decompressed()))?;
        Ok(Module { module, code: self.code })
    }
}

/// A file of kernels, compiled: an archive that `kernels/build` made.
pub struct Compiled {
    name: &'static str,
    archive: &'static [u8],
}

/// Declares a [`Compiled`] for each file of kernels.
macro_rules! files {
    ($($file:ident: $name:literal,)*) => {
        $(pub(super) static $file: Compiled = Compiled::new(
            $name,
            include_bytes!(concat!("../built/", $name, ".kernels")),
        );)*

        /// All files.
        static ALL: &[&Compiled] = &[$(&$file),*];
    };
}

files! {
    BALANCE: "balance",
    CHROMA: "chroma",
    EQUALIZATION: "equalization",
    FUSED: "fused",
    HISTOGRAM: "histogram",
    LUMINANCE: "luminance",
    MAP: "map",
    MERGE: "merge",
    MOTION: "motion",
    PYRAMID: "pyramid",
    SCAN: "scan",
    SURFACE: "surface",
    TILE_CURVES: "tile_curves",
    TILE_HISTOGRAM: "tile_histogram",
    TILE_MAP: "tile_map",
    VEIL_CURVES: "veil_curves",
}

impl Compiled {
    /// The archive of the file `name`.
    pub const fn new(name: &'static str, archive: &'static [u8]) -> Self {
        Compiled { name, archive }
    }

    /// The name of the file, without extension.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The parts of the archive. Its first line lists their names and sizes; the parts follow that line.
    fn parts(&self) -> Vec<ArchivePart> {
        let end = self.archive.iter().position(|&byte| byte == b'\n').expect("a line made by kernels/build");
        let (line, mut rest) = self.archive.split_at(end);
        rest = &rest[1..];
        let words: Vec<&str> = str::from_utf8(line).expect("a line of text").split(' ').collect();
        let part = |entry: &[&str]| {
            let (zlib, behind) = rest.split_at(entry[1].parse().expect("the bytes of a part"));
            rest = behind;
            ArchivePart { code: Code::named(entry[0]).expect("the name of a part"), zlib }
        };
        words.chunks_exact(2).map(part).collect()
    }

    /// The best part for this device; `None` if the device is too old for all of them.
    fn part_for(&self, device: Capability) -> Option<ArchivePart> {
        self.parts().into_iter().filter(|part| part.code.runs_on(device)).max_by_key(|part| part.code)
    }

    fn ptx(&self) -> ArchivePart {
        let is_ptx = |part: &ArchivePart| matches!(part.code, Code::Ptx(_));
        self.parts().into_iter().find(is_ptx).expect("PTX, of which every file has some")
    }

    /// Loads the best part for this device.
    ///
    /// # Errors
    /// When the driver accepts neither machine code nor PTX.
    pub fn load(&self, context: &Arc<CudaContext>) -> Result<Module, Error> {
        let device = context.compute_capability().doing("asking for the compute capability")?;
        self.load_preferring(self.part_for(device), context)
    }

    /// Loads `part`, or the PTX if there is no part or the driver refuses it for any reason.
    fn load_preferring(&self, part: Option<ArchivePart>, context: &Arc<CudaContext>) -> Result<Module, Error> {
        let module = part.and_then(|part| part.load(context).ok());
        module.map_or_else(|| self.ptx().load(context).doing("loading the kernels"), Ok)
    }

    /// Machine code that this device does not run, for tests.
    fn foreign_cubin(&self, device: Capability) -> Option<ArchivePart> {
        let is_foreign = |part: &ArchivePart| matches!(part.code, Code::Cubin(_)) && !part.code.runs_on(device);
        self.parts().into_iter().find(is_foreign)
    }

    /// The names of the file's kernels, for tests.
    fn kernels(&self) -> Vec<String> {
        let ptx = self.ptx().decompressed();
        let entries = str::from_utf8(&ptx).expect("PTX is text").split(".entry ").skip(1);
        entries.filter_map(|entry| Some(entry.split_once('(')?.0.to_owned())).collect()
    }
}

/// A kernel file that the driver has loaded.
pub struct Module {
    module: Arc<CudaModule>,
    /// The code that was loaded. Launchers need it where a kernel differs by architecture (`__CUDA_ARCH__`).
    pub(super) code: Code,
}

impl Module {
    /// The kernel of this name.
    pub fn function(&self, name: &str) -> Result<CudaFunction, Error> {
        self.module.load_function(name).doing("finding a kernel")
    }
}

/// The parts of a kernel file that a device has loaded, for tests.
#[doc(hidden)]
#[derive(Debug)]
pub struct LoadReport {
    /// The name of the file, without extension.
    pub name: &'static str,
    /// The best part for the device.
    pub offered: Code,
    /// The part that was loaded.
    pub loaded: Code,
    /// The driver's version of the machine code of each kernel: 90 for (9, 0).
    pub versions: Vec<i32>,
    /// The part that was loaded after the driver refused machine code for another device.
    pub instead: Code,
    /// The versions of the kernels in `instead`.
    pub versions_instead: Vec<i32>,
}

/// Loads all kernel files that run on this device, each twice: the best part, and the fallback after the driver has
/// refused machine code for another device.
pub(super) fn load_all(context: &Arc<CudaContext>) -> Result<Vec<LoadReport>, Error> {
    let device = context.compute_capability().doing("asking for the compute capability")?;
    let suiting = ALL.iter().filter_map(|file| Some((file, file.part_for(device)?.code)));
    let taken = suiting.map(|(file, offered)| {
        let module = file.load(context)?;
        let other = file.load_preferring(file.foreign_cubin(device), context)?;
        let versions = |module| file.kernels().iter().map(|name| version(module, name)).collect::<Result<_, _>>();
        Ok(LoadReport {
            name: file.name,
            offered,
            loaded: module.code,
            versions: versions(&module)?,
            instead: other.code,
            versions_instead: versions(&other)?,
        })
    });
    taken.collect()
}

/// The version of a kernel's machine code. The query makes the driver load the kernel if it loads lazily.
fn version(module: &Module, name: &str) -> Result<i32, Error> {
    module.function(name)?.get_attribute(CU_FUNC_ATTRIBUTE_BINARY_VERSION).doing("asking for a kernel's version")
}

#[cfg(test)]
mod tests {
    use super::super::kernels::tests::stems;
    use super::*;
    use std::collections::BTreeSet;

    /// `e_machine` of CUDA in an ELF header.
    const EM_CUDA: u16 = 190;

    fn code_for(file: &Compiled, device: Capability) -> Option<Code> {
        file.part_for(device).map(|part| part.code)
    }

    #[test]
    fn a_device_gets_the_machine_code_of_its_generation_or_else_ptx() {
        for (device, expected) in [
            ((7, 5), Some(Code::Cubin((7, 5)))),
            ((8, 0), Some(Code::Cubin((8, 0)))),
            ((8, 6), Some(Code::Cubin((8, 0)))),
            ((8, 7), Some(Code::Cubin((8, 7)))),
            ((8, 9), Some(Code::Cubin((8, 0)))),
            ((9, 0), Some(Code::Cubin((9, 0)))),
            ((10, 0), Some(Code::Ptx((7, 5)))),
            ((12, 0), Some(Code::Ptx((7, 5)))),
            ((7, 0), None),
        ] {
            assert_eq!(code_for(&MAP, device), expected, "{device:?}");
        }
    }

    #[test]
    fn kernels_for_later_devices_are_for_no_older_ones() {
        assert_eq!(code_for(&FUSED, (7, 5)), None);
        assert_eq!(code_for(&FUSED, (8, 6)), Some(Code::Cubin((8, 0))));
        assert_eq!(code_for(&FUSED, (9, 0)), Some(Code::Cubin((9, 0))));
        assert_eq!(code_for(&FUSED, (12, 0)), Some(Code::Ptx((8, 0))));
    }

    #[test]
    fn the_newest_machine_code_that_runs_is_taken() {
        let file = Compiled::new("several", b"ptx_80 1 sm_80 1 sm_89 1 sm_86 2 sm_87 1\npabccd");
        for (device, expected) in
            [((8, 0), b"a" as &[u8]), ((8, 6), b"cc"), ((8, 7), b"d"), ((8, 8), b"cc"), ((8, 9), b"b")]
        {
            assert_eq!(file.part_for(device).unwrap().zlib, expected, "{device:?}");
        }
        assert_eq!(code_for(&file, (9, 0)), Some(Code::Ptx((8, 0))));
    }

    #[test]
    fn code_knows_what_it_was_compiled_for() {
        assert_eq!(Code::Cubin((9, 0)).architecture(), (9, 0));
        assert_eq!(Code::Ptx((7, 5)).architecture(), (7, 5));
    }

    #[test]
    fn every_file_of_kernels_is_here_with_machine_code_for_all_devices_that_run_it() {
        let named: BTreeSet<String> = ALL.iter().map(|file| file.name.to_owned()).collect();
        assert_eq!(named, stems("kernels", "cu"));
        for file in ALL {
            let oldest = file.ptx().code.architecture();
            let cubins = [(7, 5), (8, 0), JETSON, (9, 0)].into_iter().filter(|&architecture| architecture >= oldest);
            let expected: BTreeSet<Code> = cubins.map(Code::Cubin).chain([Code::Ptx(oldest)]).collect();
            assert_eq!(file.parts().iter().map(|part| part.code).collect::<BTreeSet<_>>(), expected, "{}", file.name);
        }
    }

    #[test]
    fn ptx_is_for_what_it_says_and_has_the_kernels_of_the_source() {
        for file in ALL {
            let ptx = file.ptx().decompressed();
            let (major, minor) = file.ptx().code.architecture();
            let text = std::ffi::CStr::from_bytes_with_nul(&ptx).expect("one zero byte, at the end").to_str().unwrap();
            assert!(text.contains(&format!("\n.target sm_{major}{minor}\n")), "{}", file.name);
            let whole = |kernel: &String| kernel.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            assert!(!file.kernels().is_empty() && file.kernels().iter().all(whole), "{}", file.name);
        }
        assert_eq!(EQUALIZATION.kernels(), ["equalization", "equalization_spread"]);
        assert!(FUSED.kernels().iter().any(|kernel| kernel == "fused_modified_u10"));
    }

    #[test]
    fn machine_code_is_an_elf_for_its_architecture_with_all_kernels() {
        for file in ALL {
            let kernels = file.kernels();
            for part in file.parts() {
                let Code::Cubin((major, minor)) = part.code else { continue };
                let code = part.decompressed();
                let place = format!("{} for {major}.{minor}", file.name);
                assert!(code.starts_with(b"\x7fELF"), "{place}");
                assert_eq!(u16::from_le_bytes([code[18], code[19]]), EM_CUDA, "{place}");
                // The lowest byte of `e_flags`.
                assert_eq!(i32::from(code[48]), major * 10 + minor, "{place}");
                for kernel in &kernels {
                    let section = format!("\0.text.{kernel}\0").into_bytes();
                    assert!(code.windows(section.len()).any(|window| window == section), "{place}: {kernel}");
                }
            }
        }
    }
}
