//! Files that take long to make and are equal in each run of the suite: they are kept in Cargo's folder for tests.

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

/// A lock for each folder: if several tests need the same files at the same time, one of them makes the files.
static MAKING: LazyLock<Mutex<HashMap<String, Arc<Mutex<()>>>>> = LazyLock::new(Mutex::default);

/// The folder of the files that `make` writes for `key`. `make` runs only if the folder does not exist yet. `kind`
/// separates equal keys of different kinds. The files must not be changed.
pub fn kept(kind: &str, key: &impl Hash, make: impl FnOnce(&Path)) -> PathBuf {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    let name = format!("{kind}-{:016x}", hasher.finish());
    let folder = ALL.join(&name);
    // If `make` panics, only its own test fails; the next test calls it again.
    let making = MAKING.lock().unwrap_or_else(PoisonError::into_inner).entry(name).or_default().clone();
    let _making = making.lock().unwrap_or_else(PoisonError::into_inner);
    if !folder.exists() {
        let fresh = tempfile::tempdir_in(&*ALL).expect("a temporary folder");
        make(fresh.path());
        // Renaming fails if another run of the suite was faster; its files are used then.
        let renamed = std::fs::rename(fresh.path(), &folder);
        assert!(folder.exists(), "{}: {renamed:?}", folder.display());
    }
    folder
}
