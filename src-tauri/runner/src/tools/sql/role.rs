//! **Pure.** Permissions of a PostgreSQL role beyond reading: the query that finds them, and the
//! message for the user.
use crate::tools::Unusable;

/// Query for the role's permissions beyond reading, one reason per row. Includes those of roles
/// that it may become. Excludes the server's own catalogs, in which everyone may change settings
/// for their own session.
pub(super) const QUESTION: &str = "
WITH mine AS (
  SELECT oid, rolname, rolsuper, rolcreaterole, rolcreatedb, rolreplication
  FROM pg_catalog.pg_roles WHERE pg_catalog.pg_has_role(current_user, oid, 'MEMBER')
), own AS (
  SELECT n.oid, n.nspname FROM pg_catalog.pg_namespace n
  WHERE n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname !~ '^pg_(toast|temp)'
)
SELECT reason FROM (
  SELECT 1 AS rank, 'it is a superuser' AS reason FROM pg_catalog.pg_roles WHERE rolname = current_user AND rolsuper
  UNION SELECT 2, 'it may become the superuser ' || rolname FROM mine WHERE rolsuper AND rolname <> current_user
  UNION SELECT 3, 'it may create roles or databases, or replicate' FROM mine WHERE rolcreaterole OR rolcreatedb OR rolreplication
  UNION SELECT 4, 'it belongs to ' || rolname FROM mine
    WHERE rolname IN ('pg_write_server_files', 'pg_execute_server_program', 'pg_read_server_files', 'pg_write_all_data',
      'pg_signal_backend', 'pg_checkpoint', 'pg_maintain', 'pg_create_subscription', 'pg_signal_autovacuum_worker')
  UNION SELECT 5, 'it may write to ' || own.nspname || '.' || c.relname
    FROM pg_catalog.pg_class c JOIN own ON own.oid = c.relnamespace, mine
    WHERE c.relkind IN ('r', 'p', 'v', 'f') AND (
      pg_catalog.has_table_privilege(mine.oid, c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE')
      OR pg_catalog.has_any_column_privilege(mine.oid, c.oid, 'INSERT, UPDATE'))
  UNION SELECT 6, 'it may create tables in the schema ' || own.nspname FROM own, mine
    WHERE pg_catalog.has_schema_privilege(mine.oid, own.oid, 'CREATE')
  UNION SELECT 7, 'it may create schemas in this database' FROM mine
    WHERE pg_catalog.has_database_privilege(mine.oid, pg_catalog.current_database(), 'CREATE')
) found ORDER BY rank, reason LIMIT 20";

/// Query for functions that the role may run and whose effects a rollback does not undo: name with
/// arguments, and the statement that revokes the permission. Every database grants some of them to
/// everyone. Advisory locks are excluded: they end with the connection, and each call has its own.
/// For a superuser none are listed, because no statement revokes them.
pub(super) const FUNCTIONS: &str = "
WITH mine AS (
  SELECT oid FROM pg_catalog.pg_roles WHERE pg_catalog.pg_has_role(current_user, oid, 'MEMBER')
), risky AS (
  SELECT p.oid, p.proname, p.proargtypes, p.proowner, p.proacl, n.nspname FROM pg_catalog.pg_proc p
  JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
  JOIN pg_catalog.pg_language l ON l.oid = p.prolang
  WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = current_user AND rolsuper)
    AND EXISTS (SELECT FROM mine WHERE pg_catalog.has_function_privilege(mine.oid, p.oid, 'EXECUTE'))
    AND EXISTS (SELECT FROM mine WHERE pg_catalog.has_schema_privilege(mine.oid, n.oid, 'USAGE'))
    AND p.prorettype NOT IN ('pg_catalog.trigger'::pg_catalog.regtype, 'pg_catalog.event_trigger'::pg_catalog.regtype)
    AND (
      p.prosecdef AND p.proowner NOT IN (SELECT oid FROM mine)
      OR l.lanispl AND NOT l.lanpltrusted
      OR n.nspname = 'pg_catalog' AND (p.proname IN (
        'pg_logical_emit_message', 'pg_terminate_backend', 'pg_cancel_backend', 'pg_read_file', 'pg_read_binary_file',
        'pg_ls_dir', 'pg_stat_file', 'pg_file_write', 'pg_file_sync', 'pg_file_rename', 'pg_file_unlink', 'pg_logdir_ls',
        'lo_import', 'lo_export', 'pg_reload_conf', 'pg_rotate_logfile', 'pg_logfile_rotate', 'pg_switch_wal',
        'pg_create_restore_point', 'pg_start_backup', 'pg_stop_backup', 'pg_backup_start', 'pg_backup_stop', 'pg_promote',
        'pg_wal_replay_pause', 'pg_wal_replay_resume', 'pg_log_backend_memory_contexts', 'pg_log_standby_snapshot')
        OR p.proname LIKE 'pg_replication_origin_%' OR p.proname LIKE 'pg_stat_reset%')
      OR p.proname LIKE 'dblink%' OR p.proname LIKE 'pg_background_%' OR p.proname = 'pg_stat_statements_reset'
      OR EXISTS (
        SELECT FROM pg_catalog.pg_depend d JOIN pg_catalog.pg_extension e ON e.oid = d.refobjid
        WHERE d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass AND d.objid = p.oid AND d.deptype = 'e'
          AND d.refclassid = 'pg_catalog.pg_extension'::pg_catalog.regclass
          AND e.extname IN ('dblink', 'http', 'pg_net', 'pg_curl', 'pg_background', 'pg_cron', 'adminpack', 'plproxy', 'plsh',
            'aws_s3', 'aws_lambda', 'azure_storage', 'pg_surgery'))
    )
), named AS (
  SELECT oid, nspname, proname, pg_catalog.quote_ident(nspname) || '.' || pg_catalog.quote_ident(proname)
    || '(' || pg_catalog.oidvectortypes(proargtypes) || ')' AS name,
    (SELECT pg_catalog.string_agg(DISTINCT CASE a.grantee WHEN 0 THEN 'PUBLIC'
        ELSE pg_catalog.quote_ident(pg_catalog.pg_get_userbyid(a.grantee)) END, ', ')
     FROM pg_catalog.aclexplode(COALESCE(proacl, pg_catalog.acldefault('f', proowner))) a
     WHERE a.privilege_type = 'EXECUTE' AND (a.grantee = 0 OR a.grantee IN (SELECT oid FROM mine))) AS grantees
  FROM risky
)
SELECT CASE nspname WHEN 'pg_catalog' THEN proname ELSE nspname || '.' || proname END,
  'REVOKE EXECUTE ON ROUTINE ' || name || ' FROM ' || COALESCE(grantees, 'PUBLIC') || ';'
