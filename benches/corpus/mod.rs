//! Seeded corpus of transcripts: equal bytes for equal seeds, with sizes and shapes like those of
//! real benchmark runs. Sizes are log-normal (median about 21 KB, p95 about 83 KB) with one of 5.6
//! MB; ten items per transcript on average.
pub(crate) mod failed_runs;
pub(crate) mod judged_runs;
pub(crate) mod matrix;

use fs_err as fs;
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

/// Dimensions of a corpus.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    /// Number of files.
    pub files: usize,
    /// Median size in bytes.
    pub median: f64,
    /// Standard deviation of the logarithm of the size.
    pub sigma: f64,
    /// Number of files per directory.
    pub per_dir: usize,
    /// Size of the one giant file, or 0 for none.
    pub giant: usize,
}

/// 10,000 transcripts, about 300 MB.
pub(crate) const LARGE: Shape =
    Shape { files: 10_000, median: 21_000.0, sigma: 0.84, per_dir: 10, giant: 5_600_000 };
/// 100,000 small transcripts.
pub(crate) const MANY: Shape =
    Shape { files: 100_000, median: 700.0, sigma: 0.3, per_dir: 90, giant: 0 };

/// Writes the corpus below `root` unless it exists already, and returns its directory.
pub(crate) fn write(root: &Path, shape: Shape) -> io::Result<PathBuf> {
    let dir = root.join(format!("{}x{}", shape.files, shape.median));
    let done = dir.join(".complete");
    if done.exists() {
        return Ok(dir);
    }
    let mut dice = Dice::new(20_260_101);
    for n in 0..shape.files {
        let folder = dir.join(format!("suite{:04}", n / shape.per_dir));
        if n % shape.per_dir == 0 {
            fs::create_dir_all(&folder)?;
        }
        let size =
            if n == shape.files / 2 && shape.giant > 0 { shape.giant } else { dice.size(shape) };
        fs::write(folder.join(file_name(n, shape.per_dir)), transcript(&mut dice, size))?;
    }
    fs::write(done, b"")?;
    Ok(dir)
}

fn file_name(n: usize, per_dir: usize) -> String {
    let system = SYSTEMS[n % 2];
    let model = MODELS[(n / 2) % 3];
    format!("task_{}-{system}-{model}-variation{}.yaml", n % per_dir / 6, n % per_dir)
}

const SYSTEMS: [&str; 2] = ["tool_calling", "tool_calling_python"];
const MODELS: [&str; 3] = ["claude", "o1", "o3-mini"];
const WORDS: &str = "ticket project revenue latency database outage region invoice plan customer owner priority open closed \
    query result table column index schema permission event trigger action timeout retry queue worker cache token report \
    monthly total average median created updated resolved pending escalated downtime reliability performance feature request \
    bug billing upgrade downgrade usage quota limit error warning healthy slow fast increase decrease compare between before \
    after during because however therefore please check again each every another several production staging internal";

/// Generates a transcript of about `size` bytes.
pub(crate) fn transcript(dice: &mut Dice, size: usize) -> String {
    let mut out = String::with_capacity(size + 4096);
    out.push_str("conversation:\n- user_message: |\n");
    prose(dice, &mut out, (size / 12).max(80));
    let mut call = 0;
    while out.len() < size.saturating_sub(size / 8 + 200) {
        out.push_str("- assistant_message: |\n");
        prose(dice, &mut out, (size / 40).max(60));
        call += 1;
        tool_call(dice, &mut out, call, size / 6);
    }
    out.push_str("- assistant_message: |\n");
    prose(dice, &mut out, (size / 16).max(60));
    answer(dice, &mut out);
    out
}

