//! Outputs of cameras: servers, virtual cameras, browsers.

pub(crate) mod browser_stream;
pub(crate) mod reconnecting;
pub(crate) mod virtual_camera;

pub use browser_stream::{BrowserStream, Fragment, Pairs};
pub use reconnecting::network_format;
