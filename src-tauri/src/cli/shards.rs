//! **Pure.** Which part of a launch one machine runs, told by its user or by a scheduler.
use touchstone_api::Shard;

/// Reads `2/10`, `auto` or `auto/10`. `variable` returns an environment variable.
pub(super) fn read(text: &str, variable: impl Fn(&str) -> Option<String>) -> Result<Shard, String> {
    let (index, count) = match text.split_once('/') {
        None => (text, None),
        Some((index, count)) => {
            let count = count.parse().ok().filter(|count| *count > 0);
            (index, Some(count.ok_or(HOW)?))
        }
    };
    if index == "auto" {
        return from_scheduler(count, variable);
    }
    let index = index.parse().ok();
    match index.zip(count) {
        Some((index, count)) if (1..=count).contains(&index) => Ok(Shard { index, count }),
        _ => Err(HOW.to_owned()),
    }
}

const HOW: &str = "write it as `2/10`, the second of ten parts, or as `auto/10` or `auto` in a job of a scheduler";

/// Returns the part that the number of this task means. GNU parallel is the innermost scheduler
/// where there are several. With the number of parts, any numbers that
/// follow each other mean each part once, wherever they begin.
fn from_scheduler(
    count: Option<u32>,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<Shard, String> {
    let number = |name: &str| variable(name)?.parse::<u32>().ok();
    let task = ["PARALLEL_SEQ", "SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX"]
        .into_iter()
        .find_map(|name| Some((name, number(name)?)));
    let Some((name, task)) = task else {
        return Err(
            "no array task of Slurm, indexed job of Kubernetes or job of GNU parallel runs here \
             (SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX, PARALLEL_SEQ). Write it as `2/10`"
                .to_owned(),
        );
    };
    if let Some(count) = count {
        return Ok(Shard { index: task % count + 1, count });
    }
    let slurm = |part: &str| number(&format!("SLURM_ARRAY_TASK_{part}"));
    let array = slurm("MIN").zip(slurm("MAX")).zip(slurm("COUNT"));
    let Some(((first, last), tasks)) = array.filter(|_| name == "SLURM_ARRAY_TASK_ID") else {
        return Err(format!("{name} does not tell the number of parts. Write it as `auto/10`"));
    };
    let step = slurm("STEP").unwrap_or(1).max(1);
    if task < first || (last - first.min(last)) / step + 1 != tasks {
        return Err("the numbers of this Slurm array have gaps. Write it as `auto/10`".to_owned());
    }
    Ok(Shard { index: (task - first) / step + 1, count: tasks })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(text: &str, environment: &[(&str, &str)]) -> Result<(u32, u32), String> {
        let variable = |name: &str| {
            let found = environment.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        read(text, variable).map(|shard| (shard.index, shard.count))
    }

    #[test]
    fn a_part_is_one_of_that_many() {
        assert_eq!(part("2/10", &[]), Ok((2, 10)));
        for wrong in ["0/3", "4/3", "1", "a/b", "1/0", "-1/2", "auto/0", "auto/x", "auto"] {
            assert!(part(wrong, &[]).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_scheduler_tells_the_part() {
        let array = |id, first, last, count, step| {
            let names = ["ID", "MIN", "MAX", "COUNT", "STEP"];
            let names = names.map(|name| format!("SLURM_ARRAY_TASK_{name}"));
            let values = [id, first, last, count, step];
            let pairs: Vec<(&str, &str)> = names.iter().map(String::as_str).zip(values).collect();
            part("auto", &pairs)
        };
        assert_eq!(array("0", "0", "9", "10", "1"), Ok((1, 10)));
        assert_eq!(array("10", "1", "10", "10", "1"), Ok((10, 10)));
        assert_eq!(array("6", "2", "10", "5", "2"), Ok((3, 5)));
        assert!(array("7", "1", "7", "3", "1").is_err());
        assert!(array("1", "5", "2", "3", "1").is_err());
        assert_eq!(part("auto/4", &[("SLURM_ARRAY_TASK_ID", "7")]), Ok((4, 4)));
        assert_eq!(part("auto/4", &[("JOB_COMPLETION_INDEX", "0")]), Ok((1, 4)));
        let both = [("SLURM_ARRAY_TASK_ID", "2"), ("PARALLEL_SEQ", "4")];
        assert_eq!(part("auto/4", &both), Ok((1, 4)));
        let why = part("auto", &[("JOB_COMPLETION_INDEX", "0")]).unwrap_err();
        assert_eq!(
            why,
            "JOB_COMPLETION_INDEX does not tell the number of parts. Write it as `auto/10`"
        );
    }
}
