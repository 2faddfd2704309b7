//! All tests of the engine in one binary: each module is a topic, each test name a rule.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod agreement;
mod asking;
mod bench;
mod broken_files;
mod canary;
mod comparing;
mod conversation;
mod demo;
mod diffing;
mod evaluator_judges;

mod evaluations;
mod evaluations_kept;

mod evaluate_target;
mod evaluating;
mod evaluating_again;
mod evaluating_refused;
mod evaluating_unfinished;
mod filter;
mod folders;
mod gzip;
mod http;
mod index;
mod judging;
mod judging_money;
mod judging_suites;
mod layers;
mod listing;
mod many;
mod mcp;
mod mocks;
mod mutations;
mod offered;
mod opening;
mod overview;
mod postgres;
mod programs;
mod python;
mod queries;
mod query_scores;

mod raw_answers;
mod readme;
mod real_folders;
mod redefined;
mod replacing;
mod reviewing;
mod running;
mod sandbox;
mod scores;
mod scripted;
mod search;
mod sql_postgres;
mod sql_postgres_answers;
mod sql_postgres_functions;
mod sql_sqlite;
mod staying;
mod stored;
mod suites;
mod survival;
mod trust;
mod virtual_apis;
mod watch;