FROM named ORDER BY nspname = 'pg_catalog' DESC, nspname, name LIMIT 500";

/// Permissions of a role beyond reading.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Powers {
    /// Reasons other than functions.
    pub(super) reasons: Vec<String>,
    /// Functions whose effects a rollback does not undo, each with the statement that revokes it.
    pub(super) functions: Vec<(String, String)>,
}

impl Powers {
    /// Returns true if the role may only read.
    pub(super) fn is_empty(&self) -> bool {
        self.reasons.is_empty() && self.functions.is_empty()
    }

    /// Removes functions that the user accepts, by name.
    pub(super) fn without(mut self, accepted: &[String]) -> Self {
        self.functions.retain(|(name, _)| !accepted.contains(name));
        self
    }

    /// Formats everything as one clause, such as `it may write to public.t; it may run functions
    /// that a rollback does not undo: pg_terminate_backend`.
    pub(super) fn clause(&self) -> String {
        let mut names: Vec<String> = self.functions.iter().map(|(name, _)| name.clone()).collect();
        names.dedup();
        let functions = (!names.is_empty()).then(|| {
            format!("it may run functions that a rollback does not undo: {}", names.join(", "))
        });
        let reasons = (!self.reasons.is_empty()).then(|| format_reasons(&self.reasons));
        reasons.into_iter().chain(functions).collect::<Vec<_>>().join("; ")
    }

    fn fix(&self, database: &str) -> String {
        let role = "Give the tool a role that only reads (CREATE ROLE reader LOGIN PASSWORD '…'; GRANT USAGE ON SCHEMA public TO \
                    reader; GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader; REVOKE CREATE ON SCHEMA public FROM PUBLIC), \
                    or write `accept_writer: true` when this database may be changed.";
        let statements: Vec<&str> =
            self.functions.iter().map(|(_, statement)| statement.as_str()).collect();
        let functions = format!(
            "As a superuser, in the database {database}: {} Grant them to roles that need them (GRANT EXECUTE ON ROUTINE … TO …). \
             Where that cannot be done, name the functions under `accept_functions` of the tool.",
            statements.join(" ")
        );
        match (self.reasons.is_empty(), self.functions.is_empty()) {
            (true, _) => functions,
            (false, true) => role.to_owned(),
            (false, false) => format!("{role} {functions}"),
        }
    }
}

/// Maximum number of reasons to list.
const MAX_REASONS: usize = 3;

/// Formats the reasons as one clause: `it is a superuser, it may write to public.t and 4 more`.
pub(super) fn format_reasons(reasons: &[String]) -> String {
    let first = reasons.iter().take(MAX_REASONS).map(String::as_str).collect::<Vec<_>>().join(", ");
    match reasons.len().saturating_sub(MAX_REASONS) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

/// Returns the error for a role that is refused.
pub(super) fn refused(role: &str, database: &str, powers: &Powers) -> Unusable {
    Unusable {
        message: format!("The role {role} may do more than read: {}.", powers.clause()),
        fix: Some(powers.fix(database)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_the_role_the_reasons_and_the_way_out() {
        let reasons: Vec<String> = ["a", "b", "c", "d", "e"].map(str::to_owned).to_vec();
        let writer = Powers { reasons, functions: Vec::new() };
        insta::assert_snapshot!(refused("rw", "shop", &writer).message, @"The role rw may do more than read: a, b, c and 2 more.");
        assert!(refused("rw", "shop", &writer).fix.unwrap().contains("accept_writer"));
    }

    #[test]
    fn a_refusal_names_every_function_and_the_statement_that_takes_it_away_unless_it_is_accepted() {
        let function = |name: &str, statement: &str| (name.to_owned(), statement.to_owned());
        let powers = Powers {
            reasons: Vec::new(),
            functions: vec![
                function("f", "REVOKE f(int);"),
                function("f", "REVOKE f(text);"),
                function("g", "REVOKE g();"),
            ],
        };
        let said = refused("ro", "shop", &powers);
        assert_eq!(
            said.message,
            "The role ro may do more than read: it may run functions that a rollback does not undo: f, g."
        );
        let fix = said.fix.unwrap();
        assert!(
            fix.starts_with(
                "As a superuser, in the database shop: REVOKE f(int); REVOKE f(text); REVOKE g();"
            ),
            "{fix}"
        );
        assert!(powers.clone().without(&["f".to_owned(), "g".to_owned()]).is_empty());
        assert!(!powers.without(&["f".to_owned()]).is_empty());
    }
}
