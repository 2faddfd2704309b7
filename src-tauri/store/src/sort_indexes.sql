-- One for each column that orders the list, ties by path. Built after the first load, because that is several times cheaper.
CREATE INDEX IF NOT EXISTS runs_path ON runs(path);
CREATE INDEX IF NOT EXISTS runs_system ON runs(system, path);
CREATE INDEX IF NOT EXISTS runs_model ON runs(model, path);
CREATE INDEX IF NOT EXISTS runs_variation ON runs(variation, path);
CREATE INDEX IF NOT EXISTS runs_repeat ON runs(repeat, path);
CREATE INDEX IF NOT EXISTS runs_turns ON runs(turns, path);
CREATE INDEX IF NOT EXISTS runs_tool_calls ON runs(tool_calls, path);
CREATE INDEX IF NOT EXISTS runs_tokens ON runs(tokens, path);
CREATE INDEX IF NOT EXISTS runs_cost ON runs(cost, path);
CREATE INDEX IF NOT EXISTS runs_seconds ON runs(seconds, path);
CREATE INDEX IF NOT EXISTS runs_size ON runs(size, path);
CREATE INDEX IF NOT EXISTS runs_modified ON runs(modified_ms, path);
CREATE INDEX IF NOT EXISTS runs_score ON runs(score, path);
CREATE INDEX IF NOT EXISTS runs_stored ON runs(stored_share, path);
-- Which scorers there are, in which versions, without a walk over what they said.
CREATE INDEX IF NOT EXISTS scores_scorer ON scores(scorer, version);
