//! Maps the activities of the old version to those of the new one.

use std::collections::{BTreeMap, HashMap};

use crate::migration::{Mapping, Problem};
use crate::node_ix::NodeIx;
use crate::program::Program;

/// Number of activities after which `check` is called.
const CHECK_EVERY: usize = 1024;

/// The counterpart of an activity of the old version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counterpart {
    /// This activity of the new version.
    At(NodeIx),
    /// None: the mapping cancels what is open there.
    Cancelled,
    /// None: the new version does not have it.
    Missing,
}

/// The counterparts of all activities of the old version, by their numbers.
#[derive(Debug)]
pub(super) struct Counterparts(Vec<Counterpart>);

/// The activities of a program by node id and by id.
struct Named<'p> {
    by_path: HashMap<&'p str, NodeIx>,
    by_id: HashMap<&'p str, Vec<NodeIx>>,
    /// By the enclosing activity, and id.
    by_key: HashMap<(Option<NodeIx>, &'p str), NodeIx>,
}

/// The number of activities with a node id or an id: one, none, or several.
enum NameLookup {
    One(NodeIx),
    None,
    Many(usize),
}

impl<'p> Named<'p> {
    fn of(program: &'p Program) -> Self {
        let mut named = Self { by_path: HashMap::new(), by_id: HashMap::new(), by_key: HashMap::new() };
        for (ix, node) in (0u32..).map(NodeIx).zip(&program.nodes) {
            named.by_path.entry(&node.node_id).or_insert(ix);
            named.by_id.entry(&node.id).or_default().push(ix);
            named.by_key.entry((node.parent, &node.id)).or_insert(ix);
        }
        named
    }

    /// Finds an activity by its node id, or by its id if only one has it.
    fn find(&self, name: &str) -> NameLookup {
        if let Some(ix) = self.by_path.get(name) {
            return NameLookup::One(*ix);
        }
        match self.by_id.get(name).map(Vec::as_slice) {
            None | Some([]) => NameLookup::None,
            Some([one]) => NameLookup::One(*one),
            Some(many) => NameLookup::Many(many.len()),
        }
    }
}

impl Counterparts {
    /// Pairs the activities of two versions: first those that the mapping names, then those with the same id inside a
    /// pair of enclosing activities, then those whose id occurs once in each version.
    pub fn pair(
        old: &Program,
        new: &Program,
        version: i32,
        mapping: &Mapping,
        check: &mut dyn FnMut(),
    ) -> (Self, Vec<Problem>) {
        let (olds, news) = (Named::of(old), Named::of(new));
        let (named, problems) = explicit(&olds, &news, version, mapping);
        let mut counterparts: Vec<Counterpart> = Vec::with_capacity(old.nodes.len());
        for (at, node) in old.nodes.iter().enumerate() {
            if at.is_multiple_of(CHECK_EVERY) {
                check();
            }
            let above = node.parent.map(|parent| counterparts[parent.0 as usize]);
            let same = |above: Option<NodeIx>| news.by_key.get(&(above, node.id.as_str())).copied();
            let unique = || match (olds.find(&node.id), news.find(&node.id)) {
                (NameLookup::One(_), NameLookup::One(ix)) if node.inlined.is_none() => Some(ix),
                _ => None,
            };
            let counterpart = match (named.get(&NodeIx(at as u32)), above) {
                (Some(counterpart), _) => *counterpart,
                (None, Some(Counterpart::Cancelled)) => Counterpart::Cancelled,
                (None, Some(Counterpart::At(above))) => found(same(Some(above)).or_else(unique)),
                (None, Some(Counterpart::Missing)) => found(unique()),
                (None, None) => found(same(None).or_else(unique)),
            };
            counterparts.push(counterpart);
        }
        (Self(counterparts), problems)
    }

    /// The counterpart of an activity of the old version.
    pub fn of(&self, old: NodeIx) -> Counterpart {
        self.0.get(old.0 as usize).copied().unwrap_or(Counterpart::Missing)
    }

    /// The counterpart of an activity, if it has one.
    pub fn at(&self, old: NodeIx) -> Option<NodeIx> {
        match self.of(old) {
            Counterpart::At(ix) => Some(ix),
            Counterpart::Cancelled | Counterpart::Missing => None,
        }
    }

    /// Whether what is open there is cancelled.
    pub fn is_cancelled(&self, old: NodeIx) -> bool {
        self.of(old) == Counterpart::Cancelled
    }

    /// The counterpart of an activity, if it has the same type.
    pub fn of_same_type(&self, old: &Program, new: &Program, ix: NodeIx) -> Option<NodeIx> {
        self.at(ix).filter(|to| new.node(*to).type_name == old.node(ix).type_name)
    }
}

fn found(ix: Option<NodeIx>) -> Counterpart {
    ix.map_or(Counterpart::Missing, Counterpart::At)
}

/// The pairs that the mapping names, and problems with it.
fn explicit(
    olds: &Named<'_>,
    news: &Named<'_>,
    version: i32,
    mapping: &Mapping,
) -> (HashMap<NodeIx, Counterpart>, Vec<Problem>) {
    let (mut counterparts, mut problems) = (HashMap::new(), Vec::new());
    let mut taken: BTreeMap<NodeIx, &str> = BTreeMap::new();
    for (from, to) in mapping {
        let mut refuse = |message: String| problems.push(Problem::error(format!("/mapping/{from}"), message));
        let old = match olds.find(from) {
            NameLookup::One(old) => old,
            NameLookup::None => {
                refuse(format!("\"{from}\" is no activity of the version that the instance runs"));
                continue;
            }
            NameLookup::Many(count) => {
                refuse(format!("\"{from}\" is the id of {count} activities; use the node id"));
                continue;
            }
        };
        let counterpart = match to.as_deref().map(|to| (to, news.find(to))) {
            None => Counterpart::Cancelled,
            Some((_, NameLookup::One(new))) => Counterpart::At(new),
            Some((to, NameLookup::None)) => {
                refuse(format!("\"{to}\" is no activity of version {version}"));
                continue;
            }
            Some((to, NameLookup::Many(count))) => {
                refuse(format!("\"{to}\" is the id of {count} activities of version {version}; use the node id"));
                continue;
            }
        };
        if let Counterpart::At(new) = counterpart
            && let Some(other) = taken.insert(new, from)
        {
            refuse(format!("\"{other}\" and \"{from}\" are mapped to the same activity"));
        }
        if counterparts.insert(old, counterpart).is_some() {
            refuse(format!("\"{from}\" is mapped twice, by its id and by its node id"));
        }
    }
    (counterparts, problems)
}
