-- The index of one output directory: a cache that may be deleted at any time. Raise SCHEMA_VERSION in index.rs with every change.

-- One row for each run, and for each thing that is no run (state 'other'), which lists leave out unless asked.
CREATE TABLE runs (
  id             INTEGER PRIMARY KEY,
  key            TEXT NOT NULL,              -- 16 hex digits: xxh3-64 of the path below the output directory, and of the member; the id the page sees
  path           TEXT NOT NULL,              -- below the output directory, as shown; bytes that are no UTF-8 are replaced; '#' and the member
  unit           INTEGER NOT NULL,           -- its files are those with this number: xxh3-64 of the path alone, as i64
  member         TEXT,                       -- which of the runs of its file it is; NULL when the file holds no other
  layout         TEXT NOT NULL,              -- tool_calling, prompt_ql, benchmark_folder; empty when not read
  task           TEXT,
  system         TEXT,
  model          TEXT,
  variation      INTEGER,
  variation_name TEXT,
  repeat         INTEGER NOT NULL,
  state          TEXT NOT NULL,              -- as RunState is written
  state_order    INTEGER NOT NULL,           -- place of the state in RunState; 6 is 'other'
  reason         TEXT,
  turns          INTEGER NOT NULL,
  tool_calls     INTEGER NOT NULL,
  failed_calls   INTEGER NOT NULL,
  nudges         INTEGER NOT NULL,
  follow_ups     INTEGER NOT NULL DEFAULT 0, -- of these, messages that a person sent
  lineage        TEXT,                       -- as Lineage is written; NULL for a run that counts in statistics
  fork           INTEGER NOT NULL DEFAULT 0, -- which fork of its repeat its file name says it is; 0 for none
  forked_from    TEXT,                       -- path of the run it was copied from, when its file says
  forked_step    INTEGER,                    -- the step, from 0
  started        REAL,                       -- seconds since 1970, when a file says so
  own_task       TEXT,                       -- of an imported run whose task a person corrected: the one in its file
  prompt         TEXT,                       -- the start of the first message of the user, in one line
  repeat_source  TEXT,                       -- of an imported run: the file or group within which its repeats are numbered; NULL when the file states the number
  file_repeat    INTEGER,                    -- the number in the file; NULL when those of its group are numbered by their start
  group_start    REAL,
  identity       INTEGER,                    -- of an imported run: hash of what is equal in all files that hold it
  identity_rank  REAL,
  import_hash    INTEGER,                    -- of an imported run: what stands for its content in its file, where its format has that
  superseded_by  TEXT,                       -- path of the run that counts in its place
  missing_calls  TEXT NOT NULL,              -- JSON list of names
  tools          TEXT NOT NULL,              -- names of called tools, each between line feeds: "\na\nb\n", or empty
  tokens         INTEGER,
  cost           REAL,
  user_requests  INTEGER,                    -- of the model that plays the user; NULL when there is none
  user_tokens    INTEGER,
  user_cost      REAL,
  user_model     TEXT,                       -- name of that model
  seconds        REAL,
  unfinished     INTEGER NOT NULL,           -- its file says that it was begun, and not that it was closed
  size           INTEGER NOT NULL,           -- of all its files
  modified_ms    INTEGER NOT NULL,           -- of its newest file
  has_answer     INTEGER NOT NULL,
  content_hash   INTEGER NOT NULL,           -- xxh3-64 of the files, as i64
  line           INTEGER,                    -- where and what is wrong in a damaged file
  col            INTEGER,
  excerpt        TEXT,
  advice         TEXT,
  text_offset    INTEGER NOT NULL,           -- its text in the blob
  text_len       INTEGER NOT NULL,
  words          INTEGER,                    -- number of the segment of words that its text was first written to; NULL until then; 0 when it is too long or has too many words, and is always read
  scoring        TEXT,                       -- as ScoreStanding is written: what came of the first scorer; NULL when the task is not known
  scorer         TEXT,                       -- that scorer
  score          REAL,
  passed         INTEGER,
  score_reason   TEXT,
  class          TEXT,                       -- as FailureClass is written
  fingerprint    INTEGER,                    -- of what it was scored against: task text, expected output, scorers and their versions
  verdict        TEXT,                       -- as Verdict is written: what a person says
  review_score   REAL,
  stored_passed  INTEGER,                    -- of stored: how many pass, of how many that say so, how many more are errors; NULL when nothing is stored
  stored_decided INTEGER,
  stored_errors  INTEGER,
  stored_share   REAL,                       -- passed of decided
  steps          INTEGER NOT NULL DEFAULT 0, -- without those of abandoned branches
  commit_name    TEXT,                       -- of the system or the folder, when a file says so
  tags           TEXT NOT NULL DEFAULT '',   -- of the run, as its file says, each between line feeds, or empty
  suite_tags     TEXT NOT NULL DEFAULT '',   -- those of the suite of its task, likewise
  claimed        INTEGER NOT NULL DEFAULT 0  -- 1: as a segment claims it, until its files are read; of its text it has the last message alone
);
CREATE UNIQUE INDEX runs_key ON runs(key);
-- Runs that the full-text index does not hold yet. The index is complete when there is none.
CREATE INDEX runs_wordless ON runs(modified_ms) WHERE words IS NULL AND text_len > 0 AND NOT claimed;
CREATE INDEX runs_left_out ON runs(words) WHERE words = 0;
CREATE INDEX runs_text ON runs(text_offset, text_len) WHERE text_len > 0;
-- The runs of files that hold many.
CREATE INDEX runs_members ON runs(unit) WHERE member IS NOT NULL;
CREATE INDEX runs_task ON runs(task, path);
-- The forks of a run, and forks that are named like repeats.
CREATE INDEX runs_forked ON runs(forked_from) WHERE forked_from IS NOT NULL;
CREATE INDEX runs_corrected ON runs(own_task, task) WHERE own_task IS NOT NULL;
CREATE INDEX runs_cell ON runs(task, system, model) WHERE repeat_source IS NOT NULL;
-- Imported runs with another number than that of their file.
CREATE INDEX runs_renumbered ON runs(task, system, model) WHERE repeat_source IS NOT NULL AND repeat <> ifnull(file_repeat, 1);
CREATE INDEX runs_recorded ON runs(task) WHERE repeat_source IS NOT NULL OR file_repeat IS NOT NULL; -- runs of other tools
CREATE INDEX runs_identity ON runs(identity) WHERE identity IS NOT NULL;
CREATE INDEX runs_state ON runs(state_order, path);
-- The runs with an answer, for questions about steps that end in it.
CREATE INDEX runs_answered ON runs(has_answer) WHERE has_answer <> 0;

