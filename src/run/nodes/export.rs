//! Exporting instances, and everything else that belongs to their correlation ids.

use std::collections::{BTreeSet, HashMap, HashSet};

use uuid::Uuid;
use workflow_engine::bundle::{self, Bundle, Last, Owner, Table};

use super::{admitted, begin, lock_trees, of_node, roots};
use crate::pg::function::Predicate;
use crate::pg::{PgError, interrupt};
use crate::run::call::running::{self, RunningGuard};
use crate::store::events::queue;
use crate::store::nodes::moving::{self, Contents, MovedRows, References};
use crate::store::nodes::partitions;
use crate::store::rights::owners;
use crate::wake;

/// Maximum size of the rows of a piece in bytes, unless one tree has more.
const MAX_PIECE_BYTES: usize = 15 << 20;
/// Number of trees or correlation ids in the first piece.
const FIRST: usize = 500;

/// The instances to export.
pub enum Selection {
    /// These correlation ids.
    Keys(Vec<String>),
    /// Those for which a function returns true.
    Predicate(Predicate),
}

/// Packs the trees of the selected correlation ids and everything else that belongs to these, and removes it if
/// `removes`.
///
/// # Errors
/// 25001 above READ COMMITTED, 55000 for a tree with correlation ids that are not all selected; with `removes`, 40001
/// if something was started or sent for them meanwhile, and 27000 if a trigger prevents the deletion of a row.
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
    if let Some((id, key)) = outside(&all, &keyed, &keys) {
        return Err(PgError::new("55000", format!("workflow instance {id} is of a tree with several correlation ids"))
            .detail(format!("Its own is \"{key}\"; a tree moves as a whole."))
            .hint("Export all of its correlation ids together."));
    }
    moving::lock_keys(&keys);
    let of_trees = split(&trees, |trees| {
        let ids: Vec<Uuid> = trees.iter().flatten().copied().collect();
        let keys = ids.iter().filter_map(|id| keyed.get(id)).cloned().collect();
        PieceContents { keys, contents: MovedRows::Instances(&ids).pack() }
    });
    let of_keys = split(&keys, |keys| {
        let contents = MovedRows::Keys(keys).pack();
        PieceContents { keys: keys.iter().cloned().collect(), contents }
    });
    if removes {
        remove(MovedRows::Instances(&all), &of_trees, &all)?;
        remove(MovedRows::Keys(&keys), &of_keys, &[])?;
        // Removed rows make room for pending instances, and for tasks that wait for a slot.
        wake::report_pending_starts(true);
        wake::report_any_task();
        // The messages of wf_call leave together with their effects: an instance that such a call started is here if
        // its message was.
        if !moving::with_keys(&keys, &of_node()).is_empty() {
            return Err(moving::arrived());
        }
    }
    Ok(bundles(of_trees.into_iter().chain(of_keys).filter(|piece| !piece.contents.tables.is_empty()).collect()))
}

/// Removes the rows in the pieces, provided that no other rows have been added. Row triggers run as if inside a burst,
/// because they see incomplete data.
fn remove(rows: MovedRows<'_>, pieces: &[PieceContents], instances: &[Uuid]) -> Result<(), PgError> {
    let mark = RunningGuard::moving(instances);
    rows.remove(&pieces.iter().map(|piece| &piece.contents).collect::<Vec<_>>())?;
    drop(mark);
    let told = || instances.iter().find(|id| !queue::take_deferred(**id).is_empty());
    if let Some(id) = running::may_have_deferred().then(told).flatten() {
        return Err(PgError::new("55000", format!("trigger sent a stimulus to workflow instance {id}, which leaves"))
            .hint("Let its function pass over rows that wf_export_instances removes."));
    }
    Ok(())
}

/// An instance of these trees with a correlation id outside `keys`, or one with such an id in another tree. `keyed` has
/// all instances with a correlation id of both kinds.
fn outside(ids: &[Uuid], keyed: &HashMap<Uuid, String>, keys: &[String]) -> Option<(Uuid, String)> {
    let moves: HashSet<&Uuid> = ids.iter().collect();
    let stays = |(id, key): &(&Uuid, &String)| !moves.contains(id) || keys.binary_search(key).is_err();
    keyed.iter().filter(stays).map(|(id, key)| (*id, key.clone())).min()
}

fn bundles(pieces: Vec<PieceContents>) -> Vec<Vec<u8>> {
    let (set, count) = (Uuid::new_v4(), pieces.len());
    let mut digests = Vec::with_capacity(count);
    let packed = pieces.into_iter().enumerate().map(|(i, piece)| {
        interrupt::check();
        let last = (i + 1 == count).then(|| Last { digest: bundle::digest_of(&digests) });
        let bytes = piece.bundled(set, i, last).pack();
        digests.extend(bundle::digest_in(&bytes));
        bytes
    });
    packed.collect()
}

/// The rows of one piece, before they are bundled.
struct PieceContents {
    /// Correlation ids of the rows.
    keys: BTreeSet<String>,
    contents: Contents,
}

impl PieceContents {
    fn bundled(self, set: Uuid, i: usize, last: Option<Last>) -> Bundle {
        let Contents { tables, references: References { owners, versions }, .. } = self.contents;
        let owner = |id| Owner { id, role: owners::by_id(id).title() };
        Bundle {
            set,
            piece: u32::try_from(i + 1).unwrap_or(u32::MAX),
            last,
            keys: self.keys.into_iter().collect(),
            owners: owners.into_iter().map(owner).collect(),
            definitions: moving::definitions(&versions.into_iter().collect::<Vec<_>>()),
            tables,
        }
    }
}

/// Packs items in pieces of the usual size.
fn split<T>(mut items: &[T], pack: impl Fn(&[T]) -> PieceContents) -> Vec<PieceContents> {
    let (mut pieces, mut count) = (Vec::new(), FIRST);
    while !items.is_empty() {
        interrupt::check();
        let taken = count.min(items.len());
        let piece = pack(&items[..taken]);
        let size = piece.contents.tables.iter().map(Table::size).sum::<usize>().max(1);
        // The next ones are about as large.
        count = (taken.saturating_mul(MAX_PIECE_BYTES) / size / 2).clamp(1, taken.saturating_mul(4));
        if size > MAX_PIECE_BYTES && taken > 1 {
            continue;
        }
        pieces.push(piece);
        items = &items[taken..];
    }
    pieces
}
