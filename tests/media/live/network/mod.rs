//! Servers that are read from and written to.

// A network camera that is lost.
pub(crate) mod inputs;
// RTSP cameras.
mod rtsp;
// Helper: an RTSP camera.
mod rtsp_server;
// Helper: RTMP, RTSP and SRT servers.
pub(crate) mod servers;
