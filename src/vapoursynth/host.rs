//! The functions of VapourSynth, and the `unsafe` code that they need: pointers from and to the host.
#![allow(unsafe_code, reason = "only the host knows that its pointers are valid")]
#![allow(clippy::missing_safety_doc, reason = "VapourSynth4.h has the rules for callers")]

use histeq::Memory;
use histeq::Note;
use histeq::in_python;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{null, null_mut};
use std::sync::Arc;
pub use vapoursynth4_sys::VSActivationReason as Reason;
use vapoursynth4_sys::{
    VAPOURSYNTH_API_VERSION, VSAPI, VSCacheMode, VSColorFamily, VSCore, VSDataTypeHint, VSFilterDependency,
    VSFilterMode, VSFrame, VSFrameContext, VSMap, VSMapAppendMode, VSMapPropertyError, VSMessageType, VSNode,
    VSPLUGINAPI, VSPlugin, VSRequestPattern, VSSampleType, VSVideoFormat, VSVideoInfo,
};

/// A function of the plug-in: reads its arguments, and writes results.
pub type Function = fn(Host, &Arguments<'_>, &Results<'_>) -> Result<(), String>;

/// The plug-in, while it registers its functions.
pub struct Plugin<'a> {
    plugin: *mut VSPlugin,
    api: &'a VSPLUGINAPI,
}

/// The functions of the host, for one of its cores.
#[derive(Clone, Copy)]
pub struct Host {
    api: &'static VSAPI,
    core: *mut VSCore,
}

// SAFETY: the functions of the host may be called from any thread.
unsafe impl Send for Host {}
// SAFETY: the same.
unsafe impl Sync for Host {}

/// The arguments of a function call.
pub struct Arguments<'a> {
    api: &'a VSAPI,
    map: *const VSMap,
}

/// The results of a function call.
pub struct Results<'a> {
    host: Host,
    map: *mut VSMap,
    lifetime: std::marker::PhantomData<&'a ()>,
}

/// A format of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// 1 is gray, 2 RGB, 3 YUV; 0 means that the format varies.
    pub family: i32,
    pub is_float: bool,
    pub depth: i32,
    pub log2_width: i32,
    pub log2_height: i32,
}

/// The properties of a clip.
#[derive(Clone, Copy, Debug)]
pub struct Clip {
    pub format: Format,
    /// Frames a second, as a fraction; 0 where they vary.
    pub rate: (i64, i64),
    /// Columns and rows; 0 where they vary.
    pub size: (i32, i32),
    pub frames: i32,
}

/// A clip whose frames can be requested.
pub struct Node {
    host: Host,
    node: *mut VSNode,
}

// SAFETY: nodes may be used from any thread.
unsafe impl Send for Node {}
// SAFETY: the same.
unsafe impl Sync for Node {}

/// A frame of the host, which does not change while this reference is held.
pub struct HostFrame {
    host: Host,
    frame: *const VSFrame,
}

// SAFETY: frames may be read and freed from any thread.
unsafe impl Send for HostFrame {}
// SAFETY: the same.
unsafe impl Sync for HostFrame {}

/// A plane of a [`HostFrame`].
pub struct HostPlane {
    frame: Arc<HostFrame>,
    plane: c_int,
}

/// A frame that is being written.
pub struct NewFrame {
    host: Host,
    frame: *mut VSFrame,
}

/// A request for a frame.
pub struct Request<'a> {
    /// The host, for new frames.
    pub host: Host,
    context: *mut VSFrameContext,
    /// A number that is kept with the request; it is 0 at first.
    pub step: &'a mut usize,
}

/// Makes the frames of a node.
pub trait Filter: Send + Sync + 'static {
    /// Does the next step of the request for frame `number`. Returns `None` if it has requested other frames.
    ///
    /// # Errors
    /// When the frame cannot be made.
    fn frame(&self, number: usize, reason: Reason, request: &mut Request<'_>) -> Result<Option<NewFrame>, String>;
}

/// How the host requests frames of a node.
#[derive(Clone, Copy)]
pub enum Order {
    /// On many threads at once.
    Parallel,
    /// One frame at a time.
    OneByOne,
}

