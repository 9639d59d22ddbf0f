//! The files of `kernels/` as they were compiled: machine code for common GPUs, and PTX for all others, which the driver
//! compiles when it first sees it. `Compiled -> what a device gets of it -> Module -> functions`, which `kernels` launches.

use super::error::{Doing, Error};
use cudarc::driver::sys::CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_BINARY_VERSION;
use cudarc::driver::{CudaContext, CudaFunction, CudaModule, DriverError};
use cudarc::nvrtc::Ptx;
use flate2::read::GzDecoder;
use std::io::Read;
use std::sync::Arc;

/// A compute capability: the major number and the minor one.
type Capability = (i32, i32);

/// How a file of kernels was compiled, and for which compute capability.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// Machine code.
    Cubin(Capability),
    /// For the driver to compile.
    Ptx(Capability),
}

impl Code {
    /// What the sources were compiled for, which the device may be newer than. They know it as `__CUDA_ARCH__`: 900 for
    /// (9, 0).
    pub fn architecture(self) -> Capability {
        match self {
            Code::Cubin(architecture) | Code::Ptx(architecture) => architecture,
        }
    }
}

/// Machine code, compressed.
struct Cubin {
    architecture: Capability,
    gzip: &'static [u8],
}

impl Cubin {
    /// Whether a device runs it: one of the same major number, whose minor one is not older.
    fn runs_on(&self, device: Capability) -> bool {
        device.0 == self.architecture.0 && device.1 >= self.architecture.1
    }

    fn decompressed(&self) -> Vec<u8> {
        let mut code = Vec::new();
        GzDecoder::new(self.gzip).read_to_end(&mut code).expect("compressed by kernels/build");
        code
    }
}

/// A file of kernels, compiled.
pub(crate) struct Compiled {
    name: &'static str,
    ptx: &'static str,
    ptx_architecture: Capability,
    cubins: &'static [Cubin],
}

/// Declares an [`Compiled`] for each file of kernels: its name, and what there is machine code for. Its PTX is for the first
/// of them.
macro_rules! files {
    ($($file:ident: $name:literal for $oldest:literal $($newer:literal)*,)*) => {
        $(pub(super) static $file: Compiled = Compiled {
            name: $name,
            ptx: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/kernels/", $name, ".ptx")),
            ptx_architecture: ($oldest / 10, $oldest % 10),
            cubins: &[cubin!($name, $oldest), $(cubin!($name, $newer)),*],
        };)*

        /// All of them.
        static ALL: &[&Compiled] = &[$(&$file),*];
    };
}

/// The machine code of a file of kernels for `$architecture`: 90 is compute capability 9.0.
macro_rules! cubin {
    ($name:literal, $architecture:literal) => {
        Cubin {
            architecture: ($architecture / 10, $architecture % 10),
            gzip: include_bytes!(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/kernels/sm_",
                $architecture,
                "/",
                $name,
                ".cubin.gz"
            )),
        }
    };
}

files! {
    CHROMA: "chroma" for 75 80 90,
    EQUALIZATION: "equalization" for 75 80 90,
    FUSED: "fused" for 80 90,
    HISTOGRAM: "histogram" for 75 80 90,
    LOOK_AHEAD: "look_ahead" for 75 80 90,
    LUMINANCE: "luminance" for 75 80 90,
    MAP: "map" for 75 80 90,
    SCAN: "scan" for 75 80 90,
    SURFACE: "surface" for 75 80 90,
    TILE_CURVES: "tile_curves" for 75 80 90,
    TILE_HISTOGRAM: "tile_histogram" for 75 80 90,
    TILE_MAP: "tile_map" for 75 80 90,
}

impl Compiled {
    /// Kernels that there is PTX for and nothing else.
    #[cfg(feature = "laboratory")]
    pub const fn of_ptx(name: &'static str, ptx: &'static str, ptx_architecture: Capability) -> Self {
        Compiled { name, ptx, ptx_architecture, cubins: &[] }
    }

    /// What they are called.
    #[cfg(feature = "laboratory")]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The machine code that suits this device best.
    fn cubin_for(&self, device: Capability) -> Option<&Cubin> {
        self.cubins.iter().filter(|cubin| cubin.runs_on(device)).max_by_key(|cubin| cubin.architecture)
    }

