//! **Pure.** What a scheduler takes to run the parts of a launch: a script for Slurm or GNU parallel,
//! the manifest of a job of Kubernetes.
use serde_json::json;
use touchstone_api::LaunchRequest;

/// Seconds before its time limit at which a job is told to end: replies in flight are saved then.
const LEAD: u32 = 120;

/// The parts of a launch, for a scheduler.
#[derive(Debug, Clone, PartialEq)]
pub struct SplitScript {
    /// Id of the launch.
    pub launch: String,
    /// Program to run.
    pub program: String,
    /// Folder to open.
    pub folder: String,
    /// Directory of tasks, if it is not the one found in the folder.
    pub input_dir: Option<String>,
    /// Directory of results, if it is not the one found in the folder.
    pub output_dir: Option<String>,
    /// The runs and their options.
    pub request: LaunchRequest,
    /// Number of parts.
    pub parts: u32,
    /// Number of parts that run at the same time; all if none is given.
    pub at_once: Option<u32>,
    /// Confirms that the targets of attacks may be attacked.
    pub confirmed: bool,
}

/// What a job of Kubernetes needs besides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cluster<'a> {
    /// Image that has the program.
    pub image: &'a str,
    /// Claim of the volume that is the folder.
    pub claim: &'a str,
    /// Secret whose entries become environment variables.
    pub secret: Option<&'a str>,
}

/// Returns the name of the jobs of a launch.
pub fn job_name(launch: &str) -> String {
    format!("touchstone-{launch}")
}

impl SplitScript {
    /// Returns the command of a part, without the program and the number of the part. Each option is
    /// one word, so that no value can be taken for another option.
    fn words(&self) -> Vec<String> {
        let request = &self.request;
        let list = |values: &[String]| (!values.is_empty()).then(|| values.join(","));
        let number = |number: Option<u32>| number.map(|number| number.to_string());
        let variations: Vec<String> = request.variations.iter().map(u32::to_string).collect();
        // A part divides by the number of parts, of which not all run at the same time.
        let at_once = self.at_once.unwrap_or(self.parts).clamp(1, self.parts.max(1));
        let concurrency =
            request.concurrency.map(|count| count.saturating_mul(self.parts) / at_once);
        let options = [
            ("input-dir", self.input_dir.clone()),
            ("output-dir", self.output_dir.clone()),
            ("system", list(&request.systems)),
            ("model", list(&request.models)),
            ("task", list(&request.tasks)),
            ("variation", list(&variations)),
            ("repeat", number(request.repeats)),
            ("method", request.method.clone()),
            ("offer", request.offer.clone()),
            ("steps", number(request.steps)),
            ("queries", number(request.queries)),
            ("user-model", request.user_model.clone()),
            ("concurrency", number(concurrency)),
            ("max-cost", request.max_cost.map(|cost| cost.to_string())),
            ("launch", Some(self.launch.clone())),
        ];
        let flags = [
            ("--force", request.start_over),
            ("--anyway", request.anyway),
            ("--yes", self.confirmed),
        ];
        let options =
            options.into_iter().filter_map(|(name, value)| Some(format!("--{name}={}", value?)));
        let flags = flags.into_iter().filter(|(_, is_set)| *is_set);
        ["run".to_owned(), self.folder.clone()]
            .into_iter()
            .chain(options)
            .chain(flags.map(|(name, _)| name.to_owned()))
            .collect()
    }

    /// Script of an array with these parts: `1-10,12`. The signal reaches the batch shell, which the
    /// program replaces.
    pub fn slurm(&self, parts: &str) -> String {
        let options = self
            .slurm_options(parts, "touchstone-%A_%a.log")
            .map(|option| format!("#SBATCH {option}\n"));
        format!(
            "#!/bin/sh\n\
             # Submit with: sbatch FILE. Submit again to run what is left.\n\
             {}\
             exec {} --shard=\"$SLURM_ARRAY_TASK_ID/{}\"\n",
            options.concat(),
            self.command_line(),
            self.parts,
        )
    }

    /// Returns the options of the job. As arguments of `sbatch`, they precede variables such as
    /// `SBATCH_JOB_NAME`, which precede those of the script.
    pub(crate) fn slurm_options(&self, parts: &str, output: &str) -> [String; 6] {
        let at_once = self.at_once.map(|count| format!("%{count}")).unwrap_or_default();
        [
            format!("--job-name={}", job_name(&self.launch)),
            format!("--array={parts}{at_once}"),
            format!("--output={output}"),
            format!("--signal=B:TERM@{LEAD}"),
            "--requeue".to_owned(),
            // The keys of providers.
            "--export=ALL".to_owned(),
        ]
    }

