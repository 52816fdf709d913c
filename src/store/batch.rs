//! What a burst writes, in one statement.
//!
//! A start or a resume writes three to five rows into as many tables. One statement with a CTE for each costs
//! half of as many statements. Whatever it changes is locked by this transaction already, so all of it is written;
//! only the insertion of an instance whose id or activation key may be taken can decide otherwise, and then every
//! other part depends on it.

use std::cell::RefCell;
use std::collections::HashMap;

use crate::pg::spi::{Arg, Statement, Type};

/// Parameters that one statement may have; what is longer is written by statements of their own.
const MAX_ARGS: usize = crate::pg::spi::MAX_ARGS;

/// A part: the text of a CTE with `?` for each parameter.
pub struct Part {
    /// Name of the CTE.
    pub name: &'static str,
    /// Its text. Where ` FROM {decides}` stands, it selects from the part that decides, if there is one.
    pub sql: &'static str,
    /// Types of its parameters.
    pub types: &'static [Type],
    /// Whether it may write nothing, and nothing else is written then. Only the first part can be one.
    pub decides: bool,
}

/// Parts with their arguments, in order.
#[derive(Default)]
pub struct Batch<'a> {
    parts: Vec<&'static Part>,
    args: Vec<Arg<'a>>,
}

/// What a batch says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// Whether the part that decides has written its row; if not, nothing was written.
    pub is_done: bool,
    /// Whether anything is in the queue.
    pub has_queue: bool,
}

thread_local! {
    /// Statements by the addresses of their parts. There are a dozen or so, and they stay.
    static STATEMENTS: RefCell<HashMap<Vec<usize>, &'static Statement>> = RefCell::new(HashMap::new());
}

impl<'a> Batch<'a> {
    /// Adds a part.
    pub fn push(&mut self, part: &'static Part, args: &[Arg<'a>]) {
        debug_assert_eq!(part.types.len(), args.len(), "{}", part.name);
        self.parts.push(part);
        self.args.extend_from_slice(args);
    }

    /// Whether there is room for this part.
    pub fn has_room_for(&self, part: &Part) -> bool {
        self.args.len() + part.types.len() <= MAX_ARGS
    }

    /// Runs it.
    pub fn run(self) -> Written {
        let statement = statement(&self.parts);
        let written = statement.first(&self.args, |row| Written { is_done: row.get(), has_queue: row.get() });
        written.unwrap_or(Written { is_done: false, has_queue: false })
    }
}

fn statement(parts: &[&'static Part]) -> &'static Statement {
    let key: Vec<usize> = parts.iter().map(|part| std::ptr::from_ref(*part) as usize).collect();
    STATEMENTS.with_borrow_mut(|known| *known.entry(key).or_insert_with(|| compose(parts)))
}

fn compose(parts: &[&'static Part]) -> &'static Statement {
    let (dependence, is_done) = match parts[0].decides {
        true => (format!(" FROM {}0", parts[0].name), format!("EXISTS (SELECT FROM {}0)", parts[0].name)),
        false => (String::new(), String::from("true")),
    };
    let mut sql = String::from("WITH ");
    let mut types = Vec::new();
    let mut number = 0;
    for (i, part) in parts.iter().enumerate() {
        let separator = if i == 0 { "" } else { ", " };
        sql.push_str(&format!("{separator}{}{i} AS (", part.name));
        for piece in part.sql.replace(" FROM {decides}", &dependence).split_inclusive('?') {
            match piece.strip_suffix('?') {
                Some(text) => {
                    number += 1;
                    sql.push_str(&format!("{text}${number}"));
                }
                None => sql.push_str(piece),
            }
        }
        sql.push(')');
        types.extend_from_slice(part.types);
    }
    sql.push_str(&format!(" SELECT {is_done}, EXISTS (SELECT FROM workflow.bookmark_queue)"));
    Box::leak(Box::new(Statement::new(sql.leak(), types.leak())))
}
