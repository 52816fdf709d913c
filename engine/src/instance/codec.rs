//! The engine's state as bytes: a format number, then postcard.
//!
//! Every later version must read what this version writes; a frozen sample in the tests checks that.

use serde::{Deserialize, Serialize};

use crate::fault::Error;
use crate::instance::continuation::Continuation;
use crate::instance::{Attempts, State, Timeout};
use crate::value::Json;

/// The format of a state without attempts.
const FORMAT: u8 = 2;
/// The format of a state with attempts: behind the state a list of them, each with the number of its execution.
const FORMAT_WITH_ATTEMPTS: u8 = 3;
/// The format of a state with the time of its run: behind the state that list, which may be empty, and then the time.
const FORMAT_WITH_DEADLINE: u8 = 4;
/// The format of a state with anything that came later: behind the state that list, and then [`Later`].
const FORMAT_WITH_LATER: u8 = 5;
/// The same, and then a list of the resilience strategies that executions have computed, each with the number of its
/// execution.
const FORMAT_WITH_STRATEGIES: u8 = 6;

/// What stands behind the attempts from format 5 on.
#[derive(Serialize, Deserialize)]
struct Later<C> {
    deadline: Option<Timeout>,
    first_journal: u32,
    continuation: Option<C>,
}

/// Packs a state.
pub fn encode_state(state: &State) -> Vec<u8> {
    encode_state_of(state, 0)
}

/// Packs a state. `size` is its known packed size, so that the vector takes no more memory than that.
pub fn encode_state_of(state: &State, size: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(size);
    let attempts = attempts(state);
    bytes.push(match (state.deadline, attempts.is_empty()) {
        _ if has_strategies(&attempts) => FORMAT_WITH_STRATEGIES,
        _ if has_later(state) => FORMAT_WITH_LATER,
        (Some(_), _) => FORMAT_WITH_DEADLINE,
        (None, false) => FORMAT_WITH_ATTEMPTS,
        (None, true) => FORMAT,
    });
    pack(state, &attempts, bytes)
}

fn has_later(state: &State) -> bool {
    state.first_journal > 0 || state.continuation.is_some()
}

fn has_strategies(attempts: &[(u32, &Attempts)]) -> bool {
    attempts.iter().any(|(_, attempts)| attempts.strategy.is_some())
}

/// Serializing strings, numbers and sequences of known length to a vector, or counting them, cannot fail.
fn pack<T: Extend<u8>>(state: &State, attempts: &[(u32, &Attempts)], to: T) -> T {
    let to = postcard::to_extend(state, to).expect("a state is always serializable");
    let (deadline, first_journal) = (state.deadline, state.first_journal);
    let later = Later { deadline, first_journal, continuation: state.continuation.as_deref() };
    if has_strategies(attempts) {
        let computed = attempts.iter().filter_map(|(sequence, known)| Some((*sequence, known.strategy.as_ref()?)));
        let computed: Vec<(u32, &Json)> = computed.collect();
        return postcard::to_extend(&(attempts, later, computed), to).expect("strategies are always serializable");
    }
    if has_later(state) {
        return postcard::to_extend(&(attempts, later), to).expect("what came later is always serializable");
    }
    match state.deadline {
        Some(deadline) => postcard::to_extend(&(attempts, deadline), to).expect("a deadline is always serializable"),
        None if attempts.is_empty() => to,
        None => postcard::to_extend(attempts, to).expect("attempts are always serializable"),
    }
}

/// The attempts of all executions that have any, by sequence number, as they are packed behind the state.
fn attempts(state: &State) -> Vec<(u32, &Attempts)> {
    let contexts = state.contexts.iter();
    contexts.filter_map(|(sequence, context)| Some((*sequence, context.attempts.as_deref()?))).collect()
}

/// The packed size of a state in bytes.
pub fn packed_size(state: &State) -> usize {
    pack(state, &attempts(state), ByteCount(1)).0
}

/// Counts bytes instead of keeping them.
pub(crate) struct ByteCount(pub(crate) usize);