/// VapourSynth calls this when it loads the plug-in.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn VapourSynthPluginInit2(plugin: *mut VSPlugin, api: *const VSPLUGINAPI) {
    // SAFETY: the host passes a valid table of its functions.
    let api = unsafe { &*api };
    let _ = catch_unwind(|| crate::register(&Plugin { plugin, api }));
}

fn c_text(text: &str) -> CString {
    CString::new(text.replace('\0', " ")).unwrap_or_default()
}

/// Runs `work`; a panic becomes an error and does not unwind into the host.
fn guarded<T>(work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
        let text = format!("a bug, please report it: {}", text.unwrap_or("unknown"));
        // The payload is not dropped, since its drop might panic again.
        std::mem::forget(panic);
        Err(text)
    })
}

impl Plugin<'_> {
    /// Sets the names and the version of the plug-in.
    pub fn configure(&self, identifier: &str, namespace: &str, name: &str) {
        let part = |text: &str| text.parse::<c_int>().unwrap_or(0);
        let version = (part(env!("CARGO_PKG_VERSION_MAJOR")) << 16) | part(env!("CARGO_PKG_VERSION_MINOR"));
        let [identifier, namespace, name] = [identifier, namespace, name].map(c_text);
        let texts = (identifier.as_ptr(), namespace.as_ptr(), name.as_ptr());
        // SAFETY: the texts live until the call returns.
        unsafe {
            (self.api.configPlugin)(texts.0, texts.1, texts.2, version, VAPOURSYNTH_API_VERSION, 0, self.plugin);
        }
    }

    /// Registers a function.
    pub fn offer(&self, name: &str, arguments: &str, results: &str, function: Function) {
        let [name, arguments, results] = [name, arguments, results].map(c_text);
        let texts = (name.as_ptr(), arguments.as_ptr(), results.as_ptr());
        // SAFETY: the texts live until the call returns; the host passes the function's address back to `called`.
        unsafe {
            (self.api.registerFunction)(texts.0, texts.1, texts.2, called, function as *mut c_void, self.plugin);
        }
    }
}

/// VapourSynth calls this for each function of the plug-in.
unsafe extern "system-unwind" fn called(
    arguments: *const VSMap,
    results: *mut VSMap,
    function: *mut c_void,
    core: *mut VSCore,
    api: *const VSAPI,
) {
    // SAFETY: the host's functions stay valid while the plug-in is loaded, and `function` is from `offer`.
    let (api, function): (&'static VSAPI, Function) =
        unsafe { (&*api, std::mem::transmute::<*mut c_void, Function>(function)) };
    let host = Host { api, core };
    let results = Results { host, map: results, lifetime: std::marker::PhantomData };
    if let Err(error) = guarded(|| function(host, &Arguments { api, map: arguments }, &results)) {
        let error = c_text(&error);
        // SAFETY: the map of results is valid during the call.
        unsafe { (api.mapSetError)(results.map, error.as_ptr()) };
    }
}

impl Arguments<'_> {
    /// The integer argument of this name, if it was given.
    pub fn integer(&self, name: &str) -> Option<i64> {
        get(self.map, name, self.api.mapGetInt)
    }

    /// The floating-point argument of this name, if it was given.
    pub fn number(&self, name: &str) -> Option<f64> {
        get(self.map, name, self.api.mapGetFloat)
    }

    /// The text argument of this name, if it was given.
    pub fn text(&self, name: &str) -> Option<String> {
        let text: *const c_char = get(self.map, name, self.api.mapGetData)?;
        // SAFETY: a text of the host ends with a zero byte, and is valid during the call.
        (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
    }

    /// The clip argument of this name, if it was given.
    pub fn node(&self, host: Host, name: &str) -> Option<Node> {
        get(self.map, name, self.api.mapGetNode).filter(|node| !node.is_null()).map(|node| Node { host, node })
    }
}

/// A function of the host that returns the value with an index and a name in a map, and writes an error code.
type Getter<T> = unsafe extern "system-unwind" fn(*const VSMap, *const c_char, c_int, *mut VSMapPropertyError) -> T;

/// The first value of this name in a valid map; `None` if there is none.
fn get<T>(map: *const VSMap, name: &str, getter: Getter<T>) -> Option<T> {
    let (name, mut error) = (c_text(name), 0);
    // SAFETY: map and name are valid, and `error` is writable.
    let value = unsafe { getter(map, name.as_ptr(), 0, (&raw mut error).cast()) };
    (error == 0).then_some(value)
}

impl Results<'_> {
    /// Appends a text to the list of results of this name.
    pub fn append(&self, name: &str, text: &str) {
        let (name, size) = (c_text(name), text.len() as c_int);
        let (hint, append) = (VSDataTypeHint::Utf8, VSMapAppendMode::Append);
        // SAFETY: the map of results and both texts are valid.
        unsafe {
            (self.host.api.mapSetData)(self.map, name.as_ptr(), text.as_ptr().cast(), size, hint, append);
        }
    }

    /// Returns a clip as the result of the function.
    pub fn give(&self, node: Node) {
        // SAFETY: the map of results and the node are valid; the host adds a reference to the node.
        unsafe { (self.host.api.mapSetNode)(self.map, c"clip".as_ptr(), node.node, VSMapAppendMode::Replace) };
    }
}

