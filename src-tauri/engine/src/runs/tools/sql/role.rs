//! **Pure.** What a PostgreSQL role may do beyond reading: the question that finds it out, and the sentence for people.
use crate::runs::tools::Unusable;

/// Lists what the role may do beyond reading, one reason a row. Roles that it may become count as its own. The server's own
/// catalogs do not: everyone may set what is there for their own session only.
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
    WHERE rolname IN ('pg_write_server_files', 'pg_execute_server_program', 'pg_read_server_files', 'pg_write_all_data')
  UNION SELECT 5, 'it may write to ' || own.nspname || '.' || c.relname
    FROM pg_catalog.pg_class c JOIN own ON own.oid = c.relnamespace, mine
    WHERE c.relkind IN ('r', 'p', 'v', 'f') AND (
      pg_catalog.has_table_privilege(mine.oid, c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE')
      OR pg_catalog.has_any_column_privilege(mine.oid, c.oid, 'INSERT, UPDATE'))
  UNION SELECT 6, 'it may create tables in the schema ' || own.nspname FROM own, mine
    WHERE pg_catalog.has_schema_privilege(mine.oid, own.oid, 'CREATE')
  UNION SELECT 7, 'it may create schemas in this database' FROM mine
    WHERE pg_catalog.has_database_privilege(mine.oid, pg_catalog.current_database(), 'CREATE')
  UNION SELECT 8, 'it may reach files or other servers with ' || p.proname FROM pg_catalog.pg_proc p, mine
    WHERE (p.proname LIKE 'dblink%' OR p.proname IN
      ('pg_read_file', 'pg_read_binary_file', 'pg_ls_dir', 'pg_stat_file', 'lo_import', 'lo_export'))
      AND pg_catalog.has_function_privilege(mine.oid, p.oid, 'EXECUTE')
) found ORDER BY rank, reason LIMIT 20";

/// How many reasons are told.
const TOLD: usize = 3;

/// The reasons as one clause: `it is a superuser, it may write to public.t and 4 more`.
pub(super) fn told(reasons: &[String]) -> String {
    let first = reasons.iter().take(TOLD).map(String::as_str).collect::<Vec<_>>().join(", ");
    match reasons.len().saturating_sub(TOLD) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

/// Why a role is not used.
pub(super) fn refused(role: &str, reasons: &[String]) -> Unusable {
    Unusable {
        message: format!("The role {role} may do more than read: {}.", told(reasons)),
        fix: Some(
            "Give the tool a role that only reads (CREATE ROLE reader LOGIN PASSWORD '…'; GRANT USAGE ON SCHEMA public TO reader; \
             GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader; REVOKE CREATE ON SCHEMA public FROM PUBLIC), or write \
             `accept_writer: true` when this database may be changed."
                .to_owned(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_the_role_the_reasons_and_the_way_out() {
        let reasons: Vec<String> = ["a", "b", "c", "d", "e"].map(str::to_owned).to_vec();
        insta::assert_snapshot!(refused("rw", &reasons).message, @"The role rw may do more than read: a, b, c and 2 more.");
        assert!(refused("rw", &reasons[..1]).fix.unwrap().contains("accept_writer"));
    }
}
