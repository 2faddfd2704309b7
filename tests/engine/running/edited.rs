//! Tests of forks that continue from an edited step, or with another model: what the provider is
//! sent, what the copy records, and what is refused before anything is written.
use super::stage::{ANSWER, fact, says, transcript_lines};
use super::{THINGS, ended, folder_of};
use crate::bench::Bench;
use crate::scripted::{Reply, Scripted};
use fs_err as fs;
use serde_json::{Value, json};
use touchstone_api::{
    ForkRequest, LaunchRunState, Lineage, RunState, StatsRequest, StepEdit, StepPart,
};

const TALK: &str = "conversation:
- user_message: How many?
- assistant_message: I look.
- tool_call: {id: a.1, name: query_things, params: {sql: SELECT 1 AS n}, result: [{n: 1.0}], turn: 1}
- tool_call: {id: b, name: query_things, params: {sql: SELECT 2 AS n}, result: [{n: 2}], turn: 1}
- assistant_message: One.
answer: 1
run:
  system: tool_calling
  model: MODEL
  model_id: MODEL-1
";
const THINKING: &str =
    "  thinking: [{turn: 1, blocks: [{type: thinking, thinking: Hm., signature: c2ln}]}]\n";

/// Returns the path of a run of a model, with what follows the variation.
fn path(model: &str, end: &str) -> String {
    format!("results/count-tool_calling-{model}-variation0{end}.yaml")
}

/// Answers in the wire that it is asked in.
fn server() -> Scripted {
    Scripted::start(|seen| {
        if !seen.path.ends_with("/messages") {
            return says(ANSWER);
        }
        Reply::json(&json!({
            "id": "m", "type": "message", "role": "assistant", "model": "claude-2",
            "content": [{ "type": "text", "text": ANSWER }],
            "stop_reason": "end_turn", "usage": { "input_tokens": 5, "output_tokens": 5 },
        }))
    })
}

/// Opens a folder with a run of each of two models, of which one thinks.
fn folder(server: &Scripted) -> Bench {
    let url = server.url("/v1");
    let workspace = format!(
        "input_dir: tasks\noutput_dir: results\nmodels:\
         \n  open: {{ provider: openai, base_url: '{url}', model: any }}\
         \n  claude: {{ provider: anthropic, base_url: '{url}', model: claude-1, thinking: 2000 }}\
         \n  shut: {{ provider: openai, base_url: '{url}', api_key_env: KEY_THAT_IS_NOT_SET }}\n{THINGS}"
    );
    folder_of(&workspace, super::stage::PLAIN)
        .file(&path("open", ""), TALK.replace("MODEL", "open"))
        .file(&path("claude", ""), TALK.replace("MODEL", "claude") + THINKING)
        .open()
}

fn edit(step: u32, part: StepPart, text: &str) -> ForkRequest {
    let edit = Some(StepEdit { part, text: text.to_owned() });
    ForkRequest { edit, ..ForkRequest::new(step, None) }
}

fn id(bench: &Bench, path: &str) -> String {
    bench.app().runs().id_of_file(&bench.path(path)).unwrap()
}

/// Forks the run of a model, and returns the file of the fork with the request that was sent.
fn forked(bench: &Bench, server: &Scripted, model: &str, fork: &ForkRequest) -> (String, Value) {
    let before = server.seen().len();
    let copied = bench.app().launches().fork_run(&id(bench, &path(model, "")), fork).unwrap();
    let view = ended(bench, &copied.launch.unwrap());
    assert_eq!(view.runs[0].state, LaunchRunState::Answered, "{:?}", view.runs);
    assert_eq!(view.runs[0].run, copied.run);
    let seen = server.seen();
    assert_eq!(seen.len(), before + 1, "one request, which has everything");
    (format!("results/{}", view.runs[0].path), seen[before].json())
}