-- Runs that were written or deleted, in order, from which columns in memory follow the index. The last 200,000 are kept.
CREATE TABLE changes (
  seq INTEGER PRIMARY KEY,
  run INTEGER NOT NULL                       -- runs.id
);
CREATE TRIGGER runs_inserted AFTER INSERT ON runs BEGIN
  INSERT INTO changes (run) VALUES (new.id);
  DELETE FROM changes WHERE seq <= last_insert_rowid() - 200000;
END;
CREATE TRIGGER runs_deleted AFTER DELETE ON runs BEGIN
  INSERT INTO changes (run) VALUES (old.id);
  DELETE FROM changes WHERE seq <= last_insert_rowid() - 200000;
END;
-- The columns are those that `columns/group.rs` reads.
CREATE TRIGGER runs_updated AFTER UPDATE OF key, path, task, system, model, state, variation_name, layout, tools, missing_calls,
  scorer, class, scoring, verdict, lineage, commit_name, tags, suite_tags, variation, repeat, state_order, turns, tool_calls,
  failed_calls, nudges, tokens, size, modified_ms, has_answer, passed, steps, fork, review_score, member, cost, seconds, score,
  stored_share, started ON runs BEGIN
  INSERT INTO changes (run) VALUES (new.id);
  DELETE FROM changes WHERE seq <= last_insert_rowid() - 200000;
END;

-- The files of all rows, with their stamps when they were read. Suites are read anew at every start and are not here.
CREATE TABLE files (
  path     BLOB PRIMARY KEY,                 -- below the output directory, as its bytes
  unit     INTEGER NOT NULL,                 -- runs.unit, of one run or of many
  odd      INTEGER NOT NULL,                 -- 1: something that is no file
  size     INTEGER NOT NULL,
  mtime_ns INTEGER NOT NULL,
  inode    INTEGER NOT NULL,
  settled  INTEGER NOT NULL                  -- 0: read so soon after its last change that it must be looked at again
) WITHOUT ROWID;
CREATE INDEX files_unit ON files(unit);

