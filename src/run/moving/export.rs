//! Packing instances, and what belongs to their correlation ids.

use std::collections::{BTreeSet, HashMap, HashSet};

use uuid::Uuid;
use workflow_engine::bundle::{self, Bundle, Last, Owner, Table};

use super::{admitted, begin, lock_trees, of_node, roots};
use crate::pg::function::Predicate;
use crate::pg::{PgError, interrupt};
use crate::store::moving::{self, References, Rows};
use crate::store::{owners, partitions};

/// Bytes of the rows of a piece at most, unless one tree has more.
const MOST: usize = 15 << 20;
/// Trees, or correlation ids, of the first piece.
const FIRST: usize = 500;

/// What is exported.
pub enum Selection {
    /// These correlation ids.
    Keys(Vec<String>),
    /// Those for which a function says yes.
    Predicate(Predicate),
}

/// Packs the trees of the selected correlation ids and what else belongs to these, and removes it if it is to leave.
///
/// # Errors
/// 25001 above READ COMMITTED, 55000 for a tree with correlation ids that are not all selected, 40001 if something was sent or
/// taken while it was packed.
pub fn export(selection: Selection, removes: bool) -> Result<Vec<Vec<u8>>, PgError> {
    begin("export instances")?;
    let mut keys = match selection {
        Selection::Keys(keys) => keys,
        Selection::Predicate(predicate) => admitted(&predicate)?,
    };
    keys.sort_unstable();
    keys.dedup();
    if removes {
        // Calls for these keys end first, and later ones find where the keys are then.
        partitions::lock_of(&keys);
    }
    let mut keyed = Vec::new();
    let trees = lock_trees(|| {
        keyed = moving::with_keys(&keys, &of_node());
        roots(&keyed)
    });
    let all: Vec<Uuid> = trees.iter().flatten().copied().collect();
    let mut keyed: HashMap<Uuid, String> = keyed.into_iter().map(|instance| (instance.id, instance.key)).collect();
    let others: Vec<Uuid> = all.iter().filter(|id| !keyed.contains_key(id)).copied().collect();
    keyed.extend(moving::keys_of(&others));
    if let Some((id, key)) = stray(&all, &keyed, &keys) {
        return Err(PgError::new("55000", format!("workflow instance {id} is of a tree with several correlation ids"))
            .detail(format!("Its own is \"{key}\"; a tree moves as a whole."))
            .hint("Export all of its correlation ids together."));
    }
    moving::lock_keys(&keys);
    let (pieces, count) = pieces(&trees, &keyed, &keys);
    // What came, expired or was delivered meanwhile would be lost, or be on both nodes.
    if removes && Rows::Instances(&all).delete() + Rows::Keys(&keys).delete() != count {
        return Err(PgError::new("40001", "could not export instances due to concurrent update")
            .detail("Not all that was packed, or more than that, was there to be removed.")
            .hint("Repeat the transaction, and keep calls for what moves away with workflow.route_check."));
    }
    Ok(pieces)
}

/// An instance of these trees with another correlation id than these, or one with such an id in another tree. `keyed` has all
/// instances with a correlation id of both kinds.
fn stray(ids: &[Uuid], keyed: &HashMap<Uuid, String>, keys: &[String]) -> Option<(Uuid, String)> {
    let moves: HashSet<&Uuid> = ids.iter().collect();
    let stays = |(id, key): &(&Uuid, &String)| !moves.contains(id) || keys.binary_search(key).is_err();
    keyed.iter().filter(stays).map(|(id, key)| (*id, key.clone())).min()
}

/// The pieces, and how many rows they have.
fn pieces(trees: &[Vec<Uuid>], keyed: &HashMap<Uuid, String>, keys: &[String]) -> (Vec<Vec<u8>>, u64) {
    let mut parts = Vec::new();
    split(trees, &mut parts, |trees| {
        let ids: Vec<Uuid> = trees.iter().flatten().copied().collect();
        let keys = ids.iter().filter_map(|id| keyed.get(id)).cloned().collect();
        Part::of(keys, Rows::Instances(&ids))
    });
    split(keys, &mut parts, |keys| Part::of(keys.iter().cloned().collect(), Rows::Keys(keys)));
    let (set, count) = (Uuid::new_v4(), parts.len());
    let rows = parts.iter().map(|part| part.rows).sum();
    let mut digests = Vec::with_capacity(count);
    let packed = parts.into_iter().enumerate().map(|(i, part)| {
        interrupt::check();
        let last = (i + 1 == count).then(|| Last { digest: bundle::digest_of(&digests) });
        let bytes = part.bundled(set, i, last).pack();
        digests.extend(bundle::digest_in(&bytes));
        bytes
    });
    (packed.collect(), rows)
}

/// What a piece is made of.
struct Part {
    /// Correlation ids of the rows.
    keys: BTreeSet<String>,
    tables: Vec<Table>,
    references: References,
    /// Rows of these tables.
    rows: u64,
}

impl Part {
    fn of(keys: BTreeSet<String>, rows: Rows<'_>) -> Self {
        let (tables, references, rows) = rows.pack();
        Self { keys, tables, references, rows }
    }

    fn bundled(self, set: Uuid, i: usize, last: Option<Last>) -> Bundle {
        let owner = |id| Owner { id, role: owners::by_id(id).title() };
        Bundle {
            set,
            piece: u32::try_from(i + 1).unwrap_or(u32::MAX),
            last,
            keys: self.keys.into_iter().collect(),
            owners: self.references.owners.into_iter().map(owner).collect(),
            definitions: moving::definitions(&self.references.versions.into_iter().collect::<Vec<_>>()),
            tables: self.tables,
        }
    }
}

/// Packs items in parts of the size of a piece.
fn split<T>(mut items: &[T], parts: &mut Vec<Part>, pack: impl Fn(&[T]) -> Part) {
    let mut count = FIRST;
    while !items.is_empty() {
        interrupt::check();
        let taken = count.min(items.len());
        let part = pack(&items[..taken]);
        let size = part.tables.iter().map(Table::size).sum::<usize>().max(1);
        // The next ones are about as large.
        count = (taken.saturating_mul(MOST) / size / 2).clamp(1, taken.saturating_mul(4));
        if size > MOST && taken > 1 {
            continue;
        }
        if !part.tables.is_empty() {
            parts.push(part);
        }
        items = &items[taken..];
    }
}
