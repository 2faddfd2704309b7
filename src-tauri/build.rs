//! Build script: ensures that there is a page to embed, then lets Tauri check its configuration and
//! generate a permission for each command.
mod commands;

use std::{fs, io, path::Path};
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
    println!("cargo:rerun-if-changed=src-tauri/capabilities");
    println!("cargo:rerun-if-changed=src-tauri/commands.rs");
    let names: Vec<&str> = commands::COMMANDS.iter().map(|(name, _)| *name).collect();
    let attributes = Attributes::new()
        .capabilities_path_pattern("src-tauri/capabilities/*")
        .app_manifest(AppManifest::new().commands(names.leak()));
    tauri_build::try_build(attributes).map_err(io::Error::other)
}