impl Extend<u8> for ByteCount {
    fn extend<I: IntoIterator<Item = u8>>(&mut self, bytes: I) {
        self.0 += bytes.into_iter().count();
    }
}

/// Unpacks a state.
///
/// # Errors
/// [`Error::CorruptState`] if the format is unknown or the bytes are damaged.
pub fn decode_state(bytes: &[u8]) -> Result<State, Error> {
    let corrupt = |reason: &str| Error::CorruptState(reason.to_owned());
    let damaged = |error: postcard::Error| Error::CorruptState(format!("It is damaged: {error}."));
    match bytes.split_first() {
        Some((&format @ FORMAT..=FORMAT_WITH_STRATEGIES, rest)) => {
            let (mut state, mut rest): (State, _) = postcard::take_from_bytes(rest).map_err(damaged)?;
            if format != FORMAT {
                let attempts: Vec<(u32, Attempts)>;
                (attempts, rest) = postcard::take_from_bytes(rest).map_err(damaged)?;
                for (sequence, attempts) in attempts {
                    let context = state.contexts.get_mut(&sequence);
                    let context =
                        context.ok_or_else(|| corrupt("It has attempts of an execution that is not open."))?;
                    context.attempts = Some(Box::new(attempts));
                }
            }
            if format == FORMAT_WITH_DEADLINE {
                let deadline: Timeout;
                (deadline, rest) = postcard::take_from_bytes(rest).map_err(damaged)?;
                state.deadline = Some(deadline);
            }
            if format >= FORMAT_WITH_LATER {
                let later: Later<Continuation>;
                (later, rest) = postcard::take_from_bytes(rest).map_err(damaged)?;
                state.deadline = later.deadline;
                state.first_journal = later.first_journal;
                state.continuation = later.continuation.map(Box::new);
            }
            if format == FORMAT_WITH_STRATEGIES {
                let strategies: Vec<(u32, Json)>;
                (strategies, rest) = postcard::take_from_bytes(rest).map_err(damaged)?;
                for (sequence, strategy) in strategies {
                    let attempts = state.contexts.get_mut(&sequence).and_then(|context| context.attempts.as_mut());
                    let attempts =
                        attempts.ok_or_else(|| corrupt("It has a strategy of an execution without attempts."))?;
                    attempts.strategy = Some(strategy);
                }
            }
            if rest.is_empty() { Ok(state) } else { Err(corrupt("It has bytes after its end.")) }
        }
        Some((format, _)) => Err(Error::CorruptState(format!("Its format {format} is not known."))),
        None => Err(corrupt("It is empty.")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::instance::compensation::{Ending, Unwinding};
    use crate::instance::{ActivityStatus, Context, FlowScope, Memory, TokenChange, TokenScope};
    use crate::node_ix::NodeIx;
    use crate::value::Json;

    const ID: &str = "01930000-0000-7000-8000-0123456789ab";

    /// A state with one of every element that a state can hold.
    fn sample() -> State {
        let context = |memory: Memory| Context {
            node: NodeIx(2),
            parent: Some(1),
            status: ActivityStatus::Faulted,
            bookmarks: 3,
            faults: 1,
            tag: 4,
            breaking: true,
            variables: vec![("A".into(), Json(json!({"a": [1.10, null, "é"]})))],
            memory,
            attempts: None,
        };
        let mut scope = FlowScope::new(5);
        scope.visit_activity(1);
        scope.visit_connection(2, true);
        let items = Memory::Items { index: 1, items: Json(json!([1])) };
        let range = Memory::Range { current: -1, end: 300, step: 2, inclusive: false };
        let memories = [
            Memory::None,
            Memory::Count(-7),
            range,
            items,
            Memory::Flow(Box::new(scope)),
            Memory::Json(Json(json!("x"))),
        ];
        State {
            contexts: (0..).zip(memories.map(context)).collect(),
            next_context: 6,
            next_journal: 7,
            outputs: [(NodeIx(2), vec![("result".into(), Json(json!(true))), ("taskId".into(), Json(json!(ID)))])]
                .into(),
            last_result: Some((NodeIx(2), 0)),
            trigger: Some(NodeIx(1)),
            trigger_used: true,
            deadline: None,
            continuation: None,
            first_journal: 0,
        }
    }

    /// What version 0.2.0 writes. A later version must read it: never change this text.
    const FROZEN: &str = "\
        0206000201010103010401010141157b2261223a5b312e312c6e756c6c2c22c3a9225d7d0001020101010301\
        0401010141157b2261223a5b312e312c6e756c6c2c22c3a9225d7d010d020201010103010401010141157b22\
        61223a5b312e312c6e756c6c2c22c3a9225d7d0201d8040400030201010103010401010141157b2261223a5b\
        312e312c6e756c6c2c22c3a9225d7d0302035b315d040201010103010401010141157b2261223a5b312e312c\
        6e756c6c2c22c3a9225d7d040502000103000003050201010103010401010141157b2261223a5b312e312c6e\
        756c6c2c22c3a9225d7d0503227822060701020206726573756c740474727565067461736b49641101019300\
        000000700080000123456789ab010200010101";

    /// A state with what was added since: tokens of a flowchart.
    fn later() -> State {
        let mut scope = TokenScope::new(300);
        scope.apply(TokenChange::Waiting(5, true));
        scope.apply(TokenChange::Blocked(7, true));
        scope.apply(TokenChange::Open(1, 2));
        scope.apply(TokenChange::Lost(1, 3, true));
        let mut state = sample();
        let mut context = state.contexts.remove(&0).unwrap();
        context.memory = Memory::Tokens(Box::new(scope));
        state.contexts = [(9, context)].into();
        state
    }

    /// The state of [`later`] as it was first written: never change this text.
    const FROZEN_LATER: &str = "\
        0201090201010103010401010141157b2261223a5b312e312c6e756c6c2c22c3a9225d7d06ac020105010702\
        0102ac0201010103060701020206726573756c740474727565067461736b4964110101930000000070008000\
        0123456789ab010200010101";

    #[test]
    fn what_an_earlier_version_wrote_is_still_read() {
        let hex = |bytes: &[u8]| bytes.iter().map(|b| format!("{b:02x}")).collect::<String>();
        for (state, frozen) in [(sample(), FROZEN), (later(), FROZEN_LATER)] {
            assert_eq!(hex(&encode_state(&state)), frozen);
            assert_eq!(packed_size(&state), frozen.len() / 2);
            let bytes: Vec<u8> =
                (0..frozen.len() / 2).map(|i| u8::from_str_radix(&frozen[2 * i..2 * i + 2], 16).unwrap()).collect();
            assert_eq!(decode_state(&bytes).unwrap(), state);
        }
    }

    #[test]
    fn the_time_of_a_run_stands_behind_the_attempts() {
        let mut state = later();
        let deadline = Timeout { bookmark: uuid::Uuid::from_u128(7), until: 300 };
        state.deadline = Some(deadline);
        for has_attempts in [false, true] {
            let attempts = || has_attempts.then(Box::<Attempts>::default);
            state.contexts.values_mut().for_each(|context| context.attempts = attempts());
            let bytes = encode_state(&state);
            assert_eq!((bytes[0], packed_size(&state)), (FORMAT_WITH_DEADLINE, bytes.len()));
            assert_eq!(decode_state(&bytes).unwrap(), state);
            assert!(decode_state(&bytes[..bytes.len() - 1]).is_err());
        }
    }

    /// The attempts, the deadline and what came later, behind the state of [`FROZEN_LATER`] as they were first written:
    /// never change this text.
    const FROZEN_CONTINUED: &str = "\
        000100000000000000000000000000000007d804ac0201000000000000000000000000000000070000000000\
        00000000000000000000080373756d0d7b22746f74616c223a312e317d";

    /// What stands behind the state of [`FROZEN_LATER`] with a strategy, as it was first written: never change this
    /// text.
    const FROZEN_STRATEGY: &str = "\
        0109000000000000000109167b226d61785265747279417474656d707473223a327d";

    #[test]
    fn a_computed_strategy_stands_behind_all_else() {
        let mut state = later();
        let strategy = || Some(Json(json!({"maxRetryAttempts": 2})));
        let attempts = || Some(Box::new(Attempts { strategy: strategy(), ..Attempts::default() }));
        state.contexts.values_mut().for_each(|context| context.attempts = attempts());
        let bytes = encode_state(&state);
        let hex = bytes[FROZEN_LATER.len() / 2..].iter().map(|b| format!("{b:02x}")).collect::<String>();
        assert_eq!((bytes[0], packed_size(&state)), (FORMAT_WITH_STRATEGIES, bytes.len()));
        assert_eq!(decode_state(&bytes).unwrap(), state);
        assert!(decode_state(&bytes[..bytes.len() - 1]).is_err());
        assert_eq!(hex, FROZEN_STRATEGY);
        state.first_journal = 300;
        state.deadline = Some(Timeout { bookmark: uuid::Uuid::from_u128(7), until: 300 });
        assert_eq!(decode_state(&encode_state(&state)).unwrap(), state);
    }

    #[test]
    fn what_came_later_stands_behind_the_attempts() {
        let mut state = later();
        let id = uuid::Uuid::from_u128(7);
        state.deadline = Some(Timeout { bookmark: id, until: 300 });
        state.first_journal = 300;
        let input = Json(json!({"total": 1.10}));
        let next = Continuation { id, version_id: uuid::Uuid::from_u128(8), definition_id: "sum".into(), input };
        state.continuation = Some(Box::new(next));
        let bytes = encode_state(&state);
        let hex = bytes[FROZEN_LATER.len() / 2..].iter().map(|b| format!("{b:02x}")).collect::<String>();
        assert_eq!((bytes[0], packed_size(&state)), (FORMAT_WITH_LATER, bytes.len()));
        assert_eq!(decode_state(&bytes).unwrap(), state);
        assert!(decode_state(&bytes[..bytes.len() - 1]).is_err());
        assert_eq!(hex, FROZEN_CONTINUED);
        // Each of them is enough.
        state.continuation = None;
        assert_eq!(decode_state(&encode_state(&state)).unwrap(), state);
        (state.first_journal, state.deadline) = (0, None);
        assert_ne!(encode_state(&state)[0], FORMAT_WITH_LATER);
    }

    #[test]
    fn a_memory_is_stored_by_the_number_that_it_was_given_first() {
        // One that is added gets the next number: never change another one.
        let number = |memory: &Memory| match memory {
            Memory::None => 0,
            Memory::Count(_) => 1,
            Memory::Range { .. } => 2,
            Memory::Items { .. } => 3,
            Memory::Flow(_) => 4,
            Memory::Json(_) => 5,
            Memory::Tokens(_) => 6,
            Memory::Deferred => 7,
            Memory::Unwinding(_) => 8,
        };
        let kept = [sample(), later()].into_iter().flat_map(|state| state.contexts.into_values());
        let memories = kept
            .map(|context| context.memory)
            .chain([Memory::Deferred, Memory::Unwinding(Unwinding::Instance(Ending::None))]);
        let numbers: Vec<u8> = memories
            .map(|memory| {
                let stored = postcard::to_stdvec(&memory).unwrap()[0];
                assert_eq!(stored, number(&memory));
                stored
            })
            .collect();
        assert_eq!(numbers, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
    }

    #[test]
    fn an_unknown_format_and_damaged_bytes_are_refused() {
        let good = encode_state(&sample());
        for bytes in [&[] as &[u8], &[1], &[3], &good[..good.len() - 1], &[&good[..], &[0]].concat()] {
            assert!(matches!(decode_state(bytes), Err(Error::CorruptState(_))));
        }
    }

    #[test]
    fn a_value_nested_beyond_all_bounds_is_refused_before_it_is_parsed() {
        let text = "[".repeat(100_000) + &"]".repeat(100_000);
        let bytes = postcard::to_stdvec(&text).unwrap();
        assert!(postcard::from_bytes::<Json>(&bytes).is_err());
        let quoted = serde_json::to_string(&"[".repeat(100_000)).unwrap();
        let bytes = postcard::to_stdvec(&quoted).unwrap();
        assert!(postcard::from_bytes::<Json>(&bytes).is_ok());
    }
}