impl Format {
    fn new(format: &VSVideoFormat) -> Self {
        Format {
            family: format.color_family as i32,
            is_float: format.sample_type as i32 == VSSampleType::Float as i32,
            depth: format.bits_per_sample,
            log2_width: format.sub_sampling_w,
            log2_height: format.sub_sampling_h,
        }
    }
}

impl Host {
    /// Writes a note to the host's log.
    pub fn log(self, note: &Note) {
        let (kind, text) = match note {
            Note::Detail(text) => (VSMessageType::Debug, text),
            Note::Note(text) => (VSMessageType::Information, text),
            Note::Warning(text) => (VSMessageType::Warning, text),
        };
        let text = c_text(&in_python(&format!("Equalize: {text}")));
        // SAFETY: the text lives until the call returns, and the core as long as its nodes.
        unsafe { (self.api.logMessage)(kind, text.as_ptr(), self.core) };
    }

    /// The host's description of a format.
    fn described(self, format: Format) -> Result<VSVideoFormat, String> {
        let family = [VSColorFamily::Undefined, VSColorFamily::Gray, VSColorFamily::RGB, VSColorFamily::YUV];
        let family = family.get(format.family as usize).copied().unwrap_or(VSColorFamily::Undefined);
        let sample = if format.is_float { VSSampleType::Float } else { VSSampleType::Integer };
        let (depth, width, height) = (format.depth, format.log2_width, format.log2_height);
        let mut described = std::mem::MaybeUninit::<VSVideoFormat>::uninit();
        // SAFETY: `described` is writable, and the host has written it unless it returns 0.
        unsafe {
            let is_known =
                (self.api.queryVideoFormat)(described.as_mut_ptr(), family, sample, depth, width, height, self.core);
            if is_known == 0 {
                Err(format!("VapourSynth has no format {format:?}"))
            } else {
                Ok(described.assume_init())
            }
        }
    }

    /// A node whose frames `filter` makes from frames of `sources`. The host does not cache them for
    /// [`Order::OneByOne`].
    pub fn node(
        self,
        name: &str,
        clip: &Clip,
        filter: impl Filter,
        order: Order,
        sources: &[&Node],
    ) -> Result<Node, String> {
        let info = VSVideoInfo {
            format: self.described(clip.format)?,
            fps_num: clip.rate.0,
            fps_den: clip.rate.1,
            width: clip.size.0,
            height: clip.size.1,
            num_frames: clip.frames,
        };
        let sources: Vec<VSFilterDependency> = sources
            .iter()
            .map(|source| VSFilterDependency { source: source.node, request_pattern: VSRequestPattern::General })
            .collect();
        let (name, filter): (CString, Box<Box<dyn Filter>>) = (c_text(name), Box::new(Box::new(filter)));
        let mode = match order {
            Order::Parallel => VSFilterMode::Parallel,
            Order::OneByOne => VSFilterMode::FrameState,
        };
        // SAFETY: all pointers are valid until the call returns; that of the filter until `freed` is called.
        let node = unsafe {
            (self.api.createVideoFilter2)(
                name.as_ptr(),
                &raw const info,
                asked,
                Some(freed),
                mode,
                sources.as_ptr(),
                sources.len() as c_int,
                Box::into_raw(filter).cast(),
                self.core,
            )
        };
        if node.is_null() {
            return Err("VapourSynth makes no filter".to_owned());
        }
        if let Order::OneByOne = order {
            // SAFETY: the node is valid.
            unsafe { (self.api.setCacheMode)(node, VSCacheMode::ForceDisable) };
        }
        Ok(Node { host: self, node })
    }

