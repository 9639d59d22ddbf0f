//! The pages in a browser: a view of sources and files, and work on files.

// `--web`: addresses, tokens, control.
mod web;
// `web`: the page that equalizes files.
mod work;
