//! **Pure.** Values of a column in as few bytes as they need: whole numbers as narrow as the widest of
//! them, fractions, paths, and texts of which each is kept once.
use std::collections::HashMap;
use std::sync::Arc;

/// Whole numbers, each as wide as the widest of them needs. The smallest number of a width stands for
/// none.
#[derive(Debug, Clone)]
pub(super) enum Ints {
    I8(Vec<i8>),
    I16(Vec<i16>),
    I32(Vec<i32>),
    I64(Vec<i64>),
}

/// A width of whole numbers.
trait Width: Copy + PartialEq {
    const NONE: Self;
    fn narrow(wide: i64) -> Option<Self>;
    fn wide(self) -> i64;

    fn is_none(self) -> bool {
        self == Self::NONE
    }
}

macro_rules! widths {
    ($($width:ty),*) => {$(
        impl Width for $width {
            const NONE: Self = <$width>::MIN;

            fn narrow(wide: i64) -> Option<Self> {
                Self::try_from(wide).ok().filter(|small| *small != Self::NONE)
            }

            fn wide(self) -> i64 {
                i64::from(self)
            }
        }
    )*};
}
widths!(i8, i16, i32);

impl Width for i64 {
    const NONE: Self = i64::MIN;

    /// Takes the smallest number for none, which no value of a run is.
    fn narrow(wide: i64) -> Option<Self> {
        Some(wide)
    }

    fn wide(self) -> i64 {
        self
    }
}

/// Does the same with the numbers of any width.
macro_rules! of_any_width {
    ($ints:expr, $all:ident => $act:expr) => {
        match $ints {
            Ints::I8($all) => $act,
            Ints::I16($all) => $act,
            Ints::I32($all) => $act,
            Ints::I64($all) => $act,
        }
    };
}

impl Default for Ints {
    fn default() -> Self {
        Self::I8(Vec::new())
    }
}

impl Ints {
    pub(super) fn get(&self, at: usize) -> Option<i64> {
        of_any_width!(self, all => all.get(at).filter(|one| !one.is_none()).map(|one| one.wide()))
    }

    pub(super) fn set(&mut self, at: usize, value: Option<i64>) {
        while !of_any_width!(self, all => put(all, at, value)) {
            *self = match self {
                Self::I8(all) => Self::I16(widened(all, |one| i16::narrow(one.wide()))),
                Self::I16(all) => Self::I32(widened(all, |one| i32::narrow(one.wide()))),
                Self::I32(all) => Self::I64(widened(all, |one| Some(one.wide()))),
                Self::I64(_) => return,
            };
        }
    }

    /// Calls `each` with every number that there is.
    pub(super) fn for_each(&self, mut each: impl FnMut(usize, i64)) {
        of_any_width!(self, all => for (at, one) in all.iter().enumerate() {
            if !one.is_none() {
                each(at, one.wide());
            }
        });
    }

    /// Sets the bits of the numbers that pass.
    pub(super) fn mark(&self, bits: &mut [u64], passes: impl Fn(i64) -> bool) {
        of_any_width!(self, all => for (word, some) in bits.iter_mut().zip(all.chunks(64)) {
            for (bit, one) in some.iter().enumerate() {
                *word |= u64::from(!one.is_none() && passes(one.wide())) << bit;
            }
        });
    }

    /// Number of bytes in memory.
    pub(super) fn bytes(&self) -> usize {
        of_any_width!(self, all => std::mem::size_of_val(all.as_slice()))
    }
}

fn put<T: Width>(all: &mut Vec<T>, at: usize, value: Option<i64>) -> bool {
    let Some(value) = value.map_or(Some(T::NONE), T::narrow) else { return false };
    if at >= all.len() {
        all.resize(at + 1, T::NONE);
    }
    all[at] = value;
    true
}

fn widened<T: Width, U: Width>(all: &[T], widen: impl Fn(T) -> Option<U>) -> Vec<U> {
    let one = |one: &T| if *one == T::NONE { U::NONE } else { widen(*one).unwrap_or(U::NONE) };
    all.iter().map(one).collect()
}

/// Fractions; not a number for none. Empty when there is none at all.
#[derive(Debug, Clone, Default)]
pub(super) struct Reals(Vec<f64>);

