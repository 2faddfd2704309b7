//! Tests of questions about steps: their grammar, their printed form, and what is said of mistakes.
use super::*;
use proptest::prelude::*;

fn printed(typed: &str) -> String {
    let (filter, misread) = Filter::parse(typed);
    assert_eq!(misread, vec![], "{typed}");
    filter.to_string()
}

fn mistakes(typed: &str) -> String {
    let misread = Filter::parse(typed).1.into_iter();
    misread.map(|one| format!("{} → {}", one.token, one.message)).collect::<Vec<_>>().join("\n")
}

#[test]
fn questions_are_read_and_printed_in_one_form() {
    for (typed, expected) in [
        ("call(sql)", "call(sql)"),
        ("CALL( sql , query_* ){ Failed , ok }", "call(sql,query_*){failed,ok}"),
        ("call()", "call()"),
        (r#"call("my tool")"#, r#"call("my tool")"#),
        ("call(sql){failed}>=3 model:o1", "call(sql){failed}>=3 model:o1"),
        ("call(sql)<02", "call(sql)<2"),
        ("-call(refund*) !nudge()", "-call(refund*) -nudge()"),
        (
            "call(sql){failed}   then call(sql){same} then  no answer",
            "call(sql){failed} then call(sql){same} then no answer()",
        ),
        ("call(a) THEN NEXT call(b)", "call(a) then next call(b)"),
        ("user() then said(sorry) then error", "user() then said(sorry) then error()"),
        (r#"said(no such "(column)")"#, r#"said("no such (column)")"#),
        ("said(count(x) is wrong) timeout", r#"said("count(x) is wrong") timeout"#),
        (r"said(/sorry|can(no|')t/)", r"said(/sorry|can(no|')t/)"),
        (
            r#"call(){args~"drop table",result~/no such (table|column)/}"#,
            r#"call(){args~"drop table",result~/no such (table|column)/}"#,
        ),
        (
            r#"call(){result>100, result.count >= -3, result."row count"=1.5}"#,
            r#"call(){result>100,result.count>=-3,result."row count"=1.5}"#,
        ),
        ("program(){failed} then answer", "program(){failed} then answer()"),
        ("call(sql", "call(sql)"),
        ("call(sql){failed", "call(sql){failed}"),
        (
            "said:refund,\"a b\" -result:/a, \"b/ asked:x",
            r#"said:refund,"a b" -result:/a, "b/ asked:x"#,
        ),
        (r"args:/a\/b\\/,c", r"args:/a\/b\\/,c"),
        ("args:/tmp model:m", r#"args:"/tmp" model:m"#),
        ("args:/home/user,/x/ said:/", r#"args:"/home/user",/x/ said:"/""#),
        ("said:/a|b /,c", "said:/a|b /,c"),
        ("call(ls){args~/tmp}", r#"call(ls){args~"/tmp"}"#),
        ("call(ls){args~/tmp,result~ /a, }b/ } x", r#"call(ls){args~"/tmp",result~/a, }b/} x"#),
        ("said(/abc)", r#"said("/abc")"#),
        ("said(/a (b)/) x", "said(/a (b)/) x"),
        (r#"call(sql)>=3 "then" x"#, r#"call(sql)>=3 "then" x"#),
        ("call(sql)>=3 thenx", "call(sql)>=3 thenx"),
        (r#"-call(sql) "no" error"#, r#"-call(sql) "no" error"#),
        ("no error or timeout and then x", r#""no" error "or" timeout "and" "then" x"#),
        ("step:>20", "steps:>20"),
        (r#"said:"look*""#, r#"said:"look*""#),
        (r#""call(sql)" "then" x"#, r#""call(sql)" "then" x"#),
        ("then answer", r#""then" answer"#),
        ("result=5 args<3", r#""result=5" "args<3""#),
        ("foo(bar) main(){}", r#""foo(bar)" "main(){}""#),
        ("/home/user", r#""/home/user""#),
    ] {
        assert_eq!(printed(typed), expected, "{typed}");
        assert_eq!(printed(expected), expected, "{typed}");
    }
}

#[test]
fn a_mistake_is_named_with_the_word_and_with_what_to_write() {
    for (typed, expected) in [
        ("call(sql){faild}", "faild → Unknown condition \"faild\". Did you mean failed?"),
        (
            "call(sql){slow}",
            "slow → Unknown condition \"slow\". Write failed, ok, same, args~text, result~text or result>100.",
        ),
        (
            "model:o1 OR model:claude",
            "OR → “OR” is no operator. Separate values of a key with commas: model:o1,claude. To search for the text, put it in quotes.",
        ),
        (
            "NOT model:o1",
            "NOT → “NOT” is no operator. Write - before a condition: -model:o1. To search for the text, put it in quotes.",
        ),
        ("call(sql) then anser", "anser → Unknown step \"anser\". Did you mean answer?"),
        (
            "call(sql) then",
            "then → Write a step after it, like call(sql) or no answer. To search for the text, put it in quotes.",
        ),
        (
            "call(sql) then no ",
            "then no → Write a step after it, like call(sql) or no answer. To search for the text, put it in quotes.",
        ),
        (
            "error then call(sql)",
            "then → Begin with a step in parentheses, like error() then call(sql). To search for the text, put it in quotes.",
        ),
        (
            "call(sql){same}",
            "call(sql){same} → “same” compares a call with the call just before it in the question: call(sql) then call(sql){same}.",
        ),
        (
            "answer() then call(sql)",
            "call(sql) → The answer is the end of a run: nothing comes after it. Leave out what follows.",
        ),
        ("call(sql) >=3", " >=3 → Write the number without a space before it."),
        ("call(sql)>=x", ">=x → “>=x” is not a number. Write it like call(sql)>=3."),
        (
            "call(a) then call(b)>=2",
            ">=2 → Only a single step can be counted. Write the count as a condition of its own.",
        ),
        (
            "call(sql){result>many}",
            "result>many → “many” is not a number. Write it like result>100, or result~text for a text.",
        ),
        (
            "call(sql){args:drop}",
            "args:drop → Write args~text, args~\"some text\" or args~/regular expression/.",
        ),
        (
            "said(x){failed}",
            "{ → Only call() and program() take conditions. Write said(text) for its text.",
        ),
        ("answer(x)", "x → Write answer() with nothing in between."),
        (
            "call(sql model:o1",
            "sql model:o1 → A name of a tool has no spaces. Close the step with “)”, or put the name in quotes.",
        ),
        (
            "call(sql)x",
            "x → Write a space after the step. To search for the text, put it in quotes.",
        ),
        ("said:/(/", "said:/(/ → The regular expression cannot be read: unclosed group."),
        (
            "result:/(a{1000}){1000}/",
            "result:/(a{1000}){1000}/ → The regular expression cannot be read: it is too large. Use fewer repetitions.",
        ),
    ] {
        assert_eq!(mistakes(typed), expected, "{typed}");
    }
}

#[test]
fn time_and_duration_are_names_of_seconds_and_operators_alone_and_addresses_are_text() {
    for (typed, expected) in [
        ("time:>1m", "seconds:>60"),
        ("duration:<2", "seconds:<2"),
        ("this OR that", "this \"OR\" that"),
        ("https://x.org/a", "\"https://x.org/a\""),
        ("model:o1 \"OR\"", "model:o1 \"OR\""),
    ] {
        assert_eq!(Filter::parse(typed).1, vec![], "{typed}");
        assert_eq!(printed(typed), expected, "{typed}");
    }
}

#[test]
fn a_word_that_reads_like_a_step_is_not_searched_without_a_word() {
    for (typed, expected) in [
        (
            "cal(sql){failed}",
            "cal → Unknown step \"cal\". Did you mean call()? To search for the text, put it in quotes.",
        ),
        (
            "tool(sql){failed}",
            "tool → Unknown step \"tool\". Did you mean call()? To search for the text, put it in quotes.",
        ),
        (
            "calls(sql)",
            "calls → Unknown step \"calls\". Did you mean call()? To search for the text, put it in quotes.",
        ),
        (
            "call(sql) then timeout",
            "timeout → Unknown step \"timeout\". Write one of call, program, said, user, nudge, error, answer. To search for the text, put it in quotes.",
        ),
        (
            "call(sql) then not answer",
            "not → Unknown step \"not\". Write “then no answer” for what must not follow.",
        ),
        (
            "call(sql) then -call(x)",
            "-call(x) → Unknown step \"-call(x)\". Write “then no answer” for what must not follow.",
        ),
        (
            "call(sql){failed}>=3 then no answer",
            "then → Only a single step can be counted. Write the rest as a condition of its own: \
             call(sql){failed}>=3 -answer(). To search for the text, put it in quotes.",
        ),
        (
            "call(a)>=3 then call(b)",
            "then → Only a single step can be counted. Write the rest as a condition of its own: \
             call(sql){failed}>=3 -answer(). To search for the text, put it in quotes.",
        ),
        (
            "call(make) {failed}",
            "{failed} → Write the conditions without a space before “{”. To search for the text, put it in quotes.",
        ),
        (
            "error then answer",
            "then → Begin with a step in parentheses, like error() then call(sql). To search for the text, put it in quotes.",
        ),
        (
            "no call(sql)",
            "no → Write -call(sql) for runs without such a step. To search for the text, put it in quotes.",
        ),
        (
            "call(a) or call(b)",
            "or → Write the tools in one step, like call(sql,query_*): any of them matches. To search for the text, put it in quotes.",
        ),
        (
            "call(a) followed by answer",
            "followed → Write “then” between two steps, like call(sql) then answer. To search for the text, put it in quotes.",
        ),
        (
            "step=3",
            "step=3 → Unknown key \"step\". Did you mean steps=3? To search for the text, put it in quotes.",
        ),
        (
            "said:look*",
            "said:look* → Texts match beginnings of words. Leave out the star, put the text in quotes, or write a regular expression between slashes.",
        ),
        (
            "said(looked model:m",
            "looked model:m → Close the step with “)”, or put the text in quotes.",
        ),
        (
            "call(){args~a model:m",
            "args~a model:m → Close the conditions with “}”, or put the text in quotes.",
        ),
        (r#"call("")"#, "\"\" → Write something there, or nothing at all between the parentheses."),
        ("call(,)", ", → Write something there, or nothing at all between the parentheses."),
        ("said(//)", "// → Write something there, or nothing at all between the parentheses."),
        (
            "call(/sql/)",
            "/sql/ → Names of tools take no regular expression. Write * for any letters: call(query_*).",
        ),
        (
            "tool:x call(sql)x",
            "call(sql)x → Write a space after the step. To search for the text, put it in quotes.",
        ),
    ] {
        assert_eq!(mistakes(typed), expected, "{typed}");
    }
}

#[test]
fn a_filter_takes_few_regular_expressions_and_few_steps() {
    assert_eq!(mistakes(&"said:/a/ ".repeat(16)), "");
    let many = format!("{}call(){{args~/b/}}", "said:/a/ ".repeat(16));
    let message = "A filter takes at most 16 regular expressions and conditions on numbers.";
    assert_eq!(mistakes(&many), format!("/ → {message}"));
    let many = "call(){result.ab>9,result<3} ".repeat(9);
    assert_eq!(mistakes(&many), format!("result → {message}"));
    let names = |count: usize| format!("call({})", vec!["a"; count].join(","));
    assert_eq!(mistakes(&names(64)), "");
    assert!(mistakes(&names(65)).ends_with("A step takes at most 64 names of tools."));
    let long = format!("call(){}", " then call()".repeat(16));
    assert!(mistakes(&long).ends_with("call() → A question takes at most 16 steps."));
}

#[test]
fn a_filter_with_questions_is_not_decided_by_position_alone() {
    for typed in ["call(sql)", "said:x", "-call(sql)"] {
        assert!(!Filter::parse(typed).0.asks_only_where(), "{typed}");
    }
}

fn any_text() -> impl Strategy<Value = TextMatch> {
    prop_oneof![
        "[a-z0-9 ,:(){}~<>=\"\\\\/é*-]{1,8}".prop_map(TextMatch::Text),
        "[a-z |,(]{1,3}[a-z0-9 ,}{.\"-]{0,5}"
            .prop_filter("valid", |regex| crate::snippet::Needle::regex(regex).is_ok())
            .prop_map(TextMatch::Regex),
    ]
}

fn any_number() -> impl Strategy<Value = (Comparison, f64)> {
    use Comparison::{AtLeast, AtMost, Equal, Less, More};
    (
        prop::sample::select(vec![AtLeast, AtMost, Equal, Less, More]),
        (0_u16..500).prop_map(f64::from),
    )
}

fn any_condition() -> impl Strategy<Value = StepCondition> {
    prop_oneof![
        any::<bool>().prop_map(StepCondition::Failed),
        (prop::sample::select(vec![StepText::Own, StepText::Result]), any_text())
            .prop_map(|(text, holds)| StepCondition::Text(text, holds)),
        (prop::option::of("[a-z .~=,\"}]{0,4}[a-z]"), any_number(), -1.0..1.0)
            .prop_map(|(key, (by, number), part)| StepCondition::Number(key, by, number * part)),
    ]
}

fn any_step() -> impl Strategy<Value = StepPattern> {
    let word =
        prop::sample::select(STEP_WORDS[..6].iter().map(|(word, _)| *word).collect::<Vec<_>>());
    let names = prop::collection::vec("[a-z, *)\"]{0,4}[a-z]", 0..3);
    (word, names, prop::collection::vec(any_condition(), 0..3), any_text()).prop_map(
        |(word, names, conditions, text)| {
            let pattern = |name: String| Pattern(name.split('*').map(str::to_owned).collect());
            let (tools, conditions) = match word {
                StepWord::Call => (names.into_iter().map(pattern).collect(), conditions),
                StepWord::Program => (Vec::new(), conditions),
                _ if names.is_empty() => (Vec::new(), Vec::new()),
                _ => (Vec::new(), vec![StepCondition::Text(StepText::Own, text)]),
            };
            StepPattern { word, tools, conditions }
        },
    )
}

fn any_question() -> impl Strategy<Value = StepQuestion> {
    let places = prop::collection::vec(prop::sample::select(vec![Place::Later, Place::Never]), 4);
    let steps = prop::collection::vec(any_step(), 1..4);
    (steps, places, any::<bool>(), prop::option::of(any_number())).prop_map(
        |(steps, places, answer, count)| {
            let mut steps: Vec<SequenceStep> = steps
                .into_iter()
                .zip(places)
                .enumerate()
                .map(|(at, (pattern, place))| {
                    let place = if at == 0 { Place::Later } else { place };
                    SequenceStep { place, pattern }
                })
                .collect();
            if answer {
                let pattern = StepPattern {
                    word: StepWord::Answer,
                    tools: Vec::new(),
                    conditions: Vec::new(),
                };
                steps.push(SequenceStep { place: Place::Never, pattern });
            }
            let count = count.filter(|_| steps.len() == 1);
            StepQuestion { steps, count }
        },
    )
}

proptest! {
    #[test]
    fn a_printed_question_reads_back(
        question in any_question(),
        texts in prop::collection::vec("[a-z:( ]{1,5}|then|no|or|followed|answer", 0..3),
        negated in any::<bool>(),
    ) {
        let mut tokens = vec![Token { negated, ask: Ask::Steps(question) }];
        tokens.extend(texts.into_iter().filter(|text| !text.trim().is_empty()).map(|text| Token {
            negated: false,
            ask: Ask::Text(text),
        }));
        let middle = tokens.len() / 2;
        tokens.rotate_left(middle);
        let filter = Filter { tokens, invalid: false };
        let (again, misread) = Filter::parse(&filter.to_string());
        prop_assert_eq!(misread, vec![], "{}", filter);
        prop_assert_eq!(&again, &filter, "{}", filter);
    }

    #[test]
    fn no_question_makes_the_parser_fail(
        typed in "(-?(call|said|answer|user|cal)(\\(|\\{|\\)|\\}|then|next|no|failed|same|result|args|>=[0-9]| then |[a-z0-9 *~<>=,./\"\\\\é]){0,12} ?){1,3}",
    ) {
        let (filter, misread) = Filter::parse(&typed);
        prop_assert_eq!(filter.invalid, !misread.is_empty());
        if filter.invalid {
            prop_assert!(misread.iter().all(|one| !one.message.is_empty() && typed.contains(&one.token)));
            return Ok(());
        }
        let (again, misread) = Filter::parse(&filter.to_string());
        prop_assert_eq!(misread, vec![], "{} of {}", filter, typed);
        prop_assert_eq!(&again, &filter, "{} of {}", filter, typed);
    }
}

#[test]
fn statistics_leave_out_what_is_no_run_of_the_benchmark_unless_the_filter_names_it() {
    let filter = |typed: &str| Filter::parse(typed).0.for_statistics().to_string();
    let (forks, replays, rows) = ("forked:no", "-model:replay", "-format:evaluated");
    assert_eq!(filter(""), [forks, replays, rows].join(" "));
    assert_eq!(filter("model:replay"), ["model:replay", forks, rows].join(" "));
    assert_eq!(filter("model:o1,rep*"), ["model:o1,rep*", forks, rows].join(" "));
    assert_eq!(filter("model:o1"), ["model:o1", forks, replays, rows].join(" "));
    assert_eq!(filter("-model:replay"), ["-model:replay", forks, replays, rows].join(" "));
    assert_eq!(filter("format:evaluated"), ["format:evaluated", forks, replays].join(" "));
    assert_eq!(filter("file:a.json"), ["file:a.json", forks, replays].join(" "));
    assert!(Filter::parse("modle:").0.for_statistics().condition().sql == "0");
}
