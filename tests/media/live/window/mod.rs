//! The window on a virtual display, with real key presses.

// Helper: a display in memory.
mod desktop;
// What each key does.
mod keys;
// Sizes, the whole screen.
mod shape;
// Helper: screenshots.
mod shot;

use crate::support::programs::program::Dir;

/// A camera that shows a ramp of middle levels from left to right: the window shows levels 98 to 144 of the original,
/// and 0 to 255 of the equalized video.
fn ramp(dir: &Dir) -> &'static str {
    dir.ffmpeg("-f lavfi -i nullsrc=s=640x360,geq=lum='100+X*40/W':cb=128:cr=128 -frames:v 1 -pix_fmt gray ramp.png");
    "-f lavfi movie=ramp.png:loop=0,setpts=N/(15*TB),scale=out_range=tv,format=yuv420p,realtime"
}

/// A row without overlays, between the chart and the text at the bottom.
const ROW: usize = 250;
