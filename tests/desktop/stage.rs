//! A temporary folder, the program's directories beside it, and a window on it.
use crate::driver::Window;
use std::{
    fs,
    path::{Path, PathBuf},
};

/// Directories of a test, deleted on drop.
pub(crate) struct Stage {
    root: PathBuf,
    folder: PathBuf,
}

impl Stage {
    /// Creates an empty folder; only the demo can be opened.
    pub(crate) fn empty(name: &str) -> Self {
        let root = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("window-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        let folder = root.join("folder");
        fs::create_dir_all(&folder).unwrap();
        Self { root, folder }
    }

    /// Returns the path of another folder beside it.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// Path of the folder, to be opened.
    pub(crate) fn folder(&self) -> &str {
        self.folder.to_str().unwrap()
    }

    /// Writes a transcript like programs do: under another name, then renamed.
    pub(crate) fn transcript(&self, name: &str, items: &str) {
        let (beside, place) = (self.root.join("new"), self.folder.join(format!("{name}.yaml")));
        fs::write(&beside, format!("conversation:\n{items}")).unwrap();
        fs::rename(beside, place).unwrap();
    }

    /// Writes a file of the folder.
    pub(crate) fn file(&self, name: &str, text: &str) {
        let path = self.folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Reads a file of the folder.
    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.folder.join(name)).unwrap()
    }

    /// Opens a window with these arguments.
    pub(crate) fn window(&self, arguments: &[&str]) -> Window {
        self.window_with(arguments, &[])
    }

    /// Opens a window on the list of the folder's runs.
    pub(crate) fn list(&self) -> Window {
        let window = self.window(&[self.folder()]);
        window.run("location.hash = '#/runs'; return 1");
        window
    }

    /// Like `window`, with more environment variables.
    pub(crate) fn window_with(&self, arguments: &[&str], more: &[(&str, &str)]) -> Window {
        let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("demo");
        let (cache, state) = (self.root.join("cache"), self.root.join("state"));
        let mut environment = vec![
            ("TOUCHSTONE_CACHE_DIR", cache.as_path()),
            ("TOUCHSTONE_STATE_DIR", &state),
            ("TOUCHSTONE_DEMO_DIR", &demo),
        ];
        environment.extend(more.iter().map(|(name, value)| (*name, Path::new(value))));
        Window::open(arguments, &environment)
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}

/// Content with which a model might try to take over the page.
pub(crate) const HOSTILE: &str = r#"
  - user_message: "<script>window.pwned = 1</script>"
  - assistant_message: |
      <img src=x onerror="window.pwned = 2"><svg onload="window.pwned = 3"><iframe srcdoc="<script>parent.pwned = 4</script>"></iframe>
      [click](javascript:window.pwned=5) [data](data:text/html,<script>window.pwned=6</script>) <javascript:window.pwned=7>
      [away](https://example.com/ "title") ![picture](https://example.com/pixel.png) [file](file:///etc/passwd)
      <a href="javascript:window.pwned=8" onclick="window.pwned=9">x</a> <style>* { display: none }</style>
      <meta http-equiv="refresh" content="0; url=https://example.com/"> <base href="https://example.com/">
      $\href{javascript:window.pwned=10}{x}$ {@html "<img src=x onerror=window.pwned=11>"} {{constructor.constructor('window.pwned=12')()}}
  - tool_call:
      id: "\"><script>window.pwned = 13</script>"
      name: "</span><script>window.pwned = 14</script>"
      params: { sql: "select '<script>window.pwned = 15</script>'", __proto__: { pwned: 16 }, constructor: { prototype: { pwned: 17 } } }
      result:
        - { "<img src=x onerror=window.pwned=18>": "<img src=x onerror=window.pwned=19>", b: "\u001b]0;pwned\u0007" }
        - { "<img src=x onerror=window.pwned=18>": "javascript:window.pwned=20", b: 1 }
  - error: "<script>window.pwned = 21</script>"
  - assistant_message: harmless end
"#;
