//! Tests of replies of a PostgreSQL server: exact values, errors in its own words, and the schema
//! given to the model.
use crate::postgres::{Database, PASSWORD, server};
use crate::sql_postgres::{everywhere, run_sql, tool_as};
use touchstone_model::json;
use touchstone_runner::tools::sql::SqlTool;

#[tokio::test(flavor = "multi_thread")]
async fn values_come_back_exactly() {
    let database = Database::new().await;
    let types = "CREATE TYPE mood AS ENUM ('good', 'bad'); CREATE TYPE pair AS (a int, b text); CREATE DOMAIN cents AS numeric(10, 2)";
    database.as_role("postgres").await.batch_execute(types).await.unwrap();
    let tool = tool_as("ro", &database, "");
    let given = [
        "SELECT true AS b, 1::int2 AS i2, -2 AS i4, 9223372036854775807 AS i8, 12345678901234567890.1234567890 AS n, 1.50 AS m",
        "SELECT 0.1::float8 + 0.2::float8 AS f, 1e300::float8 AS big, 0.1::float4 AS small, \
         'NaN'::float8 AS nan, '-Infinity'::float8 AS inf, 'NaN'::numeric AS n",
        "SELECT 'text' AS t, NULL AS nothing, NULL::int[] AS none, ''::text AS empty, 'x'::char(3) AS padded, 'ü'::name AS name",
        "SELECT '2024-05-06'::date AS d, '12:34:56.789'::time AS t, '2024-05-06 12:34:56.123456'::timestamp AS ts, '1 day 02:00'::interval AS i",
        "SELECT '{\"b\": [1.50, null], \"a\": 1}'::json AS j, '{\"b\": [1.50], \"a\": 1}'::jsonb AS jb, '1.50'::json AS n, 'null'::jsonb AS z",
        "SELECT ARRAY[1, 2] AS ints, ARRAY[1.50, 'NaN'] AS nums, ARRAY[['a'], ['b']] AS nested, ARRAY['2024-05-06'::date] AS dates",
        "SELECT 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid AS u, '\\x0102'::bytea AS b, '192.168.0.1/24'::inet AS ip, int4range(1, 5) AS r",
        "SELECT 'good'::mood AS mood, ROW(1, 'x')::pair AS pair, 1.5::cents AS cents, ROW(1, 2) AS anon, '5'::money::numeric AS money",
        "SELECT id, id, name AS id FROM items ORDER BY id",
        "TABLE items; ",
        "VALUES (1, 'a'), (2, NULL)",
        "SELECT pg_sleep(0) AS nothing",
        "SHOW transaction_read_only",
        "EXPLAIN (COSTS OFF) SELECT * FROM items",
        "SELECT '[{\"a\": 1.50}]'::json AS raw; -- behind",
        "SELECT 1 AS one -- behind",
        "SELECT 1 AS one, true AS yes, 5::int8 AS eight, 1.5 AS n, NULL::text AS none; -- behind",
        "SELECT * FROM items WHERE false",
        "SELECT FROM items",
    ];
    let mut all = Vec::new();
    for sql in given {
        all.push(run_sql(&tool, sql).await);
    }
    insta::assert_snapshot!(all.join("\n"), @r#"
    [{"b":true,"i2":1,"i4":-2,"i8":9223372036854775807,"n":12345678901234567890.1234567890,"m":1.50}]
    [{"f":0.30000000000000004,"big":1e+300,"small":0.1,"nan":"NaN","inf":"-Infinity","n":"NaN"}]
    [{"t":"text","nothing":null,"none":null,"empty":"","padded":"x","name":"ü"}]
    [{"d":"2024-05-06","t":"12:34:56.789","ts":"2024-05-06 12:34:56.123456","i":"1 day 02:00:00"}]
    [{"j":{"b":[1.50,null],"a":1},"jb":{"a":1,"b":[1.50]},"n":1.50,"z":null}]
    [{"ints":[1,2],"nums":[1.50,"NaN"],"nested":[["a"],["b"]],"dates":["2024-05-06"]}]
    [{"u":"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11","b":"<2 bytes>","ip":"192.168.0.1/24","r":"[1,5)"}]
    [{"mood":"good","pair":{"a":1,"b":"x"},"cents":1.50,"anon":{"f1":1,"f2":2},"money":5.00}]
    error: ORDER BY "id" is ambiguous (at character 47: `id`)
    [{"id":1,"name":"one"},{"id":2,"name":"two"}]
    [{"column1":1,"column2":"a"},{"column1":2,"column2":null}]
    [{"nothing":""}]
    [{"transaction_read_only":"on"}]
    [{"QUERY PLAN":"Seq Scan on items"}]
    [{"raw":[{"a":1.50}]}]
    [{"one":1}]
    [{"one":1,"yes":true,"eight":5,"n":"<numeric: cast it to text to see it>","none":null}]
    []
    error: The statement gave no rows back, and nothing of it is kept: only queries can be run.
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_are_in_the_words_of_the_server_with_their_place() {
    let database = Database::new().await;
    let tool = tool_as("ro", &database, "");
    let mut all = Vec::new();
    for sql in [
        "SELECT nme FROM items",
        "SELECT 'ü' FRMO items",
        "SELECT * FROM nowhere",
        "SELECT 1/0",
        "SELECT 'x'::int",
        "SELECT name::int FROM items",
        "SELECT $1",
        "SELECT 1; SELECT 2",
        "SELECT",
        "-- nothing",
        "COPY items TO STDOUT",
        "COPY items FROM STDIN",
        "SET search_path = pg_catalog",
        "SELECT * FROM pg_authid",
    ] {
        all.push(run_sql(&tool, sql).await);
    }
    insta::assert_snapshot!(all.join("\n"), @r#"
    error: column "nme" does not exist. Hint: Perhaps you meant to reference the column "items.name". (at character 8: `nme FROM items`)
    error: syntax error at or near "items" (at character 17: `items`)
    error: relation "nowhere" does not exist (at character 15: `nowhere`)
    error: division by zero
    error: invalid input syntax for type integer: "x" (at character 8: `'x'::int`)
    error: invalid input syntax for type integer: "one"
    error: The query has places for values (`$1`), and there are none: write the values.
    error: cannot insert multiple commands into a prepared statement
    error: The statement gave no rows back, and nothing of it is kept: only queries can be run.
    error: The statement gave no rows back, and nothing of it is kept: only queries can be run.
    error: The query broke off: unexpected message from server. Only queries can be run here.
    error: permission denied for table items
    error: The statement gave no rows back, and nothing of it is kept: only queries can be run.
    error: permission denied for table pg_authid
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_schema_holds_what_the_role_can_read() {
    let database = Database::new().await;
    let content = "
        CREATE TYPE state AS ENUM ('open', 'it''s closed');
        CREATE TABLE orders (id bigint PRIMARY KEY, item int NOT NULL REFERENCES items, state state, \"Total\" numeric(10, 2));
        COMMENT ON TABLE orders IS 'All orders'; COMMENT ON COLUMN orders.item IS E'what was\\nbought';
        CREATE TABLE secret (x int); CREATE SCHEMA more; CREATE VIEW more.open AS SELECT id FROM orders;
        GRANT SELECT ON orders TO ro; GRANT USAGE ON SCHEMA more TO ro; GRANT SELECT ON more.open TO ro;";
    database.as_role("postgres").await.batch_execute(content).await.unwrap();
    let schema = tool_as("ro", &database, "").schema().await.unwrap();
    assert_eq!(tool_as("ro", &database, "").schema().await.unwrap(), schema);
    let (first, rest) = schema.split_once('\n').unwrap();
    assert!(first.starts_with("-- PostgreSQL "), "{first}");
    insta::assert_snapshot!(rest, @r#"
    CREATE VIEW more.open (
      id bigint
    );
    CREATE TABLE items (
      id integer NOT NULL,
      name text,
      PRIMARY KEY (id)
    );
    CREATE TABLE orders ( -- All orders
      id bigint NOT NULL,
      item integer NOT NULL, -- what was bought
      state state, -- one of 'open', 'it''s closed'
      "Total" numeric(10,2),
      PRIMARY KEY (id),
      FOREIGN KEY (item) REFERENCES items(id)
    );
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_cannot_be_used_says_why_without_the_password() {
    let database = Database::new().await;
    let (port, name) = (database.port, &database.name);
    let dir = server().dir.display();
    let mut all = Vec::new();
    for address in [
        format!("postgres://ro:${{PASSWORD}}${{PASSWORD}}@127.0.0.1:{port}/{name}").replacen(
            "${PASSWORD}${PASSWORD}",
            "${WRONG}",
            1,
        ),
        format!("postgres://nobody:${{PASSWORD}}@127.0.0.1:{port}/{name}"),
        format!("postgres://ro:${{PASSWORD}}@127.0.0.1:{port}/no_such_database"),
        "postgres://ro:${PASSWORD}@127.0.0.1:1/x".to_owned(),
        format!("postgres://ro:${{PASSWORD}}@localhost:{port}/{name}?sslmode=verify-full"),
        format!(
            "postgres://ro:${{PASSWORD}}@localhost:{port}/{name}?sslmode=verify-full&sslrootcert=server.crt"
        ),
        format!(
            "postgres://ro:${{PASSWORD}}@localhost:{port}/{name}?sslmode=verify-full&sslrootcert=missing.crt"
        ),
        format!("postgres:///{name}?host={dir}&port={port}&user=ro&password=${{PASSWORD}}"),
    ] {
        let settings = json::read(&format!(r#"{{"database": "{address}"}}"#)).unwrap();
        let secret =
            |name: &str| Some(if name == "WRONG" { "canary-wrong" } else { PASSWORD }.to_owned());
        let tool = SqlTool::open("shop", &settings, &server().dir, &secret).unwrap();
        let checked = tool
            .check()
            .await
            .unwrap_or_else(|unusable| format!("{} | {}", unusable.message, unusable.fix.unwrap()));
        let called =
            run_sql(&tool, "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()").await;
        let shown = format!("{tool:?} {checked}");
        assert!(!shown.contains("canary"), "{shown}");
        all.push(everywhere(&format!("{checked} | {called}")));
    }
    insta::assert_snapshot!(all.join("\n"), @"
    The tool `shop`: password authentication failed for user \"ro\" | Check the address in \
        touchstone.yaml, and that the server runs and lets this role in. | error: password \
        authentication failed for user \"ro\"
    The tool `shop`: password authentication failed for user \"nobody\" | Check the address in \
        touchstone.yaml, and that the server runs and lets this role in. | error: password \
        authentication failed for user \"nobody\"
    The tool `shop`: database \"no_such_database\" does not exist | Check the address in \
        touchstone.yaml, and that the server runs and lets this role in. | error: database \
        \"no_such_database\" does not exist
    The tool `shop`: The server cannot be reached: connection refused. | Check the address in \
        touchstone.yaml, and that the server runs and lets this role in. | error: The server \
        cannot be reached: connection refused.
    The tool `shop`: error performing TLS handshake: invalid peer certificate: UnknownIssuer | \
        Check the address in touchstone.yaml, and that the server runs and lets this role in. | \
        error: error performing TLS handshake: invalid peer certificate: UnknownIssuer
    PostgreSQL SOME as ro, which may only read. | [{\"ssl\":true}]
    The tool `shop`: The file of `sslrootcert` holds no certificate that can be read. | Check the \
        address in touchstone.yaml, and that the server runs and lets this role in. | error: The \
        file of `sslrootcert` holds no certificate that can be read.
    PostgreSQL SOME as ro, which may only read. | [{\"ssl\":false}]
    ");
}