    /// What this device gets; `None` if it is too old for any of it.
    fn code_for(&self, device: Capability) -> Option<Code> {
        let ptx = || (device >= self.ptx_architecture).then_some(Code::Ptx(self.ptx_architecture));
        self.cubin_for(device).map(|cubin| Code::Cubin(cubin.architecture)).or_else(ptx)
    }

    /// Has the driver take what there is for this device.
    ///
    /// # Errors
    /// When the driver takes neither machine code nor PTX.
    pub fn load(&self, context: &Arc<CudaContext>) -> Result<Module, Error> {
        let device = context.compute_capability().doing("asking for the compute capability")?;
        self.load_preferring(self.cubin_for(device), context)
    }

    /// Has the driver take this machine code. Where there is none, or the driver will not have it (whatever the reason),
    /// it takes the PTX.
    fn load_preferring(&self, cubin: Option<&Cubin>, context: &Arc<CudaContext>) -> Result<Module, Error> {
        let module = cubin.and_then(|cubin| load_cubin(cubin, context).ok());
        module.map_or_else(|| self.load_ptx(context), Ok)
    }

    /// Machine code that this device does not run, for tests.
    fn foreign_cubin(&self, device: Capability) -> Option<&Cubin> {
        self.cubins.iter().find(|cubin| !cubin.runs_on(device))
    }

    /// The names of its kernels.
    fn kernels(&self) -> impl Iterator<Item = &'static str> {
        let entries = self.ptx.split(".entry ").skip(1);
        entries.map(|entry| entry.split('(').next().expect("at least one part"))
    }

    fn load_ptx(&self, context: &Arc<CudaContext>) -> Result<Module, Error> {
        let module = context.load_module(Ptx::from_src(self.ptx)).doing("loading the kernels")?;
        Ok(Module { module, code: Code::Ptx(self.ptx_architecture) })
    }
}

fn load_cubin(cubin: &Cubin, context: &Arc<CudaContext>) -> Result<Module, DriverError> {
    let module = context.load_module(Ptx::from_binary(cubin.decompressed()))?;
    Ok(Module { module, code: Code::Cubin(cubin.architecture) })
}

/// A file of kernels that the driver has taken.
pub(crate) struct Module {
    module: Arc<CudaModule>,
    code: Code,
}

impl Module {
    /// One of its kernels.
    pub fn function(&self, name: &str) -> Result<CudaFunction, Error> {
        self.module.load_function(name).doing("finding a kernel")
    }

    /// What it was loaded from, for launchers of kernels that are others on some architectures (`__CUDA_ARCH__`), and want
    /// to be launched accordingly.
    pub fn code(&self) -> Code {
        self.code
    }
}

/// What a device got of a file of kernels, for tests.
#[doc(hidden)]
#[derive(Debug)]
pub struct Taken {
    /// The file, without extension.
    pub name: &'static str,
    /// What it was to get.
    pub offered: Code,
    /// What the driver took.
    pub loaded: Code,
    /// What the driver says of the machine code of each kernel: 90 for (9, 0).
    pub versions: Vec<i32>,
    /// What it took when it was to get machine code for another device.
    pub instead: Code,
    /// What it says of the kernels then.
    pub versions_instead: Vec<i32>,
}

/// Has the driver take all kernels that are for this device: as in a run, and after machine code that it has to refuse.
pub(super) fn take_all(context: &Arc<CudaContext>) -> Result<Vec<Taken>, Error> {
    let device = context.compute_capability().doing("asking for the compute capability")?;
    let suiting = ALL.iter().filter_map(|file| Some((file, file.code_for(device)?)));
    let taken = suiting.map(|(file, offered)| {
        let module = file.load(context)?;
        let other = file.load_preferring(file.foreign_cubin(device), context)?;
        let versions = |module| file.kernels().map(|name| version(module, name)).collect::<Result<_, _>>();
        Ok(Taken {
            name: file.name,
            offered,
            loaded: module.code(),
            versions: versions(&module)?,
            instead: other.code(),
            versions_instead: versions(&other)?,
        })
    });
    taken.collect()
}

