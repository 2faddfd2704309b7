//! Build script: makes sure there is a page to embed, then lets Tauri check its configuration.
use std::{fs, io, path::Path};

fn main() -> io::Result<()> {
    let index = Path::new("ui/dist/index.html");
    if !index.exists() {
        fs::create_dir_all("ui/dist")?;
        fs::write(index, "<!doctype html><title>Touchstone</title><p>The page is not built yet: run make build.")?;
    }
    println!("cargo:rerun-if-changed=ui/dist");
    println!("cargo:rerun-if-changed=src-tauri/capabilities");
    tauri_build::try_build(tauri_build::Attributes::new().capabilities_path_pattern("src-tauri/capabilities/*"))
        .map_err(io::Error::other)
}
