//! Compensation: records of executions whose effects may have to be undone, and the executions that run their handlers.
//!
//! A record is a row of its own, not a part of the state, so a loop may create a hundred thousand of them. It is
//! deleted when its handler has ended.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::instance::outputs::Outputs;
use crate::node_ix::NodeIx;
use workflow_value::fault::Error;
use workflow_value::value::Json;

/// Holder of the records of the instance itself: those that belong to no open scope and to no other record.
pub const HELD_BY_INSTANCE: u32 = u32::MAX;

/// Holder of the records of executions that were interrupted. Their handlers run at once.
pub const HELD_BY_INTERRUPTION: u32 = u32::MAX - 1;

/// A completed `Compensable`, or an execution that was interrupted and has to be cancelled.
#[derive(Debug, PartialEq)]
pub struct Record {
    /// Its number in the instance, in the order of creation.
    pub number: u32,
    /// What holds it: an open execution, another record by its number, [`HELD_BY_INSTANCE`] or [`HELD_BY_INTERRUPTION`].
    pub holder: u32,
    /// What its handler can read of the moment when the record was created.
    pub kept: RecordSnapshot,
}

/// What the handler of a record can read of the moment when the record was created.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordSnapshot {
    /// The activity whose handler it is.
    pub node: NodeIx,
    /// Variables that the handler reads.
    pub variables: Vec<(String, Json)>,
    /// Outputs of the activities in the body.
    pub outputs: Vec<(NodeIx, Outputs)>,
    /// The latest result before the end of the body. Packed last, in a format of its own.
    #[serde(skip)]
    pub last_result: Option<Arc<Json>>,
}

/// What is done with a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RecordAction {
    /// Its effects are undone.
    Compensate,
    /// Its effects become permanent.
    Confirm,
    /// Unfinished work is cancelled.
    Cancel,
}

/// Selects records. The oldest or the newest of them comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordFilter {
    /// What holds them; see [`Record::holder`].
    pub holder: u32,
    /// The activity whose records are selected; `None`: those of all.
    pub node: Option<NodeIx>,
    /// Whether the newest comes first.
    pub newest: bool,
}

/// What an execution that runs handlers is for. Stored by the number of the variant: add at the end only.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub enum Unwinding {
    /// The handlers that the instance itself has to run, one after another.
    Instance(Ending),
    /// One record after another, for an activity that requested it.
    Each {
        /// What their handlers do.
        action: RecordAction,
        /// What holds them; see [`Record::holder`].
        holder: u32,
        /// The activity whose records are handled; `None`: all.
        node: Option<NodeIx>,
    },
    /// One record, by its handler or by handling the records that it holds.
    One {
        /// What the handler does.
        action: RecordAction,
        /// Number of the record; see [`Record::number`].
        record: u32,
        /// Whether a handler runs. Otherwise the action applies to the records that this one holds.
        has_handler: bool,
    },
}

/// How the instance ends after its handlers have run. Stored by the number of the variant: add at the end only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ending {
    /// It does not end: only interrupted executions are handled.
    None,
    /// It has finished, and its records are confirmed.
    Finished,
    /// A fault ends it, and its records are compensated.
    Faulted,
    /// A call cancels it. Its records are compensated, or confirmed if `compensateOn` has `cancel: false`.
    Cancelled,
}

/// The format of a packed [`RecordSnapshot`] without a latest result.
const FORMAT: u8 = 1;
/// The format of one with it, as the last part.
const FORMAT_WITH_RESULT: u8 = 2;

/// Packs the snapshot of a record: a format number, then postcard.
pub fn encode_kept(kept: &RecordSnapshot) -> Vec<u8> {
    // Serializing strings, numbers and sequences of known length to a vector cannot fail.
    let packed = match &kept.last_result {
        None => postcard::to_extend(kept, vec![FORMAT]),
        Some(result) => postcard::to_extend(&(kept, result), vec![FORMAT_WITH_RESULT]),
    };
    packed.expect("what a record keeps is always serializable")
}

/// Unpacks the snapshot of a record.
///
/// # Errors
/// [`Error::CorruptState`] if the format is unknown or the bytes are damaged.
pub fn decode_kept(bytes: &[u8]) -> Result<RecordSnapshot, Error> {
    let corrupt = |reason: String| Error::CorruptState(reason);
    let damaged = |error: postcard::Error| corrupt(format!("It is damaged: {error}."));
    let (kept, rest) = match bytes.split_first() {
        Some((&FORMAT, rest)) => postcard::take_from_bytes(rest).map_err(damaged)?,
        Some((&FORMAT_WITH_RESULT, rest)) => {
            let ((kept, result), rest): ((RecordSnapshot, Json), _) =
                postcard::take_from_bytes(rest).map_err(damaged)?;
            (RecordSnapshot { last_result: Some(Arc::new(result)), ..kept }, rest)
        }
        Some((format, _)) => return Err(corrupt(format!("Its format {format} is not known."))),
        None => return Err(corrupt("It is empty.".to_owned())),
    };
    if rest.is_empty() { Ok(kept) } else { Err(corrupt("It has bytes after its end.".to_owned())) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_record_keeps_comes_back_from_bytes_that_do_not_change() {
        let variables = vec![("Seat".to_owned(), Json(json!({"row": 1.50})))];
        let kept = RecordSnapshot {
            node: NodeIx(3),
            variables,
            outputs: vec![(NodeIx(4), vec![("Result".into(), Arc::new(Json(json!(1))))])],
            last_result: None,
        };
        let bytes = encode_kept(&kept);
        assert_eq!(decode_kept(&bytes).expect("readable"), kept);
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, "01030104536561740b7b22726f77223a312e357d01040106526573756c740131");
        let kept = RecordSnapshot { last_result: Some(Arc::new(Json(json!("A")))), ..kept };
        let bytes = encode_kept(&kept);
        assert_eq!(decode_kept(&bytes).expect("readable"), kept);
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, "02030104536561740b7b22726f77223a312e357d01040106526573756c74013103224122");
    }

    #[test]
    fn damaged_bytes_are_refused() {
        for bytes in [&[][..], &[9], &[1], &[1, 3, 0, 0, 7]] {
            assert!(matches!(decode_kept(bytes), Err(Error::CorruptState(_))), "{bytes:?}");
        }
    }
}