/// Formats the messages of a request, one a line.
fn lines(request: &Value) -> String {
    let messages = request["messages"].as_array().unwrap().iter();
    let spoken = messages.filter(|message| message["role"] != "system");
    let lines: Vec<String> = spoken.map(ToString::to_string).collect();
    lines.join("\n").replace('"', "").replace("},{", "},\n  {")
}

/// Every kind of edit.
fn edits() -> [ForkRequest; 6] {
    [
        edit(0, StepPart::Message, "How few?"),
        edit(1, StepPart::Message, "I count."),
        edit(2, StepPart::Arguments, r#"{"sql": "SELECT 5 AS n"}"#),
        edit(2, StepPart::Result, r#"[{"n": 70.0}]"#),
        edit(3, StepPart::Error, "timeout"),
        ForkRequest { message: Some("Sure?".to_owned()), ..edit(4, StepPart::Message, "Two.") },
    ]
}

#[test]
fn a_chat_server_is_sent_the_conversation_with_the_edited_step() {
    let server = server();
    let bench = folder(&server);
    let original = fs::read(bench.path(&path("open", ""))).unwrap();
    let sent = edits().map(|fork| lines(&forked(&bench, &server, "open", &fork).1));
    insta::assert_snapshot!(sent.join("\n\n"), @r"
    {role:user,content:How few?}

    {role:user,content:How many?}
    {role:assistant,content:I count.,tool_calls:[{id:a.1,type:function,function:{name:query_things,arguments:{\sql\:\SELECT 1 AS n\}}},
      {id:b,type:function,function:{name:query_things,arguments:{\sql\:\SELECT 2 AS n\}}}]}
    {role:tool,tool_call_id:a.1,content:[{\n\:1.0}]}
    {role:tool,tool_call_id:b,content:[{\n\:2}]}

    {role:user,content:How many?}
    {role:assistant,content:I look.,tool_calls:[{id:a.1,type:function,function:{name:query_things,arguments:{\sql\:\SELECT 5 AS n\}}},
      {id:b,type:function,function:{name:query_things,arguments:{\sql\:\SELECT 2 AS n\}}}]}
    {role:tool,tool_call_id:a.1,content:[{\n\:5}]}
    {role:tool,tool_call_id:b,content:[{\n\:2}]}

    {role:user,content:How many?}
    {role:assistant,content:I look.,tool_calls:[{id:a.1,type:function,function:{name:query_things,arguments:{\sql\:\SELECT 1 AS n\}}},
      {id:b,type:function,function:{name:query_things,arguments:{\sql\:\SELECT 2 AS n\}}}]}
    {role:tool,tool_call_id:a.1,content:[{\n\:70.0}]}
    {role:tool,tool_call_id:b,content:[{\n\:2}]}

    {role:user,content:How many?}
    {role:assistant,content:I look.,tool_calls:[{id:a.1,type:function,function:{name:query_things,arguments:{\sql\:\SELECT 1 AS n\}}},
      {id:b,type:function,function:{name:query_things,arguments:{\sql\:\SELECT 2 AS n\}}}]}
    {role:tool,tool_call_id:a.1,content:[{\n\:1.0}]}
    {role:tool,tool_call_id:b,content:error: timeout}

    {role:user,content:How many?}
    {role:assistant,content:I look.,tool_calls:[{id:a.1,type:function,function:{name:query_things,arguments:{\sql\:\SELECT 1 AS n\}}},
      {id:b,type:function,function:{name:query_things,arguments:{\sql\:\SELECT 2 AS n\}}}]}
    {role:tool,tool_call_id:a.1,content:[{\n\:1.0}]}
    {role:tool,tool_call_id:b,content:[{\n\:2}]}
    {role:assistant,content:Two.}
    {role:user,content:Sure?}
    ");
    let last = path("open", "-fork6");
    assert!(transcript_lines(&bench, &last).ends_with("```\"}"), "and goes on");
    assert_eq!(fs::read(bench.path(&path("open", ""))).unwrap(), original);
}

#[test]
fn a_fork_differs_from_its_original_where_it_was_edited() {
    let server = server();
    let bench = folder(&server);
    let said = edits().map(|fork| {
        let copy = forked(&bench, &server, "open", &fork).0;
        let ids = [path("open", ""), copy].map(|path| id(&bench, &path));
        let compared = bench.app().runs().compare_runs(&ids).unwrap();
        let step = compared.runs[1].edited;
        assert_eq!(step, Some(fork.step));
        assert_eq!(compared.runs[0].edited, None);
        let at = compared.rows.iter().position(|row| row.steps[1] == step).unwrap();
        let row = &compared.rows[at];
        assert!(
            row.diverges && compared.first_divergence == u32::try_from(at).ok(),
            "{compared:?}"
        );
        format!("{:?} {}", row.relation, row.title)
    });
    insta::assert_snapshot!(said.join("\n"), @r"
    Similar prompt
    Similar assistant message
    Similar query_things
    OtherResult query_things
    OtherResult query_things
    Different assistant message
    ");
}

#[test]
fn anthropic_is_sent_no_thinking_of_a_turn_that_was_edited() {
    let server = server();
    let bench = folder(&server);
    let sent = edits().map(|fork| {
        let (_, request) = forked(&bench, &server, "claude", &fork);
        format!("thinking: {}\n{}", request["thinking"]["budget_tokens"], lines(&request))
    });
    insta::assert_snapshot!(sent.join("\n\n"), @r"
    thinking: 2000
    {role:user,content:[{type:text,text:How few?,cache_control:{type:ephemeral}}]}

    thinking: null
    {role:user,content:[{type:text,text:How many?}]}
    {role:assistant,content:[{type:text,text:I count.},
      {type:tool_use,id:call,name:query_things,input:{sql:SELECT 1 AS n}},
      {type:tool_use,id:b,name:query_things,input:{sql:SELECT 2 AS n}}]}
    {role:user,content:[{type:tool_result,tool_use_id:call,content:[{\n\:1.0}]},
      {type:tool_result,tool_use_id:b,content:[{\n\:2}],cache_control:{type:ephemeral}}]}

    thinking: null
    {role:user,content:[{type:text,text:How many?}]}
    {role:assistant,content:[{type:text,text:I look.},
      {type:tool_use,id:call,name:query_things,input:{sql:SELECT 5 AS n}},
      {type:tool_use,id:b,name:query_things,input:{sql:SELECT 2 AS n}}]}
    {role:user,content:[{type:tool_result,tool_use_id:call,content:[{\n\:5}]},
      {type:tool_result,tool_use_id:b,content:[{\n\:2}],cache_control:{type:ephemeral}}]}

    thinking: 2000
    {role:user,content:[{type:text,text:How many?}]}
    {role:assistant,content:[{type:thinking,thinking:Hm.,signature:c2ln},
      {type:text,text:I look.},
      {type:tool_use,id:call,name:query_things,input:{sql:SELECT 1 AS n}},
      {type:tool_use,id:b,name:query_things,input:{sql:SELECT 2 AS n}}]}
    {role:user,content:[{type:tool_result,tool_use_id:call,content:[{\n\:70.0}]},
      {type:tool_result,tool_use_id:b,content:[{\n\:2}],cache_control:{type:ephemeral}}]}

    thinking: 2000
    {role:user,content:[{type:text,text:How many?}]}
    {role:assistant,content:[{type:thinking,thinking:Hm.,signature:c2ln},
      {type:text,text:I look.},
      {type:tool_use,id:call,name:query_things,input:{sql:SELECT 1 AS n}},
      {type:tool_use,id:b,name:query_things,input:{sql:SELECT 2 AS n}}]}
    {role:user,content:[{type:tool_result,tool_use_id:call,content:[{\n\:1.0}]},
      {type:tool_result,tool_use_id:b,content:timeout,is_error:true,cache_control:{type:ephemeral}}]}

    thinking: 2000
    {role:user,content:[{type:text,text:How many?}]}
    {role:assistant,content:[{type:thinking,thinking:Hm.,signature:c2ln},
      {type:text,text:I look.},
      {type:tool_use,id:call,name:query_things,input:{sql:SELECT 1 AS n}},
      {type:tool_use,id:b,name:query_things,input:{sql:SELECT 2 AS n}}]}
    {role:user,content:[{type:tool_result,tool_use_id:call,content:[{\n\:1.0}]},
      {type:tool_result,tool_use_id:b,content:[{\n\:2}]}]}
    {role:assistant,content:[{type:text,text:Two.}]}
    {role:user,content:[{type:text,text:Sure?,cache_control:{type:ephemeral}}]}
    ");
}

#[test]
fn another_model_goes_on_with_what_it_understands_and_the_file_is_named_for_it() {
    let server = server();
    let bench = folder(&server);
    let with = |model: &str, fork: ForkRequest| ForkRequest {
        model: Some(model.to_owned()),
        run: Some(true),
        ..fork
    };
    let mut said = Vec::new();
    for (from, to) in [("claude", "open"), ("open", "claude")] {
        for fork in [edit(2, StepPart::Result, "[]"), ForkRequest::new(4, None)] {
            let (file, request) = forked(&bench, &server, from, &with(to, fork));
            let facts = [fact(&bench, &file, "model"), fact(&bench, &file, "model_id")];
            assert_eq!(fact(&bench, &file, "thinking"), None, "it is that of another model");
            let origin = fact(&bench, &file, "forked_from").unwrap();
            said.push(format!(
                "{file} {} thinking: {}\n{}",
                request["model"],
                request["thinking"]["budget_tokens"],
                lines(&request)
            ));
            said.push(format!("{facts:?} {origin}\n"));
        }
    }
    insta::assert_snapshot!(said.join("\n"), @r#"
    results/count-tool_calling-open-variation0-fork1.yaml "any" thinking: null
    {role:user,content:How many?}
    {role:assistant,content:I look.,tool_calls:[{id:a.1,type:function,function:{name:query_things,arguments:{\sql\:\SELECT 1 AS n\}}},
      {id:b,type:function,function:{name:query_things,arguments:{\sql\:\SELECT 2 AS n\}}}]}
    {role:tool,tool_call_id:a.1,content:[]}
    {role:tool,tool_call_id:b,content:[{\n\:2}]}
    [Some("\"open\""), Some("\"any-1\"")] {"file":"count-tool_calling-claude-variation0.yaml","step":2,"part":"result","model":"claude","steps":4}

    results/count-tool_calling-open-variation0-fork2.yaml "any" thinking: null
    {role:user,content:How many?}
    {role:assistant,content:I look.,tool_calls:[{id:a.1,type:function,function:{name:query_things,arguments:{\sql\:\SELECT 1 AS n\}}},
      {id:b,type:function,function:{name:query_things,arguments:{\sql\:\SELECT 2 AS n\}}}]}
    {role:tool,tool_call_id:a.1,content:[{\n\:1.0}]}
    {role:tool,tool_call_id:b,content:[{\n\:2}]}
    [Some("\"open\""), Some("\"any-1\"")] {"file":"count-tool_calling-claude-variation0.yaml","step":4,"model":"claude","steps":4}

    results/count-tool_calling-claude-variation0-fork1.yaml "claude-1" thinking: null
    {role:user,content:[{type:text,text:How many?}]}
    {role:assistant,content:[{type:text,text:I look.},
      {type:tool_use,id:call,name:query_things,input:{sql:SELECT 1 AS n}},
      {type:tool_use,id:b,name:query_things,input:{sql:SELECT 2 AS n}}]}
    {role:user,content:[{type:tool_result,tool_use_id:call,content:[]},
      {type:tool_result,tool_use_id:b,content:[{\n\:2}],cache_control:{type:ephemeral}}]}
    [Some("\"claude\""), Some("\"claude-2\"")] {"file":"count-tool_calling-open-variation0.yaml","step":2,"part":"result","model":"open","steps":4}

    results/count-tool_calling-claude-variation0-fork2.yaml "claude-1" thinking: null
    {role:user,content:[{type:text,text:How many?}]}
    {role:assistant,content:[{type:text,text:I look.},
      {type:tool_use,id:call,name:query_things,input:{sql:SELECT 1 AS n}},
      {type:tool_use,id:b,name:query_things,input:{sql:SELECT 2 AS n}}]}
    {role:user,content:[{type:tool_result,tool_use_id:call,content:[{\n\:1.0}]},
      {type:tool_result,tool_use_id:b,content:[{\n\:2}],cache_control:{type:ephemeral}}]}
    [Some("\"claude\""), Some("\"claude-2\"")] {"file":"count-tool_calling-open-variation0.yaml","step":4,"model":"open","steps":4}
    "#);
    // The first part is that of another model, so it is no run of this one.
    let fork = path("open", "-fork1");
    let row = bench.wait_state(fork.trim_start_matches("results/"), RunState::Answered);
    assert_eq!((row.model.as_deref(), row.lineage), (Some("open"), Some(Lineage::Fork)));
    let stats = bench.app().stats().systems(&StatsRequest::default()).unwrap();
    assert_eq!((stats.ends.runs, stats.left_out_runs.forks_left_out), (2, 4));
    let view = bench.app().runs().open_run(&row.id).unwrap();
    let models: Vec<_> = view.steps.iter().map(|step| step.model.as_deref()).collect();
    let former = Some("claude");
    assert_eq!(models, [None, former, former, former, None], "each step names who made it");
    assert_eq!(view.lineage.origin.unwrap().path, "count-tool_calling-claude-variation0.yaml");
    assert_eq!(view.lineage.edited, Some(StepPart::Result));
}

#[test]
fn a_copy_for_another_model_sends_nothing_until_it_is_continued() {
    let server = server();
    let bench = folder(&server);
    let fork = ForkRequest {
        model: Some("shut".to_owned()),
        run: Some(false),
        ..edit(2, StepPart::Arguments, "SELECT 5 AS n")
    };
    let copied = bench.app().launches().fork_run(&id(&bench, &path("claude", "")), &fork).unwrap();
    assert_eq!(copied.launch, None);
    let row =
        bench.wait_state(path("shut", "-fork1").trim_start_matches("results/"), RunState::Waiting);
    assert_eq!(row.id, copied.run);
    assert!(transcript_lines(&bench, &path("shut", "-fork1")).ends_with(
        r#"{"tool_call":{"id":"b","name":"query_things","params":{"sql":"SELECT 2 AS n"},"result":[{"n":2}],"turn":1}}"#
    ));
    assert!(server.seen().is_empty());
}

#[test]
fn what_cannot_go_on_is_refused_before_anything_is_written() {
    let server = server();
    let bench = folder(&server);
    let search = TALK.replace("MODEL", "open") + "  method: DFS_woFilter_w2\n";
    let named = |system: &str, end: &str| path("open", end).replace("tool_calling", system);
    bench.put(&path("open", "-run2"), search);
    bench.put(&named("promptql", ""), "output: {}\nanswer: 1\n");
    bench.wait_state(named("promptql", "").trim_start_matches("results/"), RunState::Answered);
    let files = || fs::read_dir(bench.path("results")).unwrap().count();
    let before = files();
    let refused = |path: &str, fork: &ForkRequest| {
        let error = bench.app().launches().fork_run(&id(&bench, path), fork).unwrap_err();
        [Some(error.message), error.hint].into_iter().flatten().collect::<Vec<_>>().join(" ")
    };
    let open = path("open", "");
    let with = |model: &str| ForkRequest {
        model: Some(model.to_owned()),
        ..ForkRequest::new(4, Some("Sure?"))
    };
    let said = [
        refused(&open, &edit(4, StepPart::Message, "Two.")),
        refused(&open, &edit(2, StepPart::Arguments, "{")),
        refused(&open, &edit(2, StepPart::Result, &"x".repeat(2 << 20))),
        refused(&open, &with("nobody")),
        refused(&open, &with("shut")),
        refused(&path("open", "-run2"), &edit(2, StepPart::Result, "[]")),
        refused(&named("promptql", ""), &edit(0, StepPart::Message, "Why?")),
    ];
    insta::assert_snapshot!(said.join("\n"), @r#"
    The edited message is the last one, so the model has nothing to answer. Write the message that follows it, or only make the copy.
    The arguments have to be a JSON object like {"sql": "SELECT 1"}: The JSON text ends in the middle. (line 1, column 2)
    The edited text is longer than 1 MB. Shorten it.
    There is no model named `nobody`. There are: claude, o1, o3-mini, open, shut. Others are added under `models:` in touchstone.yaml.
    KEY_THAT_IS_NOT_SET is not set. Set KEY_THAT_IS_NOT_SET in the environment, and start Touchstone again.
    This run searched for an answer in several tries, and a try cannot be edited. Fork it with a message that follows the step.
    A PromptQL run is one question and one reply, so it cannot be continued from a step. Run it again instead.
    "#);
    assert_eq!((files(), server.seen().len(), bench.app().launches().all().len()), (before, 0, 0));
}

#[test]
fn a_step_is_offered_to_be_edited_with_its_texts() {
    let server = server();
    let bench = folder(&server);
    let step = |step| bench.app().launches().editable_step(&id(&bench, &path("open", "")), step);
    assert_eq!(
        serde_json::to_value(step(2).unwrap()).unwrap(),
        json!({
            "fields": [
                { "part": "arguments", "text": "SELECT 1 AS n", "argument": "sql" },
                { "part": "result", "text": "[\n  {\n    \"n\": 1.0\n  }\n]", "argument": null },
                { "part": "error", "text": "", "argument": null },
            ],
            "needs_message": false,
            "why_not": null,
        })
    );
    assert!(step(4).unwrap().needs_message);
    assert!(step(9).unwrap_err().message.contains("no such step"));
}

#[test]
fn a_text_with_a_key_of_the_workspace_is_neither_written_nor_sent() {
    const KEY: &str = "sk-0123456789abcdef";
    let server = server();
    let workspace = format!(
        "input_dir: tasks\noutput_dir: results\nmodels:\
         \n  open: {{ provider: openai, base_url: '{}', model: any, api_key_env: MY_KEY }}\n{THINGS}",
        server.url("/v1")
    );
    let bench = folder_of(&workspace, super::stage::PLAIN)
        .key("MY_KEY", KEY)
        .file(&path("open", ""), TALK.replace("MODEL", "open"))
        .open();
    let id = id(&bench, &path("open", ""));
    let text = format!("Use {KEY}.");
    let launches = bench.app().launches();
    let refused = [
        launches.fork_run(&id, &edit(2, StepPart::Result, &text)).unwrap_err(),
        launches.fork_run(&id, &ForkRequest::new(4, Some(&text))).unwrap_err(),
        launches.nudge_run(&id, &text, true).unwrap_err(),
    ];
    for error in refused {
        assert!(error.message.contains("a key or a secret") && !error.message.contains(KEY));
    }
    assert_eq!(fs::read_dir(bench.path("results")).unwrap().count(), 1);
    assert!(server.seen().is_empty());
    let other =
        ForkRequest { run: Some(false), ..edit(2, StepPart::Result, "sk-fedcba9876543210") };
    launches.fork_run(&id, &other).unwrap();
}
