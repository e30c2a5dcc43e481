//! wit/tool.wit in Rust: the trait `Tool` is what a tool provides, the functions are what Postern provides.
//! This file comes with Postern, like wit/. Do not edit it.

// A tool may not use all of it.
#![allow(dead_code, clippy::too_many_arguments)]

use std::alloc::{alloc, handle_alloc_error, realloc, Layout};
use std::mem::MaybeUninit;
use std::time::Duration;

/// What a tool provides. `bindings::export!` exports a type that implements it.
pub trait Tool {
    /// What the tool is for, written for the model that decides whether to call it.
    fn description() -> String;

    /// The JSON Schema of `params`.
    fn schema() -> String;

    /// Runs the tool. `params` is JSON, already checked against `schema`. The result is JSON too; the error is
    /// a sentence the model can act on.
    fn execute(params: &str) -> Result<String, String>;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    Trace,
    Debug,
    Info,
    Warn,
    Error,
}

#[derive(Clone, Debug)]
pub struct HttpResponse {
    pub status: u16,
    pub body: Vec<u8>,
}

/// Adds a line to the call's receipt. At most 1000 lines of 4 KiB per call; the rest is dropped and counted.
pub fn log(level: Level, message: &str) {
    unsafe { host::log(level as i32, message.as_ptr(), message.len()) }
}

/// Sends one request and waits for the response. Only https, and only what `http.allowlist` allows; redirects are
/// errors, unless `http.redirects` says that they are followed. `headers_json` is a JSON object of header names to
/// values, "{}" for none. Postern adds credentials after this call: a tool never sees a secret. The error is a
/// sentence that says what was refused or what failed.
pub fn http_request(
    method: &str,
    url: &str,
    headers_json: &str,
    body: Option<&[u8]>,
    timeout_ms: Option<u32>,
) -> Result<HttpResponse, String> {
    let bytes = body.unwrap_or_default();
    let mut reply = MaybeUninit::<HttpReply>::uninit();
    unsafe {
        host::http_request(
            method.as_ptr(),
            method.len(),
            url.as_ptr(),
            url.len(),
            headers_json.as_ptr(),
            headers_json.len(),
            body.is_some() as i32,
            bytes.as_ptr(),
            bytes.len(),
            timeout_ms.is_some() as i32,
            timeout_ms.unwrap_or_default(),
            reply.as_mut_ptr(),
        );
        let reply = reply.assume_init();
        if reply.is_error != 0 {
            return Err(reply.payload.error.into_string());
        }
        let HttpAnswer { status, body } = reply.payload.answer;
        Ok(HttpResponse {
            status,
            body: body.into_vec(),
        })
    }
}

/// True if the secret is set. Always false for names that are not in `secrets.allowed_names`.
pub fn secret_exists(name: &str) -> bool {
    unsafe { host::secret_exists(name.as_ptr(), name.len()) != 0 }
}

/// The value of a setting that the capabilities file declares, or its default. Never a secret.
pub fn setting(name: &str) -> Option<String> {
    let mut value = MaybeUninit::<OptionalString>::uninit();
    unsafe {
        host::setting(name.as_ptr(), name.len(), value.as_mut_ptr());
        let OptionalString { is_some, text } = value.assume_init();
        (is_some != 0).then(|| text.assume_init().into_string())
    }
}

/// What the tool remembers for the user of the call, where the capabilities file says `state`. What a call writes is kept
/// when it returns `Ok`. The error is a sentence that says what was refused.
pub mod state {
    use super::{host, Bytes, KeysReply, ValueReply, WriteReply};
    use std::mem::MaybeUninit;

    pub fn get(key: &str) -> Result<Option<Vec<u8>>, String> {
        let mut reply = MaybeUninit::<ValueReply>::uninit();
        unsafe {
            host::state_get(key.as_ptr(), key.len(), reply.as_mut_ptr());
            let reply = reply.assume_init();
            if reply.is_error != 0 {
                return Err(reply.payload.error.into_string());
            }
            let value = reply.payload.value;
            Ok((value.is_some != 0).then(|| value.bytes.into_vec()))
        }
    }

