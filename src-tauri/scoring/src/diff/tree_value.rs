//! **Pure.** Converts a comparison into a plain value, for JSON output.
use super::display::Kind;
use super::{Alignment, Counts, Diff, Field, Leaf, List, Node, Piece, PieceKind, Row, Sides};
use touchstone_model::value::Value;

/// Work budget for the changes inside one text.
const WORK_OF_A_TEXT: u64 = 5_000_000;

impl Diff<'_> {
    /// Returns the comparison as a value: `summary`, `equal`, `coarse`, `counts` and the tree.
    pub fn to_value(&self) -> Value {
        object(vec![
            ("summary", text(&self.summary())),
            ("equal", Value::Bool(self.is_equal())),
            ("coarse", Value::Bool(self.is_coarse())),
            ("counts", of_counts(&self.counts)),
            ("diff", of_node(&self.root)),
        ])
    }
}

fn of_counts(counts: &Counts) -> Value {
    let rows = &counts.rows;
    let mut all = vec![
        ("expected", number(counts.expected)),
        ("actual", number(counts.actual)),
        ("right", number(counts.right)),
        ("changed", number(counts.changed)),
        ("missing", number(counts.missing)),
        ("extra", number(counts.extra)),
        ("other_type", number(counts.other_type)),
        ("other_notation", number(counts.other_notation)),
        ("within_tolerance", number(counts.within_tolerance)),
    ];
    if rows.lists > 0 {
        let rows = vec![
            ("expected", number(rows.expected)),
            ("actual", number(rows.actual)),
            ("right", number(rows.right)),
            ("different", number(rows.different)),
            ("missing", number(rows.missing)),
            ("extra", number(rows.extra)),
            ("moved", number(rows.moved)),
        ];
        all.push(("rows", object(rows)));
    }
    object(all)
}

fn of_node(node: &Node<'_>) -> Value {
    match node {
        Node::Same(value) => {
            object(vec![("kind", text("same")), ("value", value.as_ref().clone())])
        }
        Node::Leaf(leaf) => of_leaf(leaf),
        Node::Map(fields) => object(vec![
            ("kind", text(word(node.kind()))),
            ("fields", Value::List(fields.iter().map(of_field).collect())),
        ]),
        Node::List(List { rows, alignment }) => object(vec![
            ("kind", text(word(node.kind()))),
            ("aligned", text(&alignment.words())),
            ("rows", Value::List(rows.iter().map(of_row).collect())),
        ]),
    }
}

fn of_leaf(leaf: &Leaf<'_>) -> Value {
    let mut all = vec![
        ("kind", text(word(leaf.kind()))),
        ("expected", leaf.expected.as_ref().clone()),
        ("actual", leaf.actual.as_ref().clone()),
        ("type_differs", Value::Bool(leaf.type_differs)),
    ];
    if let Some(note) = leaf.note() {
        all.push(("note", text(&note)));
    }
    let inside = leaf.pieces(WORK_OF_A_TEXT);
    if !inside.pieces.is_empty() {
        all.push(("pieces", Value::List(inside.pieces.iter().map(of_piece).collect())));
    }
    if inside.coarse {
        all.push(("coarse", Value::Bool(true)));
    }
    object(all)
}

fn of_piece(piece: &Piece) -> Value {
    let kind = match piece.kind {
        PieceKind::Same => "same",
        PieceKind::Removed => "removed",
        PieceKind::Added => "added",
    };
    object(vec![("kind", text(kind)), ("text", text(&piece.text))])
}

fn of_field(field: &Field<'_>) -> Value {
    let mut all = vec![("key", field.key.as_ref().clone())];
    if !field.counts {
        all.push(("counts", Value::Bool(false)));
    }
    all.extend(of_sides(&field.sides));
    object(all)
}

fn of_row(row: &Row<'_>) -> Value {
    let place = |place: Option<usize>| place.map_or(Value::Null, |place| number(place + 1));
    let mut all = Vec::new();
    if let Some(name) = &row.name {
        all.push(("name", text(name)));
    }
    all.extend([
        ("from", place(row.from)),
        ("to", place(row.to)),
        ("moved", Value::Bool(row.moved)),
    ]);
    all.extend(of_sides(&row.sides));
    object(all)
}

fn of_sides(sides: &Sides<'_>) -> Vec<(&'static str, Value)> {
    match sides {
        Sides::Both(node) => vec![("kind", text(word(node.kind()))), ("diff", of_node(node))],
        Sides::Missing(value) => {
            vec![("kind", text("missing")), ("expected", value.as_ref().clone())]
        }
        Sides::Extra(value) => vec![("kind", text("extra")), ("actual", value.as_ref().clone())],
    }
}

impl Alignment {
    /// Describes the method by which rows were paired: `by ticket_id`.
    pub fn words(&self) -> String {
        match self {
            Alignment::Key { fields, .. } => format!("by {}", fields.join(" and ")),
            Alignment::Likeness { .. } => "by likeness".to_owned(),
            Alignment::Value => "by value".to_owned(),
            Alignment::Place => "by position".to_owned(),
        }
    }
}

fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::Same => "same",
        Kind::Alike => "alike",
        Kind::Changed => "changed",
        Kind::Missing => "missing",
        Kind::Extra => "extra",
    }
}

fn object(entries: Vec<(&str, Value)>) -> Value {
    Value::Map(entries.into_iter().map(|(key, value)| (Value::from(key), value)).collect())
}

fn text(text: &str) -> Value {
    Value::from(text)
}

fn number(number: usize) -> Value {
    Value::Number(number.to_string())
}