    /// Script that GNU parallel calls again for each part, so that nothing of the command is
    /// replaced.
    pub fn parallel(&self) -> String {
        let parts = self.parts;
        format!(
            "#!/bin/sh\n\
             # Run with: sh FILE. Run again to run what is left. For other machines, add --sshloginfile.\n\
             if [ $# = 1 ]; then\n  exec {} --shard=\"$1/{parts}\"\nfi\n\
             seq {parts} | parallel --jobs {} sh \"$(realpath \"$0\")\" {{}}\n",
            self.command_line(),
            self.at_once.unwrap_or(parts).min(parts),
        )
    }

    /// Manifest of an indexed job, for `kubectl create`. The volume is mounted at the path of the
    /// folder. A part that failed is not started again, because it would have a new budget.
    pub fn kubernetes(&self, cluster: Cluster<'_>) -> String {
        let words = self.words();
        // Kubernetes replaces `$(NAME)` in a command.
        let command = std::iter::once("touchstone").chain(words.iter().map(String::as_str));
        let mut command: Vec<String> = command.map(|word| word.replace('$', "$$")).collect();
        command.push(format!("--shard=auto/{}", self.parts));
        let secrets: Vec<_> =
            cluster.secret.iter().map(|name| json!({ "secretRef": { "name": name } })).collect();
        let container = json!({
            "name": "touchstone",
            "image": cluster.image,
            "command": command,
            "envFrom": secrets,
            "volumeMounts": [{ "name": "folder", "mountPath": self.folder }],
        });
        let claim = json!({ "claimName": cluster.claim });
        let volume = json!({ "name": "folder", "persistentVolumeClaim": claim });
        let job = json!({
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": { "generateName": "touchstone-" },
            "spec": {
                "completionMode": "Indexed",
                "completions": self.parts,
                "parallelism": self.at_once.unwrap_or(self.parts),
                "backoffLimitPerIndex": 0,
                "maxFailedIndexes": self.parts,
                "template": { "spec": {
                    "restartPolicy": "Never",
                    "containers": [container],
                    "volumes": [volume],
                } },
            },
        });
        format!("{job:#}\n")
    }

    /// Formats the command for a shell.
    fn command_line(&self) -> String {
        let words = self.words();
        let words = std::iter::once(&self.program).chain(&words);
        words.map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
    }
}

/// Quotes a word for a shell if it needs quotes.
fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./,:=@%+".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Formats numbers in order as ranges: `1-10,12`.
pub(crate) fn ranges(numbers: &[u32]) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for number in numbers {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == *number => *last = *number,
            _ => ranges.push((*number, *number)),
        }
    }
    let text = |(first, last): &(u32, u32)| {
        if first == last { first.to_string() } else { format!("{first}-{last}") }
    };
    ranges.iter().map(text).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_stays_one_word_in_a_shell() {
        for (word, text) in [
            ("billing/refund", "billing/refund"),
            ("billing/*", "'billing/*'"),
            ("it's $HOME", r"'it'\''s $HOME'"),
            ("", "''"),
        ] {
            assert_eq!(quoted(word), text);
        }
    }

    #[test]
    fn numbers_become_ranges() {
        assert_eq!(ranges(&[1, 2, 3, 5, 7, 8]), "1-3,5,7-8");
        assert_eq!(ranges(&[]), "");
    }

    #[test]
    fn a_script_names_the_launch_and_runs_only_the_parts_that_are_asked_for() {
        let request = LaunchRequest {
            systems: vec!["tool_calling".to_owned()],
            models: vec!["o1 $x".to_owned()],
            concurrency: Some(8),
            max_cost: Some(2.5),
            ..LaunchRequest::default()
        };
        let script = SplitScript {
            launch: "1-h-2".to_owned(),
            program: "/bin/touchstone".to_owned(),
            folder: "/data/my runs".to_owned(),
            input_dir: None,
            output_dir: None,
            request,
            parts: 4,
            at_once: Some(2),
            confirmed: false,
        };
        insta::assert_snapshot!(script.slurm("1,3-4"), @r#"
        #!/bin/sh
        # Submit with: sbatch FILE. Submit again to run what is left.
        #SBATCH --job-name=touchstone-1-h-2
        #SBATCH --array=1,3-4%2
        #SBATCH --output=touchstone-%A_%a.log
        #SBATCH --signal=B:TERM@120
        #SBATCH --requeue
        #SBATCH --export=ALL
        exec /bin/touchstone run '/data/my runs' --system=tool_calling '--model=o1 $x' --concurrency=16 --max-cost=2.5 --launch=1-h-2 --shard="$SLURM_ARRAY_TASK_ID/4"
        "#);
    }
}