/// What the machine code of a kernel is for. That makes the driver load it, which it may have put off until now.
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

    #[test]
    fn a_device_gets_the_machine_code_of_its_generation_or_else_ptx() {
        for (device, expected) in [
            ((7, 5), Some(Code::Cubin((7, 5)))),
            ((8, 0), Some(Code::Cubin((8, 0)))),
            ((8, 6), Some(Code::Cubin((8, 0)))),
            ((8, 9), Some(Code::Cubin((8, 0)))),
            ((9, 0), Some(Code::Cubin((9, 0)))),
            ((10, 0), Some(Code::Ptx((7, 5)))),
            ((12, 0), Some(Code::Ptx((7, 5)))),
            ((7, 0), None),
        ] {
            assert_eq!(MAP.code_for(device), expected, "{device:?}");
        }
    }

    #[test]
    fn kernels_for_later_devices_are_for_no_older_ones() {
        assert_eq!(FUSED.code_for((7, 5)), None);
        assert_eq!(FUSED.code_for((8, 6)), Some(Code::Cubin((8, 0))));
        assert_eq!(FUSED.code_for((9, 0)), Some(Code::Cubin((9, 0))));
        assert_eq!(FUSED.code_for((12, 0)), Some(Code::Ptx((8, 0))));
    }

    #[test]
    fn the_newest_machine_code_that_runs_is_taken() {
        const NONE: &[u8] = &[];
        let file = Compiled {
            name: "several",
            ptx: "",
            ptx_architecture: (8, 0),
            cubins: &[
                Cubin { architecture: (8, 0), gzip: NONE },
                Cubin { architecture: (8, 9), gzip: NONE },
                Cubin { architecture: (8, 6), gzip: NONE },
            ],
        };
        for (device, expected) in [((8, 0), (8, 0)), ((8, 6), (8, 6)), ((8, 7), (8, 6)), ((8, 9), (8, 9))] {
            assert_eq!(file.code_for(device), Some(Code::Cubin(expected)), "{device:?}");
        }
        assert_eq!(file.code_for((9, 0)), Some(Code::Ptx((8, 0))));
    }

    #[test]
    fn code_knows_what_it_was_compiled_for() {
        assert_eq!(Code::Cubin((9, 0)).architecture(), (9, 0));
        assert_eq!(Code::Ptx((7, 5)).architecture(), (7, 5));
    }

    #[test]
    fn every_file_of_kernels_is_here_with_all_of_its_machine_code() {
        let named: BTreeSet<String> = ALL.iter().map(|file| file.name.to_owned()).collect();
        assert_eq!(named, stems("kernels", "cu"));
        for (folder, architecture) in [("kernels/sm_75", (7, 5)), ("kernels/sm_80", (8, 0)), ("kernels/sm_90", (9, 0))]
        {
            let has = |file: &&&Compiled| file.cubins.iter().any(|cubin| cubin.architecture == architecture);
            let embedded = ALL.iter().filter(has).map(|file| file.name.to_owned());
            assert_eq!(stems(folder, "cubin.gz"), embedded.collect(), "{folder}");
        }
    }

    #[test]
    fn ptx_is_for_what_it_says_and_has_the_kernels_of_the_source() {
        for file in ALL {
            let (major, minor) = file.ptx_architecture;
            assert!(file.ptx.contains(&format!("\n.target sm_{major}{minor}\n")), "{}", file.name);
            let whole = |kernel: &str| kernel.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            assert!(file.kernels().count() > 0 && file.kernels().all(whole), "{}", file.name);
        }
        assert_eq!(LOOK_AHEAD.kernels().collect::<Vec<_>>(), ["look_ahead"]);
        assert!(FUSED.kernels().any(|kernel| kernel == "fused_modified_u12"));
    }

    #[test]
    fn machine_code_is_an_elf_for_its_architecture_with_all_kernels() {
        for file in ALL {
            for cubin in file.cubins {
                let code = cubin.decompressed();
                let (major, minor) = cubin.architecture;
                let at = format!("{} for {major}.{minor}", file.name);
                assert!(code.starts_with(b"\x7fELF"), "{at}");
                assert_eq!(u16::from_le_bytes([code[18], code[19]]), EM_CUDA, "{at}");
                // The lowest byte of `e_flags`.
                assert_eq!(i32::from(code[48]), major * 10 + minor, "{at}");
                for kernel in file.kernels() {
                    let section = format!("\0.text.{kernel}\0").into_bytes();
                    assert!(code.windows(section.len()).any(|window| window == section), "{at}: {kernel}");
                }
            }
        }
    }
}
