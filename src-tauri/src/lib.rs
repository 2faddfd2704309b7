//! The host: a window, a local server and a command line over one engine. No decisions.
