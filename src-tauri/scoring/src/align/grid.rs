//! **Pure.** Finds the ordered set of pairs with the greatest total worth (Needleman-Wunsch),
//! limited to a band around the diagonal if the whole grid is too large.
use std::ops::Range;

/// A range of steps of one run against a range of another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Area {
    pub(crate) a: Range<usize>,
    pub(crate) b: Range<usize>,
}

impl Area {
    /// Returns the number of possible pairs.
    pub(crate) fn cells(&self) -> usize {
        self.a.len().saturating_mul(self.b.len())
    }

    /// Returns true if no pair is possible.
    pub(crate) fn is_empty(&self) -> bool {
        self.a.is_empty() || self.b.is_empty()
    }

    /// Returns the areas before and after a pair.
    pub(crate) fn cut(&self, a: usize, b: usize) -> [Self; 2] {
        [
            Self { a: self.a.start..a, b: self.b.start..b },
            Self { a: a + 1..self.a.end, b: b + 1..self.b.end },
        ]
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Move {
    Pair,
    SkipA,
    SkipB,
}

/// Returns the pairs with the greatest total worth, and true if the whole grid was considered (at
/// most `most` cells). Ties go to the earlier pair.
pub(crate) fn best(
    area: &Area,
    most: usize,
    worth: &dyn Fn(usize, usize) -> u32,
) -> (Vec<(usize, usize)>, bool) {
    if area.is_empty() {
        return (Vec::new(), true);
    }
    let (rows, columns) = (area.a.len(), area.b.len());
    let band = Band::new(rows, columns, most);
    let mut ways: Vec<Vec<Move>> = Vec::with_capacity(rows + 1);
    let mut below = vec![0_u64; band.row(rows).len()];
    ways.push(vec![Move::SkipB; below.len()]);
    for row in (0..rows).rev() {
        let (here, under) = (band.row(row), band.row(row + 1));
        let at = |column: usize| under.contains(&column).then(|| below[column - under.start]);
        let mut line = vec![0_u64; here.len()];
        let mut way = vec![Move::SkipA; here.len()];
        let mut right = None;
        for column in here.clone().rev() {
            let pair = (column < columns)
                .then(|| worth(area.a.start + row, area.b.start + column))
                .filter(|it| *it > 0);
            let pair = pair.and_then(|it| Some(at(column + 1)? + u64::from(it)));
            let skip = at(column);
            let most = pair.max(skip).max(right).unwrap_or(0);
            line[column - here.start] = most;
            way[column - here.start] = match () {
                () if pair == Some(most) => Move::Pair,
                () if skip == Some(most) => Move::SkipA,
                () => Move::SkipB,
            };
            right = Some(most);
        }
        below = line;
        ways.push(way);
    }
    ways.reverse();
    (trace(area, &band, &ways), band.whole)
}

fn trace(area: &Area, band: &Band, ways: &[Vec<Move>]) -> Vec<(usize, usize)> {
    let (mut row, mut column) = (0, 0);
    let mut pairs = Vec::new();
    while row < area.a.len() && column < area.b.len() {
        match ways[row][column - band.row(row).start] {
            Move::Pair => {
                pairs.push((area.a.start + row, area.b.start + column));
                row += 1;
                column += 1;
            }
            Move::SkipA => row += 1,
            Move::SkipB => column += 1,
        }
    }
    pairs
}

/// The columns that are considered in each row.
struct Band {
    rows: usize,
    columns: usize,
    reach: usize,
    whole: bool,
}

impl Band {
    fn new(rows: usize, columns: usize, most: usize) -> Self {
        let whole = rows.saturating_mul(columns) <= most;
        // The bands of consecutive rows must overlap.
        let reach = if whole { columns } else { (most / rows / 2).max(columns / rows + 1) };
        Self { rows, columns, reach, whole }
    }

    fn row(&self, row: usize) -> Range<usize> {
        let middle = row * self.columns / self.rows;
        middle.saturating_sub(self.reach)
            ..(middle.saturating_add(self.reach) + 1).min(self.columns + 1)
    }
}