-- Pieces of the searchable text, in order within a run. Long ones are cut at spaces. Extents count from the start of the blob.
CREATE TABLE items (
  id    INTEGER PRIMARY KEY,
  run   INTEGER NOT NULL,
  step  INTEGER,                             -- none: the answer
  start INTEGER NOT NULL,
  len   INTEGER NOT NULL
);
CREATE INDEX items_run ON items(run, start);

-- The steps of every run, from which questions about their order are answered.
CREATE TABLE steps (
  run   INTEGER PRIMARY KEY,                 -- runs.id
  start INTEGER NOT NULL,                    -- runs.text_offset
  steps BLOB NOT NULL                        -- as StepList is encoded
);
-- Which steps changed: those whose text was appended to the blob since.
CREATE INDEX steps_start ON steps(start);

-- Short facts of a run, as its file writes them: JSON list of [key, text].
CREATE TABLE facts (run INTEGER PRIMARY KEY, facts TEXT NOT NULL);

-- What every scorer says of a run, in the order of its task; 0 is the one in runs.
CREATE TABLE scores (
  run      INTEGER NOT NULL,                 -- runs.id
  place    INTEGER NOT NULL,
  scorer   TEXT NOT NULL,
  version  INTEGER NOT NULL,
  standing TEXT NOT NULL,                    -- as ScoreStanding is written
  score    REAL,
  passed   INTEGER,
  reason   TEXT NOT NULL,
  detail   TEXT NOT NULL,                    -- JSON list of {name, value}
  class    TEXT,                             -- as FailureClass is written: what went wrong, as this scorer sees it
  ask      INTEGER,                          -- of a program: what stands for the program, what was expected and the answer; of a judge: for the judge
  passes_from REAL,                          -- of a program: the least score that passes
  PRIMARY KEY (run, place)
) WITHOUT ROWID;
-- How many runs each scorer has scores of.
CREATE TABLE scorers (scorer TEXT PRIMARY KEY, runs INTEGER NOT NULL) WITHOUT ROWID;
CREATE TRIGGER scores_inserted AFTER INSERT ON scores BEGIN
  INSERT INTO scorers VALUES (new.scorer, 1) ON CONFLICT DO UPDATE SET runs = runs + 1;
END;
CREATE TRIGGER scores_deleted AFTER DELETE ON scores BEGIN
  UPDATE scorers SET runs = runs - 1 WHERE scorer = old.scorer;
END;
CREATE INDEX scores_asked ON scores(ask) WHERE ask IS NOT NULL;

-- Programs that were run: what stands for the question, and what was said.
CREATE TABLE kept_scores (
  ask    INTEGER PRIMARY KEY,
  score  REAL,                               -- NULL: the program failed
  reason TEXT NOT NULL,
  detail TEXT NOT NULL
);

-- What evaluators are stored to have said of a run of an evaluation, in the order of its file. None of it is a score.
CREATE TABLE stored (
  run       INTEGER NOT NULL,                -- runs.id
  place     INTEGER NOT NULL,
  evaluator TEXT NOT NULL,
  result    TEXT NOT NULL,                   -- as StoredResult is written
  score     TEXT,                            -- as it is written in the file
  number    REAL,                            -- the same as a number
  word      TEXT,                            -- what stands for the number or beside it
  threshold TEXT,
  reason    TEXT,                            -- its beginning; of an error, the error
  PRIMARY KEY (run, place)
) WITHOUT ROWID;
-- How many verdicts of each evaluator say that a run passes, or that it does not.
CREATE TABLE evaluators (evaluator TEXT PRIMARY KEY, runs INTEGER NOT NULL) WITHOUT ROWID;
CREATE TRIGGER stored_inserted AFTER INSERT ON stored WHEN new.result IN ('pass', 'fail') BEGIN
  INSERT INTO evaluators VALUES (new.evaluator, 1) ON CONFLICT DO UPDATE SET runs = runs + 1;
END;
CREATE TRIGGER stored_deleted AFTER DELETE ON stored WHEN old.result IN ('pass', 'fail') BEGIN
  UPDATE evaluators SET runs = runs - 1 WHERE evaluator = old.evaluator;
END;

