//! Calls that a client may send again: what was answered to a message is remembered, and answered once more.

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::pg::jsonb::Document;
use crate::pg::{PgError, guc, session};
use crate::run::{CALL, CallContext};
use crate::store::instances::messages::{Answered, Name};

/// A call that a client may send again.
#[derive(Debug)]
pub struct Message<'a> {
    /// Correlation id.
    pub key: &'a str,
    /// What the client calls it.
    pub id: &'a str,
    /// What the call does.
    pub kind: &'a str,
    /// To what.
    pub name: &'a str,
    /// With what.
    pub body: Option<&'a Value>,
}

impl Message<'_> {
    /// The same for the same call.
    fn content(&self) -> Vec<u8> {
        let mut digest = Sha256::new();
        for part in [self.kind, self.name] {
            digest.update((part.len() as u64).to_be_bytes());
            digest.update(part);
        }
        digest.update(self.body.map(ToString::to_string).unwrap_or_default());
        digest.finalize().to_vec()
    }
}

/// Owner, key and message of a call.
pub(in crate::run) type MessageName = (i32, String, String);

/// Says that a call is being made until it is dropped, also on unwinding.
struct Making;

impl Making {
    /// `None` if the same call is being made further up.
    fn begin(name: &Name<'_>) -> Option<Self> {
        let mut stack = CALL.messages.borrow_mut();
        let is_it =
            |(owner, key, message): &MessageName| *owner == name.owner && key == name.key && message == name.message;
        if stack.iter().any(is_it) {
            return None;
        }
        stack.push((name.owner, name.key.to_owned(), name.message.to_owned()));
        Some(Self)
    }
}

impl Drop for Making {
    fn drop(&mut self) {
        CALL.messages.borrow_mut().pop();
    }
}

/// Makes a call, unless the role has made it before: then the answer is that of the first time, and nothing is done.
/// `make` also says whether the call has done anything: what has not can be made again.
///
/// # Errors
/// 22023 if the message had another content, 55000 if what the call has begun makes it again.
pub fn once(
    context: &mut CallContext,
    message: &Message<'_>,
    make: impl FnOnce(&mut CallContext) -> Result<(Document, bool), PgError>,
) -> Result<Document, PgError> {
    let owner = context.caller_as_owner(None).id;
    context.caller_id = Some(owner);
    let name = Name { owner, key: message.key, message: message.id };
    let content = message.content();
    let Some(_making) = Making::begin(&name) else {
        return Err(PgError::new("55000", format!("message \"{}\" is being called", message.id))
            .detail("What this call has begun makes the same call."));
    };
    let known = name.begin();
    // The answer of a transaction that this one's snapshot does not see, or that has been removed meanwhile.
    let time = |answered: &Answered| answered.called_at;
    if session::sees_old_rows() && name.find().as_ref().map(time) != known.as_ref().map(time) {
        return Err(PgError::new("40001", "could not serialize access due to concurrent update")
            .detail(format!("Another transaction has called message \"{}\", or removed its answer.", message.id)));
    }
    if let Some(known) = known {
        let keep = guc::message_retention();
        if keep.is_none_or(|keep| known.called_at.0.saturating_add(keep) > context.timestamp().0) {
            name.done();
            return if known.content == content { Ok(known.answer) } else { Err(differs(message)) };
        }
        name.forget(&known);
    }
    let (answer, is_done) = make(context)?;
    if is_done {
        name.remember(&content, &answer, context.timestamp());
        name.done();
    }
    Ok(answer)
}

fn differs(message: &Message<'_>) -> PgError {
    PgError::new("22023", format!("message \"{}\" was another call", message.id))
        .detail(format!("Under the key \"{}\" it was called with another kind, name or body.", message.key))
        .hint("Give each call a message of its own, and the same one only where a call is sent again.")
}
