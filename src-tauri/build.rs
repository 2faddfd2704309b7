//! Build script: ensures that there is a page to embed, writes what the window may do, then lets
//! Tauri check its configuration and generate a permission for each command.
mod commands;

use std::{env, fs, io, path::Path};
use tauri_build::{AppManifest, Attributes};

fn main() -> io::Result<()> {
    let index = Path::new("ui/dist/index.html");
    if !index.exists() {
        fs::create_dir_all("ui/dist")?;
        fs::write(
            index,
            "<!doctype html><title>Touchstone</title><p>The page is not built yet: run make build.",
        )?;
    }
    println!("cargo:rerun-if-changed=ui/dist");
    println!("cargo:rerun-if-changed=src-tauri/commands.rs");
    let names: Vec<&str> = commands::COMMANDS.iter().map(|(name, _)| *name).collect();
    let attributes = Attributes::new()
        .capabilities_path_pattern(write_capability(&names)?.leak())
        .app_manifest(AppManifest::new().commands(names.leak()));
    tauri_build::try_build(attributes).map_err(io::Error::other)
}

/// Writes the capability of the window: it may listen to events and call our commands, and nothing
/// else. Returns the pattern of the file's path.
fn write_capability(commands: &[&str]) -> io::Result<String> {
    let dir = env::var("OUT_DIR").map_err(io::Error::other)? + "/capabilities";
    let events = ["core:event:allow-listen", "core:event:allow-unlisten"].map(str::to_owned);
    let own = commands.iter().map(|name| format!("allow-{}", name.replace('_', "-")));
    let permissions: Vec<String> = events.into_iter().chain(own).collect();
    fs::create_dir_all(&dir)?;
    fs::write(
        format!("{dir}/main.json"),
        format!(r#"{{"identifier": "main", "windows": ["main"], "permissions": {permissions:?}}}"#),
    )?;
    Ok(format!("{}/*.json", dir.replace('[', "[[]")))
}
