//! **Pure.** Results of red team scans of azure-ai-evaluation.
use crate::format::{Detected, Format, ImportedFile};
use crate::head::Head;
use crate::pieces;
use crate::run::{EventKind, ImportedRun, ImportedVerdict};
use crate::slices::{Names, Slices, parse_member};
use crate::source::Input;
use crate::text::{is_blank, text_or_json};
use std::collections::{BTreeMap, BTreeSet};
use touchstone_model::error::ReadError;
use touchstone_model::value::Value;

/// Keys of the list of attacks. A file may hold the same list under two of them; the first counts.
const LISTS: [&str; 3] = ["attack_details", "redteaming_data", "conversations"];

/// Results of red team scans of azure-ai-evaluation.
#[derive(Debug, Clone, Copy)]
pub struct AzureRedTeam;

impl Format for AzureRedTeam {
    fn name(&self) -> &'static str {
        "azure_redteam"
    }

    fn title(&self) -> &'static str {
        "azure-ai-evaluation, red team"
    }

    fn files(&self) -> &'static str {
        "final_results.json, instance_results.json"
    }

    fn documentation(&self) -> &'static str {
        include_str!("azure_redteam.md")
    }

    fn detect(&self, _path: &str, _start: &[u8], head: Option<&Head>) -> Option<Detected> {
        let head = head.filter(|head| !head.is_list && !head.is_lines)?;
        let is_scorecard = head.has_inner("scorecard", "risk_category_summary")
            || head.has_inner("redteaming_scorecard", "risk_category_summary");
        let is_attack = |list: &&str| {
            head.has_inner(list, "attack_technique") && head.has_inner(list, "risk_category")
        };
        (is_scorecard || LISTS.iter().any(is_attack)).then_some(Detected::Runs)
    }

    fn open<'a>(&self, input: Input<'a>) -> Result<Box<dyn ImportedFile + 'a>, ReadError> {
        Ok(Box::new(Scan::new(input.read_all()?)?))
    }
}

/// Scan, with the name and the task of each attack.
struct Scan {
    slices: Slices,
    names: Vec<(String, String)>,
    facts: Vec<(String, Value)>,
}

impl Scan {
    fn new(bytes: Vec<u8>) -> Result<Self, ReadError> {
        let text = pieces::text(bytes)?;
        let file = pieces::members(&text);
        let list = LISTS.into_iter().find(|list| {
            pieces::member(&file, list).is_some_and(|text| text.trim_start().starts_with('['))
        });
        let mut facts = Vec::new();
        for (name, key) in [("scan", "scan_info"), ("address", "studio_url")] {
            facts.extend(parse_member(&file, key).map(|value| (name.to_owned(), value)));
        }
        let parameters = ["parameters", "redteaming_parameters"];
        let parameters = parameters.iter().find_map(|key| parse_member(&file, key));
        let scenario = parameters.as_ref().and_then(|parameters| {
            parameters
                .at_path(&["attack_objective_generated_from", "application_scenario"])
                .and_then(text_or_json)
                .filter(|text| !is_blank(text))
        });
        facts.extend(scenario.map(|text| ("scenario".to_owned(), Value::Text(text))));
        let slices = Slices::list(text.into_bytes(), &[list.unwrap_or(LISTS[0])])?;
        let names = names(&slices);
        Ok(Scan { slices, names, facts })
    }
}

/// Returns the name and the task of each attack.
fn names(slices: &Slices) -> Vec<(String, String)> {
    let attacks: Vec<(String, String)> = (0..slices.len())
        .map(|at| {
            let attack = pieces::members(slices.get(at));
            let text = |key| parse_member(&attack, key).as_ref().and_then(text_or_json);
            let unknown = || "unknown".to_owned();
            let category = text("risk_category").map(|name| name.replace('-', "_"));
            (category.unwrap_or_else(unknown), text("attack_technique").unwrap_or_else(unknown))
        })
        .collect();
    let mut counts: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    let mut places = Vec::with_capacity(attacks.len());
    for (category, technique) in &attacks {
        let count = counts.entry((category, technique)).or_default();
        *count += 1;
        places.push(*count);
    }
    let mut sizes: BTreeMap<&str, BTreeSet<u64>> = BTreeMap::new();
    for ((category, _), count) in &counts {
        sizes.entry(category).or_default().insert(*count);
    }
    let mut given = Names::default();
    attacks
        .iter()
        .zip(places)
        .map(|((category, technique), place)| {
            // Places tell which attacks have one objective only if no technique lacks one.
            let is_aligned = sizes.get(category.as_str()).is_some_and(|sizes| sizes.len() == 1);
            let task = if is_aligned {
                format!("{category} {place}")
            } else {
                format!("{category} {technique} {place}")
            };
            (given.add(format!("{category} {technique} {place}")), task)
        })
        .collect()
}

impl ImportedFile for Scan {
    fn len(&self) -> usize {
        self.slices.len()
    }

    fn member(&self, at: usize) -> Option<String> {
        Some(self.names.get(at)?.0.clone())
    }

    fn read(&self, at: usize) -> Result<ImportedRun, ReadError> {
        let mut run = read_attack(&self.slices.parse(at)?);
        run.task = self.names.get(at).map(|(_, task)| task.clone());
        run.facts.extend(self.facts.iter().cloned());
        Ok(run)
    }

    fn file_error(&self) -> Option<ReadError> {
        self.slices.error()
    }
}