    pub fn set(key: &str, value: &[u8]) -> Result<(), String> {
        let mut reply = MaybeUninit::<WriteReply>::uninit();
        unsafe {
            host::state_set(key.as_ptr(), key.len(), value.as_ptr(), value.len(), reply.as_mut_ptr());
            reply.assume_init().into_result()
        }
    }

    pub fn delete(key: &str) -> Result<(), String> {
        let mut reply = MaybeUninit::<WriteReply>::uninit();
        unsafe {
            host::state_delete(key.as_ptr(), key.len(), reply.as_mut_ptr());
            reply.assume_init().into_result()
        }
    }

    /// All keys that start so, sorted; "" for all.
    pub fn list_keys(prefix: &str) -> Result<Vec<String>, String> {
        let mut reply = MaybeUninit::<KeysReply>::uninit();
        unsafe {
            host::state_list_keys(prefix.as_ptr(), prefix.len(), reply.as_mut_ptr());
            let KeysReply { is_error, list } = reply.assume_init();
            if is_error != 0 {
                return Err(list.into_string());
            }
            let keys = Vec::from_raw_parts(list.start as *mut Bytes, list.length, list.length);
            Ok(keys.into_iter().map(|key| key.into_string()).collect())
        }
    }
}

/// The time since 1970-01-01 00:00 UTC. `SystemTime::now()` panics in a tool.
pub fn now() -> Duration {
    let mut time = MaybeUninit::<Datetime>::uninit();
    let Datetime {
        seconds,
        nanoseconds,
    } = unsafe {
        host::now(time.as_mut_ptr());
        time.assume_init()
    };
    Duration::new(seconds, nanoseconds)
}

/// A cryptographically secure random number. A `HashMap`, by contrast, has the same order in every call.
pub fn random() -> u64 {
    unsafe { host::get_random_u64() }
}

macro_rules! export {
    ($tool:ty) => {
        #[cfg_attr(
            target_arch = "wasm32",
            export_name = "postern:tool/tool@0.1.0#description"
        )]
        pub extern "C" fn export_description() -> *const $crate::bindings::Bytes {
            $crate::bindings::answer(<$tool as $crate::bindings::Tool>::description)
        }

        #[cfg_attr(target_arch = "wasm32", export_name = "postern:tool/tool@0.1.0#schema")]
        pub extern "C" fn export_schema() -> *const $crate::bindings::Bytes {
            $crate::bindings::answer(<$tool as $crate::bindings::Tool>::schema)
        }

        /// # Safety
        /// Only for the host to call, following the canonical ABI.
        #[cfg_attr(
            target_arch = "wasm32",
            export_name = "postern:tool/tool@0.1.0#execute"
        )]
        pub unsafe extern "C" fn export_execute(
            params: *mut u8,
            length: usize,
        ) -> *const $crate::bindings::Response {
            $crate::bindings::execute::<$tool>(params, length)
        }
    };
}
pub(crate) use export;

// The rest is the canonical ABI of the component model: how values are passed in memory. Memory handed to the
// host is never freed, because the memory is reset after each call.

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Bytes {
    start: *mut u8,
    length: usize,
}

impl Bytes {
    fn from_string(text: String) -> Bytes {
        let bytes: &'static mut [u8] = Box::leak(text.into_bytes().into_boxed_slice());
        Bytes {
            start: bytes.as_mut_ptr(),
            length: bytes.len(),
        }
    }

    /// Takes ownership of what the host wrote to memory from `cabi_realloc`.
    unsafe fn into_vec(self) -> Vec<u8> {
        Vec::from_raw_parts(self.start, self.length, self.length)
    }