-- What scorers need of a run besides the columns above, so that scoring again reads no transcript.
CREATE TABLE answers (
  run      INTEGER PRIMARY KEY,              -- runs.id
  lenient  INTEGER,                          -- NULL: there is no answer
  unfound  TEXT,                             -- NULL unless the files give no answer of their own: why none was found, or empty
  sought   TEXT,                             -- of these runs: JSON of the answers that fences and Finish give
  tag      TEXT,                             -- the tag that the answer was found in, as the suite names it
  calls    TEXT NOT NULL,                    -- JSON list of [name, failed], in order
  said_at  INTEGER NOT NULL,                 -- the last message of the assistant: its place in the text of the run
  said_len INTEGER NOT NULL,
  answer   TEXT,                             -- JSON with numbers as written; NULL when there is none, or it is larger than is kept
  told     TEXT NOT NULL,                    -- JSON of what the calls do not say
  expected TEXT                              -- JSON of the expected answer, when the file of another tool has one
);

-- The files of what people and judges say of runs, as they were read; 'verdict' and 'review_score' in runs repeat what still holds.
CREATE TABLE reviews (
  path     BLOB PRIMARY KEY,                 -- below the output directory, as its bytes
  size     INTEGER NOT NULL,
  mtime_ns INTEGER NOT NULL,
  inode    INTEGER NOT NULL,
  settled  INTEGER NOT NULL,                 -- as in files
  hash     INTEGER NOT NULL,                 -- xxh3-64 of its bytes, as i64
  people   TEXT,                             -- of a file of people: JSON list of StoredReview
  judged   TEXT,                             -- of a file of judgements instead: JSON list of Judged
  note     TEXT,                             -- the beginning of the note of the review that counts
  run      TEXT,                             -- runs.key: the run it was last held against
  same     TEXT,                             -- for each of the list, 1 when it is of what the run holds now, else 0
  least    TEXT,                             -- of a file of judgements: for each, the score from which on the suite lets it pass; JSON list
  problem  TEXT,                             -- why it cannot be read: JSON of Wrong; NULL when it can
  labeled  INTEGER AS (instr(people, '"labels":{') > 0) -- 1 when somebody gives labels
) WITHOUT ROWID;
CREATE INDEX reviews_labeled ON reviews(run) WHERE labeled;
CREATE INDEX reviews_run ON reviews(run) WHERE run IS NOT NULL;

-- The full-text index: segments, each of the words of some runs.
CREATE TABLE word_segments (
  id    INTEGER PRIMARY KEY,
  first INTEGER NOT NULL,                    -- it holds runs whose runs.words is from this
  last  INTEGER NOT NULL,                    -- to this
  size  INTEGER NOT NULL,                    -- bytes of its blocks
  runs  INTEGER NOT NULL
);
-- Terms of a segment in order, with the runs that hold them. Blocks of other segments are left from a merge, and are deleted.
CREATE TABLE word_blocks (
  id      INTEGER PRIMARY KEY,
  segment INTEGER NOT NULL,
  first   BLOB NOT NULL,                     -- its first term
  block   BLOB NOT NULL                      -- with its checksum in the last 8 bytes, xxh3-64 over segment, first and block
);
CREATE UNIQUE INDEX word_blocks_first ON word_blocks(segment, first);
-- Runs whose text changed or is gone since a segment was written.
CREATE TABLE word_dead (
  segment INTEGER NOT NULL,                  -- what runs.words was
  run     INTEGER NOT NULL,
  PRIMARY KEY (segment, run)
) WITHOUT ROWID;

-- 'generation' grows by one with every commit that changes runs; 'blob' numbers the text file in use; 'blob_len', 'blob_dead' count
-- its bytes; 'tasks' is the hash of the suites that rows agree with; 'models' that of the model names that paths were read with; 'marks' that of
-- what stands behind the names of models, which judgements are held against.
CREATE TABLE meta (key TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID;
INSERT INTO meta VALUES ('generation', 0), ('blob', 1), ('blob_len', 16), ('blob_dead', 0), ('tasks', 0), ('models', 0), ('marks', 0), ('renames', 0), ('word_segments', 0);
-- Checksums of the blocks of the text blob, xxh3-64 as i64: text that changed behind our back is never read.
CREATE TABLE text_sums (
  block INTEGER PRIMARY KEY,
  sum   INTEGER NOT NULL
);