fn answer(dice: &mut Dice, out: &mut String) {
    let rows: Vec<(u64, u64)> =
        (0..3 + dice.below(6)).map(|_| (dice.below(9000), dice.below(1000))).collect();
    out.push_str("    ```json\n    [\n");
    for (ticket, score) in &rows {
        let _ = writeln!(
            out,
            "      {{\"ticket_id\": {ticket}, \"priority_score\": {}.{}}},",
            score / 10,
            score % 10
        );
    }
    out.push_str("    ]\n    ```\nanswer:\n");
    for (ticket, score) in &rows {
        let _ =
            writeln!(out, "- ticket_id: {ticket}\n  priority_score: {}.{}", score / 10, score % 10);
    }
    let (input, output) = (500 + dice.below(20_000), 100 + dice.below(4_000));
    let _ = writeln!(
        out,
        "run:\n  started: '2026-01-01T10:00:00Z'\n  finished: '2026-01-01T10:00:{:02}Z'\n  usage:\
         \n    input_tokens: {input}\n    output_tokens: {output}\n  cost: 0.0{}",
        10 + dice.below(50),
        100 + dice.below(900)
    );
}

fn tool_call(dice: &mut Dice, out: &mut String, call: usize, budget: usize) {
    let tool =
        if dice.below(2) == 0 { "query_support_tickets" } else { "query_control_plane_data" };
    let _ = writeln!(
        out,
        "- tool_call:\n    id: call_{call}_{}\n    name: {tool}\n    params:\n      sql: |\n",
        dice.uuid()
    );
    out.truncate(out.len() - 1);
    for line in [
        "SELECT t.id, t.subject, p.plan_name, i.amount",
        "FROM support_ticket t JOIN project p ON p.id = t.project_id",
    ] {
        let _ = writeln!(out, "        {line}");
    }
    let _ = writeln!(
        out,
        "        WHERE t.status = 'open' AND p.id <> '{}' ORDER BY t.created_at DESC",
        dice.uuid()
    );
    if dice.below(20) == 0 {
        let _ = writeln!(out, "    error: 'no such column: {}'", dice.word());
        return;
    }
    out.push_str("    result:\n");
    let end = out.len() + budget.max(120);
    while out.len() < end {
        let _ = writeln!(
            out,
            "    - id: {}\n      project_id: {}\n      subject: {} {} {}\n      amount: {}.{:02}\n      created_at: '2025-{:02}-{:02} 09:14:00'",
            dice.below(100_000),
            dice.uuid(),
            dice.word(),
            dice.word(),
            dice.word(),
            dice.below(5000),
            dice.below(100),
            1 + dice.below(12),
            1 + dice.below(28)
        );
        if dice.below(3) == 0 {
            out.push_str("      description: |\n");
            let from = out.len();
            prose(dice, out, 200);
            let body = out.split_off(from);
            for line in body.lines() {
                let _ = writeln!(out, "      {line}");
            }
        }
    }
}

/// Appends lines of words, indented by four.
fn prose(dice: &mut Dice, out: &mut String, bytes: usize) {
    let end = out.len() + bytes;
    while out.len() < end {
        out.push_str("    ");
        for n in 0..8 + dice.below(8) {
            if n > 0 {
                out.push(' ');
            }
            out.push_str(dice.word());
        }
        out.push_str(".\n");
    }
}

/// Random generator (splitmix64), reproducible by its seed.
pub(crate) struct Dice {
    state: u64,
    words: Vec<&'static str>,
}

impl Dice {
    /// Creates a generator with a seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self { state: seed, words: WORDS.split_whitespace().collect() }
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Returns a number below `end`.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    fn word(&mut self) -> &'static str {
        let n = usize::try_from(self.below(self.words.len() as u64)).unwrap_or(0);
        self.words[n]
    }

    fn uuid(&mut self) -> String {
        let (a, b) = (self.next(), self.next());
        format!(
            "{:08x}-{:04x}-4{:03x}-a{:03x}-{:012x}",
            a >> 32,
            (a >> 16) & 0xffff,
            a & 0xfff,
            b >> 52,
            b & 0xffff_ffff_ffff
        )
    }

    fn size(&mut self, shape: Shape) -> usize {
        // Box–Muller transform of two uniform numbers in (0, 1].
        let uniform = |n: u64| ((n >> 11) as f64 + 1.0) / (1u64 << 53) as f64;
        let (u, v) = (uniform(self.next()), uniform(self.next()));
        let normal = (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos();
        (shape.median * (shape.sigma * normal).exp()).clamp(300.0, 2_000_000.0) as usize
    }
}
