//! FNV-1a in 64 bits: finds damage, not malice. A changed byte always changes it.

/// The hash so far.
#[derive(Clone, Copy)]
pub(super) struct Fnv(u64);

impl Fnv {
    pub fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    pub fn add(mut self, bytes: &[u8]) -> Self {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        self
    }

    pub fn digits(self) -> String {
        format!("{:016x}", self.0)
    }

    pub fn value(self) -> u64 {
        self.0
    }
}

/// The hash of a file's bytes, as plans and manifests have it: FNV-1a, 64 bits, 16 hexadecimal digits.
pub fn hash_bytes(bytes: &[u8]) -> String {
    Fnv::new().add(bytes).digits()
}
