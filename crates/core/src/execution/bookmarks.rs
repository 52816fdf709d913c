//! Creating and burning bookmarks.

use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::bookmark::{Bookmark, NewBookmark, Resumed};
use crate::execution::Execution;
use crate::execution::runner::Runner;
use crate::execution::undo::Undo;
use crate::journal::{CLAIM_UNTIL, EventKind};
use workflow_http::stimulus::{self, RUN_TASK};
use workflow_value::fault::Fault;
use workflow_value::value::indexed::{MAX_INDEXED, check_indexed};
use workflow_value::value::{check_extent, instant_text};

impl Execution<'_> {
    /// Drops the bookmarks that this execution has, stored or made in this burst: it waits no more.
    pub fn drop_bookmarks(&mut self) {
        self.burst.drop_bookmarks(self.sequence);
    }

    /// Creates a bookmark of this execution and returns its id.
    pub fn create_bookmark(&mut self, new: NewBookmark) -> Result<Uuid, Fault> {
        let node = self.node;
        let activity_type = if new.is_task { RUN_TASK.name.to_owned() } else { node.type_name.clone() };
        let name = new.name.unwrap_or_else(|| activity_type.clone());
        check_indexed("name of the bookmark", &name, MAX_INDEXED)?;
        for value in new.payload.iter().chain(&new.metadata) {
            check_extent(value)?;
        }
        let payload = match new.payload {
            Some(payload) => Some(stimulus::normalise(&name, &payload)?),
            None => None,
        };
        let activity_instance_id = self.activity_instance_id();
        // Without a payload, a stimulus with the name alone would resume every instance that waits at this activity.
        let include = new.include_activity_instance.unwrap_or(payload.is_none());
        let included = include.then(|| activity_instance_id.to_string());
        let hash = stimulus::hash(&name, payload.as_ref(), included.as_deref());
        let id = new.id.unwrap_or_else(|| self.burst.host.new_id());
        let order = self.burst.scratch.next_bookmark;
        self.burst.scratch.next_bookmark = order.wrapping_add(1);
        let bookmark = Bookmark {
            id,
            node: self.node_index(),
            activity_id: node.id.clone(),
            node_id: node.node_id.clone(),
            activity_type,
            activity_instance_id,
            name,
            hash,
            payload,
            metadata: new.metadata,
            callback: new.callback,
            auto_burn: new.auto_burn,
            auto_complete: new.auto_complete,
            due_at: new.due_at,
        };
        let key = (self.sequence, order);
        self.burst.scratch.bookmarks.insert(key, bookmark);
        self.burst.scratch.undo.push(Undo::BookmarkMade(key));
        let data = bookmark_data(&self.burst.scratch.bookmarks[&key]);
        self.burst.bookmark_event(EventKind::BookmarkCreated, self.sequence, node, Some(id), data);
        Ok(id)
    }

    /// Refuses an id that a handler has chosen, if a bookmark has it (23505). One that the engine makes is not asked
    /// for.
    pub(crate) fn require_unused(&mut self, id: Uuid) -> Result<(), Fault> {
        let is_made = self.burst.scratch.bookmarks.values().any(|made| made.id == id);
        if is_made || self.burst.host.has_bookmark(id) {
            return Err(Fault::new("23505", format!("bookmark {id} already exists")));
        }
        Ok(())
    }

    /// Whether this execution has bookmarks, stored or made in this burst, apart from one that this unit burned.
    pub fn has_bookmarks(&self) -> bool {
        let mut made = self.burst.scratch.made_by(self.sequence);
        made.next().is_some() || self.burst.context(self.sequence).is_some_and(|context| context.waits() > 0)
    }

    /// Records that a bookmark was resumed, and burns it if it has `auto_burn`.
    pub(crate) fn burn(&mut self, bookmark: &Resumed) {
        let (sequence, node) = (self.sequence, self.node);
        self.burst.bookmark_event(EventKind::Resumed, sequence, node, Some(bookmark.id), None);
        if !bookmark.auto_burn {
            return;
        }
        let mut made = self.burst.scratch.made_by(sequence);
        if let Some(key) = made.find(|(_, made)| made.id == bookmark.id).map(|(key, _)| *key) {
            if let Some(made) = self.burst.scratch.bookmarks.remove(&key) {
                self.burst.scratch.undo.push(Undo::BookmarkDropped(key, Box::new(made)));
            }
            return;
        }
        if let Some(context) = self.burst.instance.state.contexts.get_mut(&sequence) {
            self.burst.scratch.undo.push(Undo::Stored(sequence, context.bookmarks));
            context.bookmarks = context.bookmarks.saturating_sub(1);
        }
        self.burst.scratch.delta.burned.push(bookmark.id);
    }
}

impl Runner<'_> {
    /// Creates a bookmark of the engine's own for an execution, which time resumes, or a call that names its id.
    pub(super) fn create_due(
        &mut self,
        sequence: u32,
        name: &str,
        due_at: DateTime<Utc>,
        metadata: Option<Value>,
    ) -> Option<Uuid> {
        let node = self.burst.program.node(self.burst.context(sequence)?.node);
        let (name, due_at) = (Some(name.to_owned()), Some(due_at));
        let mut cx = Execution::new(self.burst.reborrow(), sequence, node);
        let new = NewBookmark { name, due_at, metadata, auto_complete: false, ..NewBookmark::default() };
        let made = cx.create_bookmark(new);
        debug_assert!(made.is_ok(), "it has no payload that could be refused");
        made.ok()
    }
}

/// What the journal says of a new bookmark beside its id: until when a timeout lasts.
fn bookmark_data(bookmark: &Bookmark) -> Option<Value> {
    let member = match bookmark.name.as_str() {
        stimulus::TIMEOUT => "due_at",
        stimulus::START_TIMEOUT => CLAIM_UNTIL,
        _ => return None,
    };
    Some(json!({ member: instant_text(bookmark.due_at?) }))
}