    unsafe fn into_string(self) -> String {
        String::from_utf8_lossy(&self.into_vec()).into_owned()
    }
}

#[repr(C)]
pub struct OptionalString {
    is_some: u8,
    text: MaybeUninit<Bytes>,
}

impl OptionalString {
    fn from_option(text: Option<String>) -> OptionalString {
        match text {
            Some(text) => OptionalString {
                is_some: 1,
                text: MaybeUninit::new(Bytes::from_string(text)),
            },
            None => OptionalString {
                is_some: 0,
                text: MaybeUninit::uninit(),
            },
        }
    }
}

#[repr(C)]
pub struct Response {
    output: OptionalString,
    error: OptionalString,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct HttpAnswer {
    status: u16,
    body: Bytes,
}

#[repr(C)]
union HttpPayload {
    answer: HttpAnswer,
    error: Bytes,
}

#[repr(C)]
pub struct HttpReply {
    is_error: u8,
    payload: HttpPayload,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct OptionalBytes {
    is_some: u8,
    bytes: Bytes,
}

#[repr(C)]
union ValuePayload {
    value: OptionalBytes,
    error: Bytes,
}

#[repr(C)]
pub struct ValueReply {
    is_error: u8,
    payload: ValuePayload,
}

#[repr(C)]
pub struct WriteReply {
    is_error: u8,
    error: MaybeUninit<Bytes>,
}

impl WriteReply {
    unsafe fn into_result(self) -> Result<(), String> {
        if self.is_error == 0 {
            return Ok(());
        }
        Err(self.error.assume_init().into_string())
    }
}

/// `list` holds the keys, or the error.
#[repr(C)]
pub struct KeysReply {
    is_error: u8,
    list: Bytes,
}

#[repr(C)]
pub struct Datetime {
    seconds: u64,
    nanoseconds: u32,
}

pub fn answer(text: fn() -> String) -> *const Bytes {
    begin();
    Box::into_raw(Box::new(Bytes::from_string(text())))
}

/// # Safety
/// `start` and `length` describe memory from `cabi_realloc` that the host has filled with UTF-8.
pub unsafe fn execute<T: Tool>(start: *mut u8, length: usize) -> *const Response {
    begin();
    let params = Bytes { start, length }.into_string();
    let (output, error) = match T::execute(&params) {
        Ok(output) => (Some(output), None),
        Err(error) => (None, Some(error)),
    };
    Box::into_raw(Box::new(Response {
        output: OptionalString::from_option(output),
        error: OptionalString::from_option(error),
    }))
}

/// Logs panics, since the end of the call would lose their location.
fn begin() {
    #[cfg(target_os = "wasi")]
    prepare_library();
    std::panic::set_hook(Box::new(|panic| log(Level::Error, &panic.to_string())));
}

/// Has the C library find the open folders. Without this call the linker puts it in front of every export, `cabi_realloc`
/// among them, where a component may not call the host.
#[cfg(target_os = "wasi")]
fn prepare_library() {
    use std::sync::atomic::{AtomicBool, Ordering};

    extern "C" {
        fn __wasm_call_ctors();
    }
    static IS_PREPARED: AtomicBool = AtomicBool::new(false);
    if !IS_PREPARED.swap(true, Ordering::Relaxed) {
        unsafe { __wasm_call_ctors() }
    }
}

#[cfg_attr(target_arch = "wasm32", export_name = "cabi_realloc")]
unsafe extern "C" fn reallocate(
    old: *mut u8,
    old_size: usize,
    align: usize,
    size: usize,
) -> *mut u8 {
    if size == 0 {
        return align as *mut u8;
    }
    let start = if old_size == 0 {
        alloc(Layout::from_size_align_unchecked(size, align))
    } else {
        realloc(
            old,
            Layout::from_size_align_unchecked(old_size, align),
            size,
        )
    };
    if start.is_null() {
        handle_alloc_error(Layout::from_size_align_unchecked(size, align));
    }
    start
}

#[cfg(target_arch = "wasm32")]
mod host {
    use super::{Datetime, HttpReply, KeysReply, OptionalString, ValueReply, WriteReply};