    /// A new frame, with the properties of `source` if there is one. The caller writes all planes except those that are
    /// `shared` with `source`.
    pub fn new_frame(
        self,
        format: Format,
        size: (usize, usize),
        source: Option<&HostFrame>,
        shared: &[bool],
    ) -> Result<NewFrame, String> {
        let described = self.described(format)?;
        let (width, height) = (size.0 as c_int, size.1 as c_int);
        let properties = source.map_or(null(), |source| source.frame);
        let sources: [*const VSFrame; 3] =
            std::array::from_fn(|plane| if shared.get(plane).copied().unwrap_or(false) { properties } else { null() });
        let planes: [c_int; 3] = [0, 1, 2];
        // SAFETY: all pointers are valid until the call returns; the arrays have as many planes as a format can have.
        let frame = unsafe {
            (self.api.newVideoFrame2)(
                &raw const described,
                width,
                height,
                sources.as_ptr().cast_mut(),
                planes.as_ptr(),
                properties,
                self.core,
            )
        };
        if frame.is_null() {
            Err("VapourSynth has no memory for a frame".to_owned())
        } else {
            Ok(NewFrame { host: self, frame })
        }
    }
}

impl Node {
    /// Another reference to the node.
    pub fn again(&self) -> Node {
        // SAFETY: the node is valid.
        Node { host: self.host, node: unsafe { (self.host.api.addNodeRef)(self.node) } }
    }

    /// The properties of the clip.
    pub fn clip(&self) -> Clip {
        // SAFETY: the node is valid, and its description lives as long.
        let info = unsafe { &*(self.host.api.getVideoInfo)(self.node) };
        Clip {
            format: Format::new(&info.format),
            rate: (info.fps_num, info.fps_den),
            size: (info.width, info.height),
            frames: info.num_frames,
        }
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        // SAFETY: this value owns the reference.
        unsafe { (self.host.api.freeNode)(self.node) };
    }
}

impl HostFrame {
    /// The integer property of this name, if the frame has it.
    pub fn integer(&self, name: &str) -> Option<i64> {
        // SAFETY: the frame is valid, and its properties live as long.
        let properties = unsafe { (self.host.api.getFramePropertiesRO)(self.frame) };
        get(properties, name, self.host.api.mapGetInt)
    }

    /// A plane of the frame.
    pub fn plane(frame: &Arc<HostFrame>, plane: usize) -> HostPlane {
        HostPlane { frame: frame.clone(), plane: plane as c_int }
    }
}

impl Drop for HostFrame {
    fn drop(&mut self) {
        // SAFETY: this value owns the reference.
        unsafe { (self.host.api.freeFrame)(self.frame) };
    }
}

impl HostPlane {
    /// Bytes from one row to the next.
    pub fn stride(&self) -> usize {
        // SAFETY: the frame is valid, and has the planes of its format.
        unsafe { (self.frame.host.api.getStride)(self.frame.frame, self.plane) as usize }
    }
}

impl Memory for HostPlane {
    fn bytes(&self) -> &[u8] {
        let (api, frame) = (self.frame.host.api, self.frame.frame);
        // SAFETY: the plane has as many rows of this stride, and the host does not write to frames with other
        // references.
        unsafe {
            let rows = (api.getFrameHeight)(frame, self.plane) as usize;
            std::slice::from_raw_parts((api.getReadPtr)(frame, self.plane), self.stride() * rows)
        }
    }
}

