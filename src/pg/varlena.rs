//! Values of variable length: `text`, `bytea`, `jsonb`.

use std::mem::MaybeUninit;

use pgrx::{pg_sys, varlena};

use crate::pg::memory;

/// Copies bytes into a `text` or `bytea` in the current memory context.
pub fn varlena(bytes: &[u8]) -> pg_sys::Datum {
    // SAFETY: copies `len` bytes from a valid slice.
    let text = unsafe { pg_sys::cstring_to_text_with_len(bytes.as_ptr().cast(), bytes.len() as i32) };
    pg_sys::Datum::from(text)
}

/// Memory for the short texts of one row.
///
/// They have a header of one byte, as in a stored row, so PostgreSQL copies them into the row without converting them.
pub struct ShortTexts {
    bytes: [MaybeUninit<u8>; 1024],
    used: usize,
}

impl ShortTexts {
    /// The size of a value with a header of one byte may be up to this.
    const MAX: usize = 127;

    pub const fn new() -> Self {
        Self { bytes: [MaybeUninit::uninit(); 1024], used: 0 }
    }

    /// Copies bytes into a `text` or `bytea`, which lives as long as this. A long one, and one for which there is no room,
    /// is in the current memory context.
    pub fn varlena(&mut self, bytes: &[u8]) -> pg_sys::Datum {
        let size = bytes.len() + 1;
        match self.bytes.get_mut(self.used..self.used + size) {
            Some(room) if size <= Self::MAX => {
                self.used += size;
                let start = room.as_mut_ptr().cast::<u8>();
                // SAFETY: the header and the bytes have room there.
                unsafe {
                    varlena::set_varsize_short(start.cast(), size as i32);
                    start.add(1).copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
                }
                pg_sys::Datum::from(start)
            }
            _ => varlena(bytes),
        }
    }
}

/// Size of a varlena's data when detoasted, without detoasting it.
///
/// # Safety
/// The datum must be a varlena.
pub unsafe fn size_of_varlena(datum: pg_sys::Datum) -> usize {
    // SAFETY: a varlena, as the caller promised. Only of what is compressed or stored outside PostgreSQL is asked.
    unsafe {
        let pointer = datum.cast_mut_ptr::<pg_sys::varlena>();
        if varlena::varatt_is_1b_e(pointer) || varlena::varatt_is_4b_c(pointer) {
            return pg_sys::toast_raw_datum_size(datum).saturating_sub(size_of::<u32>());
        }
        varlena::varsize_any_exhdr(pointer)
    }
}

/// Copies the data out of a varlena. There must be room for it within the memory limit.
///
/// # Safety
/// As for [`size_of_varlena`].
pub unsafe fn bytes_of(datum: pg_sys::Datum) -> Vec<u8> {
    // SAFETY: as promised; only a compressed or out-of-line varlena must be detoasted.
    unsafe {
        memory::room(size_of_varlena(datum));
        let mut pointer = datum.cast_mut_ptr::<pg_sys::varlena>();
        if varlena::varatt_is_1b_e(pointer) || varlena::varatt_is_4b_c(pointer) {
            pointer = pg_sys::pg_detoast_datum_packed(pointer);
        }
        varlena::varlena_to_byte_slice(pointer).to_vec()
    }
}
