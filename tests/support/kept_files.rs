//! Files that are the same in each run of the suite and take long to make: kept in Cargo's folder for tests.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

/// Cargo's folder for tests, or a temporary one if the suite was copied to another machine.
static ALL: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    match std::fs::create_dir_all(folder) {
        Ok(()) => folder.to_owned(),
        Err(_) => tempfile::tempdir().expect("a temporary folder").keep(),
    }
});

/// One lock for each folder: tests that want the same files at the same time make them once.
static MAKING: LazyLock<Mutex<HashMap<String, Arc<Mutex<()>>>>> = LazyLock::new(Mutex::default);

/// The folder of the files that `make` writes for `key`. `make` runs only if the folder does not exist yet. `kind`
/// separates keys of different kinds. The files must not be changed.
pub fn kept(kind: &str, key: &impl Hash, make: impl FnOnce(&Path)) -> PathBuf {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    let name = format!("{kind}-{:016x}", hasher.finish());
    let folder = ALL.join(&name);
    // A panic in `make` fails its own test only; the next test tries again.
    let making = MAKING.lock().unwrap_or_else(PoisonError::into_inner).entry(name).or_default().clone();
    let _making = making.lock().unwrap_or_else(PoisonError::into_inner);
    if !folder.exists() {
        let fresh = tempfile::tempdir_in(&*ALL).expect("a temporary folder");
        make(fresh.path());
        // Another run of the suite may have been faster: its files are as good.
        let renamed = std::fs::rename(fresh.path(), &folder);
        assert!(folder.exists(), "{}: {renamed:?}", folder.display());
    }
    folder
}