    #[link(wasm_import_module = "postern:tool/host@0.1.0")]
    extern "C" {
        pub fn log(level: i32, message: *const u8, message_length: usize);
        #[link_name = "http-request"]
        pub fn http_request(
            method: *const u8,
            method_length: usize,
            url: *const u8,
            url_length: usize,
            headers_json: *const u8,
            headers_json_length: usize,
            has_body: i32,
            body: *const u8,
            body_length: usize,
            has_timeout: i32,
            timeout_ms: u32,
            reply: *mut HttpReply,
        );
        #[link_name = "secret-exists"]
        pub fn secret_exists(name: *const u8, name_length: usize) -> i32;
    }

    #[link(wasm_import_module = "postern:tool/setting@0.1.0")]
    extern "C" {
        pub fn setting(name: *const u8, name_length: usize, value: *mut OptionalString);
    }

    #[link(wasm_import_module = "postern:tool/state@0.1.0")]
    extern "C" {
        #[link_name = "get"]
        pub fn state_get(key: *const u8, key_length: usize, reply: *mut ValueReply);

        #[link_name = "set"]
        pub fn state_set(
            key: *const u8,
            key_length: usize,
            value: *const u8,
            value_length: usize,
            reply: *mut WriteReply,
        );

        #[link_name = "delete"]
        pub fn state_delete(key: *const u8, key_length: usize, reply: *mut WriteReply);

        #[link_name = "list-keys"]
        pub fn state_list_keys(prefix: *const u8, prefix_length: usize, reply: *mut KeysReply);
    }

    #[link(wasm_import_module = "wasi:clocks/wall-clock@0.2.0")]
    extern "C" {
        pub fn now(time: *mut Datetime);
    }

    #[link(wasm_import_module = "wasi:random/random@0.2.0")]
    extern "C" {
        #[link_name = "get-random-u64"]
        pub fn get_random_u64() -> u64;
    }
}

/// For `cargo test`, which runs on your machine without Postern.
#[cfg(not(target_arch = "wasm32"))]
mod host {
    use super::{Datetime, HttpReply, KeysReply, OptionalString, ValueReply, WriteReply};

    const ABSENT: &str = "not available under cargo test: test this in tool.test.js";

    pub unsafe fn log(_: i32, _: *const u8, _: usize) {}

    pub unsafe fn http_request(
        _: *const u8,
        _: usize,
        _: *const u8,
        _: usize,
        _: *const u8,
        _: usize,
        _: i32,
        _: *const u8,
        _: usize,
        _: i32,
        _: u32,
        _: *mut HttpReply,
    ) {
        panic!("{ABSENT}")
    }

    pub unsafe fn secret_exists(_: *const u8, _: usize) -> i32 {
        panic!("{ABSENT}")
    }

    pub unsafe fn setting(_: *const u8, _: usize, _: *mut OptionalString) {
        panic!("{ABSENT}")
    }

    pub unsafe fn state_get(_: *const u8, _: usize, _: *mut ValueReply) {
        panic!("{ABSENT}")
    }

    pub unsafe fn state_set(_: *const u8, _: usize, _: *const u8, _: usize, _: *mut WriteReply) {
        panic!("{ABSENT}")
    }

    pub unsafe fn state_delete(_: *const u8, _: usize, _: *mut WriteReply) {
        panic!("{ABSENT}")
    }

    pub unsafe fn state_list_keys(_: *const u8, _: usize, _: *mut KeysReply) {
        panic!("{ABSENT}")
    }

    pub unsafe fn now(_: *mut Datetime) {
        panic!("{ABSENT}")
    }

    pub unsafe fn get_random_u64() -> u64 {
        panic!("{ABSENT}")
    }
}