impl Reals {
    pub(super) fn get(&self, at: usize) -> Option<f64> {
        self.0.get(at).copied().filter(|one| !one.is_nan())
    }

    pub(super) fn set(&mut self, at: usize, value: Option<f64>) {
        if at >= self.0.len() {
            if value.is_none() {
                return;
            }
            self.0.resize(at + 1, f64::NAN);
        }
        self.0[at] = value.unwrap_or(f64::NAN);
    }

    /// Sets the bits of the numbers that pass.
    pub(super) fn mark(&self, bits: &mut [u64], passes: impl Fn(f64) -> bool) {
        for (word, some) in bits.iter_mut().zip(self.0.chunks(64)) {
            for (bit, one) in some.iter().enumerate() {
                *word |= u64::from(!one.is_nan() && passes(*one)) << bit;
            }
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.0.len() * size_of::<f64>()
    }
}

/// Paths, one after the other in one text.
#[derive(Debug, Clone, Default)]
pub(super) struct Paths {
    text: String,
    /// Where each starts and ends.
    spans: Vec<(u32, u32)>,
    /// Number of bytes that belong to no run any more.
    dead: usize,
}

impl Paths {
    pub(super) fn get(&self, at: usize) -> &str {
        let span = self.spans.get(at).map(|(from, to)| *from as usize..*to as usize);
        span.and_then(|span| self.text.get(span)).unwrap_or_default()
    }

    /// Returns false when there is no more room.
    pub(super) fn set(&mut self, at: usize, path: &str) -> bool {
        if self.get(at) == path && at < self.spans.len() {
            return true;
        }
        if at >= self.spans.len() {
            self.spans.resize(at + 1, (0, 0));
        }
        self.dead += self.get(at).len();
        self.spans[at] = (0, 0);
        if self.dead > self.text.len() / 2 {
            self.tidy();
        }
        let ends = (u32::try_from(self.text.len()), u32::try_from(self.text.len() + path.len()));
        let (Ok(from), Ok(to)) = ends else { return false };
        self.text.push_str(path);
        self.spans[at] = (from, to);
        true
    }

    fn tidy(&mut self) {
        let mut text = String::with_capacity(self.text.len() - self.dead);
        for span in &mut self.spans {
            let path = self.text.get(span.0 as usize..span.1 as usize).unwrap_or_default();
            // Fits, as it is at most what it was.
            let from = u32::try_from(text.len()).unwrap_or(u32::MAX);
            text.push_str(path);
            *span = (from, u32::try_from(text.len()).unwrap_or(u32::MAX));
        }
        (self.text, self.dead) = (text, 0);
    }

    pub(super) fn bytes(&self) -> usize {
        self.text.len() + std::mem::size_of_val(self.spans.as_slice())
    }
}

/// Texts of a column with their codes.
#[derive(Debug, Clone, Default)]
pub(super) struct Names {
    all: Vec<Arc<str>>,
    by_text: HashMap<Arc<str>, u32>,
    bytes: usize,
}

impl Names {
    pub(super) fn code(&self, text: &str) -> Option<u32> {
        self.by_text.get(text).copied()
    }

    /// Returns the code of a text that has none yet.
    pub(super) fn add(&mut self, text: &str) -> u32 {
        /// Bytes that a text takes beside its letters.
        const BESIDE: usize = 80;
        let code = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
        let text: Arc<str> = text.into();
        self.bytes += text.len() + BESIDE;
        self.all.push(Arc::clone(&text));
        self.by_text.insert(text, code);
        code
    }

    pub(super) fn all(&self) -> &[Arc<str>] {
        &self.all
    }

    /// Returns the place of each code in the order of the texts.
    pub(super) fn ranks(&self) -> Vec<u32> {
        let mut order: Vec<(u32, &Arc<str>)> = (0..).zip(&self.all).collect();
        order.sort_unstable_by(|(_, one), (_, other)| one.as_bytes().cmp(other.as_bytes()));
        let mut ranks = vec![0; order.len()];
        for (rank, (code, _)) in (0..).zip(order) {
            ranks[code as usize] = rank;
        }
        ranks
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }
}