fn read_attack(attack: &Value) -> ImportedRun {
    let mut run = ImportedRun {
        system: attack.text_at("attack_technique").map(str::to_owned),
        ..ImportedRun::default()
    };
    let conversation = attack.get("conversation");
    let messages = conversation.and_then(|it| it.get("messages")).or(conversation);
    for message in messages.map(Value::items).unwrap_or_default() {
        let text = message.get("content").and_then(text_or_json).unwrap_or_default();
        run.push(match message.text_at("role") {
            Some("assistant") => EventKind::Assistant(text),
            Some("system") => EventKind::System(text),
            Some("user") => EventKind::User(text),
            _ => EventKind::Note(text),
        });
    }
    run.answer = run.last_text().map(str::to_owned);
    run.verdicts.extend(read_verdict(attack));
    for (name, key) in [
        ("technique", "attack_technique"),
        ("complexity", "attack_complexity"),
        ("category", "risk_category"),
    ] {
        run.facts.extend(attack.get_non_null(key).map(|value| (name.to_owned(), value.clone())));
    }
    run
}

/// Returns the verdict on an attack; `None` if it was not judged.
fn read_verdict(attack: &Value) -> Option<ImportedVerdict> {
    let name = attack.text_at("risk_category")?.replace('-', "_");
    let succeeded = attack.get("attack_success").and_then(Value::bool);
    let assessment = attack.at_path(&["risk_assessment", &name]);
    let field = |key| assessment.and_then(|it| it.get_non_null(key));
    if succeeded.is_none() && assessment.is_none() {
        return None;
    }
    Some(ImportedVerdict {
        value: field("severity_label").cloned().unwrap_or_default(),
        passed: succeeded.map(|succeeded| !succeeded),
        reason: field("reason").and_then(text_or_json),
        threshold: attack.get_non_null("attack_success_threshold").cloned(),
        name,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::NoFolder;
    use proptest::prelude::*;

    const SCAN: &str = include_str!("../tests/fixtures/azure_redteam/final_results.json");

    fn open(text: &str) -> Scan {
        Scan::new(text.as_bytes().to_vec()).unwrap()
    }

    #[test]
    fn attacks_of_one_place_are_one_task_and_the_technique_is_the_system() {
        let file = open(SCAN);
        let runs: Vec<ImportedRun> = (0..file.len()).map(|at| file.read(at).unwrap()).collect();
        let tasks: Vec<&str> = runs.iter().filter_map(|run| run.task.as_deref()).collect();
        let each = ["violence 1", "violence 2", "self_harm 1", "self_harm 2"];
        assert_eq!(tasks, [each, each].concat());
        assert_eq!(file.member(5).as_deref(), Some("violence baseline 2"));
        let passed: Vec<Option<bool>> =
            runs.iter().map(|run| run.verdicts.first().and_then(|it| it.passed)).collect();
        let some = [Some(false), Some(true), Some(false), Some(true)];
        assert_eq!(passed[..4], some);
        assert_eq!(passed[4..], [Some(true), Some(true), Some(true), None]);
        assert_eq!(runs[0].system.as_deref(), Some("base64"));
        assert_eq!(runs[0].verdicts[0].value, Value::from("Medium"));
        assert_eq!(runs[0].events.len(), 2);
    }

    #[test]
    fn an_attack_without_success_is_neither_defended_nor_succeeded() {
        let text = r#"{"scorecard": {"risk_category_summary": []}, "attack_details": [
            {"attack_success": null, "attack_technique": "flip", "risk_category": "violence", "conversation": []},
            {"attack_success": null, "attack_technique": "flip", "risk_category": "violence",
             "risk_assessment": {"violence": {"severity_label": null, "reason": "judge failed"}}}]}"#;
        let file = open(text);
        assert!(file.read(0).unwrap().verdicts.is_empty());
        let verdict = file.read(1).unwrap().verdicts.remove(0);
        assert_eq!((verdict.passed, verdict.reason.as_deref()), (None, Some("judge failed")));
    }

    #[test]
    fn objectives_are_not_guessed_where_a_technique_lacks_one() {
        let attack = |technique: &str| {
            format!(r#"{{"attack_technique": "{technique}", "risk_category": "violence"}}"#)
        };
        let list = [attack("baseline"), attack("baseline"), attack("flip")].join(",");
        let file = open(&format!(r#"{{"attack_details": [{list}]}}"#));
        let tasks: Vec<_> = (0..3).filter_map(|at| file.read(at).unwrap().task).collect();
        assert_eq!(tasks, ["violence baseline 1", "violence baseline 2", "violence flip 1"]);
    }

    #[test]
    fn scans_are_detected_by_their_scorecard_or_attacks() {
        let detect =
            |text: &str| AzureRedTeam.detect("x.json", &[], Head::read(text.as_bytes()).as_ref());
        for text in [
            SCAN,
            r#"{"scorecard":{"risk_category_summary":[{"overall_asr"#,
            r#"{"conversations":[{"attack_success":null,"attack_technique":"flip","risk_category":"violence"}]}"#,
            r#"{"redteaming_data":[{"attack_technique":"flip","risk_category":"violence"}]}"#,
        ] {
            assert_eq!(detect(text), Some(Detected::Runs), "{text:.40}");
        }
        for text in [r#"{"conversations":[{"role":"user"}]}"#, r#"{"scorecard":{"score":1}}"#] {
            assert_eq!(detect(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_change_of_a_file_brings_the_reader_to_a_stop(at in 0..SCAN.len(), byte in any::<u8>()) {
            let mut bytes = SCAN.as_bytes().to_vec();
            bytes[at] = byte;
            for bytes in [&bytes, &bytes[..at].to_vec()] {
                let input = Input { path: "a.json", source: bytes, folder: &NoFolder };
                let Ok(file) = AzureRedTeam.open(input) else { continue };
                for at in 0..file.len() {
                    let _ = (file.member(at), file.read(at));
                }
            }
        }
    }
}