impl NewFrame {
    /// Writes the rows of a plane.
    pub fn write<'r>(&mut self, plane: usize, rows: impl Iterator<Item = &'r [u8]>) -> Result<(), String> {
        let (api, plane) = (self.host.api, plane as c_int);
        // SAFETY: the frame is valid and has this plane, and nothing else accesses it.
        let (target, stride, height) = unsafe {
            let size = ((api.getStride)(self.frame, plane) as usize, (api.getFrameHeight)(self.frame, plane) as usize);
            ((api.getWritePtr)(self.frame, plane), size.0, size.1)
        };
        for (y, row) in rows.take(height).enumerate() {
            if row.len() > stride {
                return Err("a frame has another size than its clip".to_owned());
            }
            // SAFETY: the plane has `height` rows of `stride` bytes, and `row` is not in it.
            unsafe { std::ptr::copy_nonoverlapping(row.as_ptr(), target.add(y * stride), row.len()) };
        }
        Ok(())
    }

    /// Sets a property.
    pub fn set(&mut self, name: &str, value: i64) {
        let name = c_text(name);
        // SAFETY: the frame and the name are valid.
        unsafe {
            let map = (self.host.api.getFramePropertiesRW)(self.frame);
            (self.host.api.mapSetInt)(map, name.as_ptr(), value, VSMapAppendMode::Replace);
        }
    }
}

impl Drop for NewFrame {
    fn drop(&mut self) {
        // SAFETY: this value owns the reference.
        unsafe { (self.host.api.freeFrame)(self.frame) };
    }
}

impl Request<'_> {
    /// Requests a frame: the filter is called again when all requested frames are ready.
    pub fn ask(&self, node: &Node, number: usize) {
        // SAFETY: the node and the request are valid.
        unsafe { (self.host.api.requestFrameFilter)(number as c_int, node.node, self.context) };
    }

    /// A frame that was requested, and is ready.
    pub fn take(&self, node: &Node, number: usize) -> Result<Arc<HostFrame>, String> {
        // SAFETY: the node and the request are valid.
        let frame = unsafe { (self.host.api.getFrameFilter)(number as c_int, node.node, self.context) };
        if frame.is_null() {
            return Err(format!("frame {number} was not to be had"));
        }
        Ok(Arc::new(HostFrame { host: self.host, frame }))
    }

    /// Tells the host that this request does not need the frame any more.
    pub fn release(&self, node: &Node, number: usize) {
        // SAFETY: the node and the request are valid.
        unsafe { (self.host.api.releaseFrameEarly)(node.node, number as c_int, self.context) };
    }
}

/// VapourSynth calls this for a new request, and again when the frames that the filter has requested are ready.
unsafe extern "system-unwind" fn asked(
    number: c_int,
    reason: Reason,
    filter: *mut c_void,
    kept: *mut *mut c_void,
    context: *mut VSFrameContext,
    core: *mut VSCore,
    api: *const VSAPI,
) -> *const VSFrame {
    // SAFETY: the host's functions stay valid, and so does the filter until it is freed; `kept` belongs to this request
    // alone, and has the size of a number.
    let (api, filter, step) = unsafe { (&*api, &*filter.cast::<Box<dyn Filter>>(), &mut *kept.cast::<usize>()) };
    let mut request = Request { host: Host { api, core }, context, step };
    match guarded(|| filter.frame(number as usize, reason, &mut request)) {
        Ok(Some(made)) => {
            let frame = made.frame;
            // The host takes over the reference.
            std::mem::forget(made);
            frame
        }
        Ok(None) => null_mut(),
        Err(error) => {
            let error = c_text(&format!("Equalize: {error}"));
            // SAFETY: the request and the text are valid.
            unsafe { (api.setFilterError)(error.as_ptr(), context) };
            null_mut()
        }
    }
}

/// VapourSynth calls this when it frees a node.
unsafe extern "system-unwind" fn freed(filter: *mut c_void, _core: *mut VSCore, _api: *const VSAPI) {
    // SAFETY: `Host::node` made the filter, and the host does not use it any more.
    let filter = unsafe { Box::from_raw(filter.cast::<Box<dyn Filter>>()) };
    let _ = guarded(|| {
        drop(filter);
        Ok(())
    });
}
