//! Minimal gzip encoder: packs replies for tests, and makes small ones that are huge when unpacked.

/// Packs bytes without compressing them.
pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
    let mut pieces = bytes.chunks(0xffff).peekable();
    while let Some(piece) = pieces.next() {
        let length = u16::try_from(piece.len()).unwrap();
        packed.push(u8::from(pieces.peek().is_none()));
        packed.extend(length.to_le_bytes());
        packed.extend((!length).to_le_bytes());
        packed.extend(piece);
    }
    packed.extend(checksum(bytes).to_le_bytes());
    packed.extend(u32::try_from(bytes.len()).unwrap().to_le_bytes());
    packed
}

fn checksum(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |mut sum, byte| {
        sum ^= u32::from(*byte);
        for _ in 0..8 {
            sum = (sum >> 1) ^ (0xedb8_8320 & (sum & 1).wrapping_neg());
        }
        sum
    })
}

/// Packs zeros: one zero, then copies of the last 258 bytes in thirteen bits each. It ends without
/// a checksum, since a reader that gets so far has already read too much.
pub(crate) fn zeros_in_gzip(length: usize) -> Vec<u8> {
    let mut packed = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
    let (mut held, mut bits) = (0u32, 0);
    let mut put = |code: u32, width: u32| {
        held |= code << bits;
        bits += width;
        while bits >= 8 {
            packed.push(held.to_le_bytes()[0]);
            held >>= 8;
            bits -= 8;
        }
    };
    // Header of the last block, with fixed codes, which are written from their highest bit.
    put(0b011, 3);
    put(0b0000_1100, 8);
    for _ in 0..length / 258 {
        put(0b1010_0011, 8);
        put(0, 5);
    }
    put(0, 7 + 8);
    packed
}
