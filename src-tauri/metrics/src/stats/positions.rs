//! **Pure.** Positions that resampling draws. They depend on the number of clusters and the seed
//! alone, so statistics of the same tasks share them.
use super::Resampling;
use super::draw::Draw;
use std::sync::{Arc, Mutex, PoisonError};

/// Number of resamples whose positions stand side by side.
pub(super) const BESIDE: usize = 8;
/// Maximum number of positions that are kept: 16 MB.
const MOST: usize = 1 << 23;

/// Positions that are kept, those used last first.
static KEPT: Mutex<Vec<Kept>> = Mutex::new(Vec::new());

/// Positions for a number of clusters and a resampling.
type Kept = ((usize, Resampling), Arc<Vec<u16>>);

/// Returns the positions of all resamples: of eight resamples first the first positions, then the
/// second ones and so on, and then those of the next eight. There are at most 65,536 clusters.
pub(super) fn positions(clusters: usize, resampling: Resampling) -> Arc<Vec<u16>> {
    let key = (clusters, resampling);
    if let Some(known) = find(key) {
        return known;
    }
    let drawn = Arc::new(draw(clusters, resampling));
    keep(key, &drawn);
    drawn
}

fn draw(clusters: usize, resampling: Resampling) -> Vec<u16> {
    let blocks = resampling.times.div_ceil(BESIDE);
    let mut drawn = vec![0; blocks * BESIDE * clusters];
    let mut draw = Draw::new(resampling.seed);
    for block in drawn.chunks_mut(BESIDE * clusters.max(1)) {
        for resample in 0..BESIDE {
            for to in block.iter_mut().skip(resample).step_by(BESIDE) {
                *to = u16::try_from(draw.below(clusters)).unwrap_or(u16::MAX);
            }
        }
    }
    drawn
}

fn find(key: (usize, Resampling)) -> Option<Arc<Vec<u16>>> {
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let at = kept.iter().position(|(known, _)| *known == key)?;
    kept[..=at].rotate_right(1);
    kept.first().map(|(_, drawn)| Arc::clone(drawn))
}

fn keep(key: (usize, Resampling), drawn: &Arc<Vec<u16>>) {
    let Some(mut room) = MOST.checked_sub(drawn.len()) else { return };
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    kept.retain(|(known, other)| {
        let left = room.checked_sub(other.len()).filter(|_| *known != key);
        room = left.unwrap_or(room);
        left.is_some()
    });
    kept.insert(0, (key, Arc::clone(drawn)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resamples_draw_one_after_another_and_stand_side_by_side() {
        let resampling = Resampling { times: 21, seed: 9 };
        let drawn = positions(5, resampling);
        let mut draw = Draw::new(9);
        for resample in 0..21 {
            for at in 0..5 {
                let block = resample / BESIDE * BESIDE * 5;
                let found = drawn[block + at * BESIDE + resample % BESIDE];
                assert_eq!(usize::from(found), draw.below(5), "{resample} {at}");
            }
        }
        assert_eq!(positions(5, resampling), drawn);
    }

    #[test]
    fn what_is_kept_is_bounded() {
        for clusters in 100..140 {
            let drawn = positions(clusters, Resampling { times: 4_000, seed: 1 });
            assert_eq!(drawn.len(), clusters * 4_000);
            let kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
            assert!(kept.iter().map(|(_, drawn)| drawn.len()).sum::<usize>() <= MOST);
        }
    }
}
