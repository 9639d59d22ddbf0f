//! Files and folders: names, opening them without a surprise, what an input names.

pub(crate) mod by_name;
pub(crate) mod image_folder;
pub(crate) mod input_files;
pub(crate) mod name;
pub(crate) mod numbered;
pub(crate) mod open_folder;
pub(crate) mod private_folder;

pub use by_name::{
    by_descriptor, create_regular, is_same, open_no_link, open_regular, open_without_links, read_regular, read_whole,
};
pub use image_folder::{ImageFolder, is_image_name};
pub use input_files::{FileId, files_of_input, id_of, is_input, is_list_name, note_chain, note_input, path_of_input};
pub use name::{Name, folder_of};
pub use numbered::{number_pattern, numbered, numbers_there};
pub use open_folder::OpenFolder;
pub use private_folder::PrivateFolder;
