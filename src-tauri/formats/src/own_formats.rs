//! **Pure.** The formats of run files that Touchstone reads as its own, with their documentation.
use touchstone_model::run::Layout;

/// Format of run files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OwnFormat {
    /// Layout of the runs.
    pub layout: Layout,
    /// Short name, as in the index and in the filter `format`.
    pub name: &'static str,
    /// Title of a run.
    pub title: &'static str,
    /// Files that are read, in a few words.
    pub files: &'static str,
    /// Page of documentation, in Markdown.
    pub documentation: &'static str,
}

/// All formats, those that Touchstone writes first.
pub const OWN_FORMATS: [OwnFormat; 9] = [
    OwnFormat {
        layout: Layout::ToolCalling,
        name: "tool_calling",
        title: "Tool-calling transcript",
        files: "*.yaml, *.json with conversation",
        documentation: include_str!("own_formats/tool_calling.md"),
    },
    OwnFormat {
        layout: Layout::PromptQl,
        name: "prompt_ql",
        title: "PromptQL transcript",
        files: "*.yaml, *.json with output",
        documentation: include_str!("own_formats/prompt_ql.md"),
    },
    OwnFormat {
        layout: Layout::BenchmarkFolder,
        name: "benchmark_folder",
        title: "Benchmark folder",
        files: "*.result, *.history, *.api, *.time, *.err",
        documentation: include_str!("own_formats/benchmark_folder.md"),
    },
    OwnFormat {
        layout: Layout::RawAnswer,
        name: "raw_answer",
        title: "StableToolBench answer",
        files: "<model>/<test set>/<id>_<method>.json",
        documentation: include_str!("own_formats/raw_answer.md"),
    },
    OwnFormat {
        layout: Layout::ConvertedAnswer,
        name: "converted_answer",
        title: "Converted StableToolBench answer",
        files: "*.json",
        documentation: include_str!("own_formats/converted_answer.md"),
    },
    OwnFormat {
        layout: Layout::PassRate,
        name: "pass_rate",
        title: "StableToolBench pass-rate verdict",
        files: "*.json, *.csv, *.tsv",
        documentation: include_str!("own_formats/pass_rate.md"),
    },
    OwnFormat {
        layout: Layout::ResultFile,
        name: "result_file",
        title: "StableToolBench evaluation",
        files: "*.json",
        documentation: include_str!("own_formats/result_file.md"),
    },
    OwnFormat {
        layout: Layout::Evaluation,
        name: "evaluation",
        title: "Row of an azure-ai-evaluation result",
        files: "*.json, *.jsonl",
        documentation: include_str!("own_formats/evaluation.md"),
    },
    OwnFormat {
        layout: Layout::EvaluatedRow,
        name: "evaluated",
        title: "Row evaluated by Touchstone",
        files: "*.json",
        documentation: include_str!("own_formats/evaluated.md"),
    },
];

/// Returns the format of a layout. `None` for runs of other tools.
pub fn of_layout(layout: Layout) -> Option<&'static OwnFormat> {
    OWN_FORMATS.iter().find(|format| format.layout == layout)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_format_has_a_name_of_its_own_and_a_page() {
        let names: BTreeSet<&str> = OWN_FORMATS.iter().map(|format| format.name).collect();
        assert_eq!(names.len(), OWN_FORMATS.len());
        for format in &OWN_FORMATS {
            assert_eq!(of_layout(format.layout), Some(format));
            assert!(format.documentation.contains("**Run**"), "{}", format.name);
        }
        assert_eq!(of_layout(Layout::Imported("inspect")), None);
    }
}
