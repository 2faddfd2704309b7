//! One binary over the engine: each module a topic, each test name a rule.
