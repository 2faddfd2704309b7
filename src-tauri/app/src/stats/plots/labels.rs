//! **Pure.** Places labels beside points so that they cover neither each other nor a point.
use touchstone_api::ScatterLabel;

/// Width of a character and height of a line, at 12 pixels.
const CHAR: f64 = 6.7;
const LINE: f64 = 14.0;
/// Half the size of the mark of a point.
const MARK: f64 = 6.0;
/// Distances that are tried, from the point to the label; beyond the first a line connects them.
const DISTANCES: [f64; 6] = [9.0, 18.0, 30.0, 44.0, 60.0, 80.0];

/// Directions that are tried: right and down.
const AROUND: [(f64, f64); 8] = [
    (1.0, 0.0),
    (-1.0, 0.0),
    (0.0, -1.0),
    (0.0, 1.0),
    (1.0, -1.0),
    (1.0, 1.0),
    (-1.0, -1.0),
    (-1.0, 1.0),
];

/// Rectangle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Area {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) right: f64,
    pub(super) bottom: f64,
}

/// Position of a label.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Placed {
    at: Area,
    line: Option<[f64; 2]>,
}

impl Area {
    fn meets(&self, other: &Self) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    fn is_in(&self, area: &Self) -> bool {
        self.left >= area.left
            && self.right <= area.right
            && self.top >= area.top
            && self.bottom <= area.bottom
    }
}

impl Placed {
    /// Returns the label with its text.
    pub(super) fn label(self, text: String) -> ScatterLabel {
        let round = |value: f64| (value * 10.0).round() / 10.0;
        ScatterLabel {
            text,
            x: round(self.at.left),
            y: round(self.at.bottom - 3.0),
            line: self.line.map(|end| end.map(round)),
        }
    }
}

/// Places one label for each point, within the area. `None` for a label without room.
pub(super) fn place_labels(
    texts: &[String],
    points: &[(f64, f64)],
    area: Area,
) -> Vec<Option<Placed>> {
    let marks: Vec<Area> = points
        .iter()
        .map(|(x, y)| Area { left: x - MARK, top: y - MARK, right: x + MARK, bottom: y + MARK })
        .collect();
    let mut taken: Vec<Area> = Vec::new();
    let mut placed = Vec::new();
    for (text, point) in texts.iter().zip(points) {
        let free = candidates(width(text), *point).find(|(at, _)| {
            at.is_in(&area)
                && !marks.iter().any(|mark| mark.meets(at))
                && !taken.iter().any(|other| other.meets(at))
        });
        taken.extend(free.map(|(at, _)| at));
        placed.push(free.map(|(at, line)| Placed { at, line }));
    }
    placed
}

/// Returns the positions around a point that are tried, nearest first.
fn candidates(width: f64, (x, y): (f64, f64)) -> impl Iterator<Item = (Area, Option<[f64; 2]>)> {
    DISTANCES.into_iter().enumerate().flat_map(move |(ring, distance)| {
        AROUND.into_iter().map(move |(right, down)| {
            let middle = (x + right * distance, y + down * (distance + LINE / 4.0));
            let left = if right > 0.0 {
                middle.0
            } else if right < 0.0 {
                middle.0 - width
            } else {
                middle.0 - width / 2.0
            };
            let top = middle.1 - LINE / 2.0;
            let at = Area { left, top, right: left + width, bottom: top + LINE };
            let end = [middle.0, middle.1 - down * LINE / 2.0];
            (at, (ring > 0).then_some(end))
        })
    })
}

/// Returns the width of a text; wide characters take two places.
fn width(text: &str) -> f64 {
    let chars = text.chars().map(|c| if u32::from(c) >= 0x1100 { 2.0 } else { 1.0 });
    chars.sum::<f64>() * CHAR
}
