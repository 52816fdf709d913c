//! Calls that a client may send again: what was answered to a message is remembered, and answered once more.

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::pg::{PgError, guc, session};
use crate::run::Session;
use crate::store::messages::Name;

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

/// Makes a call, unless the role has made it before: then the answer is that of the first time, and nothing is done.
/// `make` also says whether the call has done anything: what has not can be made again.
///
/// # Errors
/// 22023 if the message had another content.
pub fn once(
    session: &mut Session,
    message: &Message<'_>,
    make: impl FnOnce(&mut Session) -> Result<(Value, bool), PgError>,
) -> Result<Value, PgError> {
    let name = Name { owner: session.caller_as_owner(None).id, key: message.key, message: message.id };
    let content = message.content();
    // The same call in another transaction has to end first. A statement after that sees what it has answered.
    name.lock();
    if let Some(known) = name.find() {
        let keep = guc::message_retention();
        if keep.is_none_or(|keep| known.called_at.0.saturating_add(keep) > session.timestamp().0) {
            return if known.content == content { Ok(known.answer) } else { Err(differs(message)) };
        }
        name.forget();
    }
    if session::sees_old_rows() && name.is_answered() {
        return Err(PgError::new("40001", "could not serialize access due to concurrent update")
            .detail(format!("Another transaction has called message \"{}\".", message.id)));
    }
    let (answer, is_done) = make(session)?;
    if !is_done {
        return Ok(answer);
    }
    if name.find().is_some() {
        return Err(PgError::new("55000", format!("message \"{}\" is being called", message.id))
            .detail("What this call has begun has made the same call."));
    }
    name.remember(&content, &answer, session.timestamp());
    Ok(answer)
}

fn differs(message: &Message<'_>) -> PgError {
    PgError::new("22023", format!("message \"{}\" was another call", message.id))
        .detail(format!("Under the key \"{}\" it was called with another kind, name or body.", message.key))
        .hint("Give each call a message of its own, and the same one only where a call is sent again.")
}
