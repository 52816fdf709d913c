//! The engine's state as bytes: a format number, then postcard.
//!
//! Every later version must read what this version writes; a frozen sample in the tests checks that.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::instance::continuation::Continuation;
use crate::instance::outputs::{EndedInside, LastResult, Outputs};
use crate::instance::{Attempts, Context, DeadlineKey, Memory, State, Timeout};
use crate::node_ix::NodeIx;
use workflow_value::fault::Error;
use workflow_value::value::Json;

/// The format of a state without attempts.
const FORMAT: u8 = 2;
/// The format of a state with attempts: the state, then a list of attempts, each with the number of its execution.
const FORMAT_WITH_ATTEMPTS: u8 = 3;
/// The format of a state with a deadline of its run: the state, that list, which may be empty, then the deadline.
const FORMAT_WITH_DEADLINE: u8 = 4;
/// The format of a state with anything that was added later: the state, that list, then [`Later`].
const FORMAT_WITH_LATER: u8 = 5;
/// The same, then a list of the resilience strategies that executions have computed, each with the number of its
/// execution.
const FORMAT_WITH_STRATEGIES: u8 = 6;
/// The same, then [`ScopedOutputs`]. In earlier formats all outputs are those of the root, and every execution has the
/// same latest result.
const FORMAT_WITH_SCOPED_OUTPUTS: u8 = 7;
/// The same, then a list of the HTTP requests received on the paths of executions, each with the number of its
/// execution.
const FORMAT_WITH_REQUESTS: u8 = 8;

/// The first part of every format.
#[derive(Serialize)]
struct Packed<'s> {
    contexts: &'s BTreeMap<u32, Context>,
    next_context: u32,
    next_journal: u32,
    outputs: &'s BTreeMap<NodeIx, &'s Outputs>,
    last_result: Option<(NodeIx, u32)>,
    trigger: Option<NodeIx>,
    trigger_used: bool,
}

/// The same, for reading.
#[derive(Deserialize)]
struct Unpacked {
    contexts: BTreeMap<u32, Context>,
    next_context: u32,
    next_journal: u32,
    outputs: BTreeMap<NodeIx, Outputs>,
    /// The activity that last produced a result, and the position of the result among its outputs.
    last_result: Option<(NodeIx, u32)>,
    trigger: Option<NodeIx>,
    trigger_used: bool,
}

/// What follows the attempts from format 5 on.
#[derive(Serialize, Deserialize)]
struct Later<C> {
    deadline: Option<Timeout>,
    first_journal: u32,
    continuation: Option<C>,
}

/// Outputs inside open executions, the results that they may read, connections that were followed before, and spans of
/// deadlines. From format 7 on.
#[derive(Serialize, Deserialize)]
struct ScopedOutputs<V, O, M> {
    shared_below: u32,
    /// All results that executions refer to, the oldest first.
    results: Vec<StoredResult<V>>,
    executions: Vec<(u32, StoredOutputs<O, M>)>,
    /// `FlowScope::kept` of each flowchart where it is not empty.
    followed: Vec<(u32, BTreeSet<u32>)>,
    spans: BTreeMap<DeadlineKey, i64>,
}

/// The outputs and results of one execution.
#[derive(Serialize, Deserialize)]
struct StoredOutputs<O, M> {
    own: O,
    inside: Option<M>,
    /// Positions among the results.
    last: Option<u32>,
    hidden: Option<u32>,
    arrived: Vec<(NodeIx, u32)>,
}

/// A result.
#[derive(Clone, Copy, Serialize, Deserialize)]
enum StoredResult<V> {
    /// An output of an activity, by its position. The activity ended inside an execution or is that execution itself.
    Output(Option<u32>, NodeIx, u32),
    /// A value that is no output any more.
    Value(V),
}

/// Room for the state of a small workflow.
const USUAL_SIZE: usize = 128;

type Scoped<'s> = ScopedOutputs<&'s Json, &'s Outputs, &'s BTreeMap<NodeIx, Outputs>>;

/// Packs a state.
pub fn encode_state(state: &State) -> Vec<u8> {
    encode_state_of(state, 0)
}

/// Packs a state. `size` is its packed size, so that the vector takes no more memory than that; 0: it is not known.
pub fn encode_state_of(state: &State, size: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(if size == 0 { USUAL_SIZE } else { size });
    let (attempts, simple) = (attempts(state), simple(state));
    bytes.push(match (state.deadline, attempts.is_empty()) {
        _ if state.has_requests() => FORMAT_WITH_REQUESTS,
        _ if simple.is_none() => FORMAT_WITH_SCOPED_OUTPUTS,
        _ if has_strategies(&attempts) => FORMAT_WITH_STRATEGIES,
        _ if has_later(state) => FORMAT_WITH_LATER,
        (Some(_), _) => FORMAT_WITH_DEADLINE,
        (None, false) => FORMAT_WITH_ATTEMPTS,
        (None, true) => FORMAT,
    });
    pack(state, &attempts, simple.as_ref(), bytes)
}

fn has_later(state: &State) -> bool {
    state.first_journal > 0 || state.continuation.is_some()
}

fn has_strategies(attempts: &[(u32, &Attempts)]) -> bool {
    attempts.iter().any(|(_, attempts)| attempts.strategy.is_some())
}

/// A state as the formats before 7 store it.
struct Simple<'s> {
    /// The outputs of the root, and those that open executions have set.
    outputs: BTreeMap<NodeIx, &'s Outputs>,
    /// Position among them of the latest result of all executions.
    last_result: Option<(NodeIx, u32)>,
}

/// The state as the formats before 7 store it. `None` if they cannot express what each execution may read.
fn simple(state: &State) -> Option<Simple<'_>> {
    if state.has_requests() {
        return None;
    }
    if is_without_outputs(state) {
        return Some(Simple { outputs: BTreeMap::new(), last_result: None });
    }
    let first = state.contexts.values().next().and_then(|context| context.last_result.as_ref());
    let is_first = |result: &LastResult| first.is_some_and(|first| Arc::ptr_eq(&first.value, &result.value));
    let is_simple = state.contexts.values().all(|context| {
        let has_same = context.last_result.as_ref().map_or(first.is_none(), is_first);
        let has_followed = matches!(&context.memory, Memory::Flow(scope) if !scope.followed().is_empty());
        has_same && context.ended_inside.is_none() && !has_followed
    });
    let is_simple = is_simple && state.armed_spans.is_empty() && state.outputs_shared_below == 0;
    if !is_simple || !state.outputs.is_empty() && state.has_open_container() {
        return None;
    }
    let mut outputs: BTreeMap<NodeIx, &Outputs> =
        state.outputs.iter().map(|(node, outputs)| (*node, outputs)).collect();
    for context in state.contexts.values() {
        if context.parent.is_some() && state.outputs.contains_key(&context.node) {
            return None;
        }
        if !context.outputs.is_empty() {
            // It is clear which execution has set them as long as their activity has only one.
            if !open_once(state, context.node) {
                return None;
            }
            outputs.insert(context.node, &context.outputs);
        }
    }
    let last_result = match first {
        None => None,
        Some(first) => Some(outputs.iter().find_map(|(node, outputs)| {
            let at = outputs.iter().position(|(_, value)| Arc::ptr_eq(value, &first.value))?;
            Some((*node, u32::try_from(at).ok()?))
        })?),
    };
    Some(Simple { outputs, last_result })
}

/// Whether no execution has an output or a result. Most states have none.
fn is_without_outputs(state: &State) -> bool {
    let has_none = |context: &Context| {
        let has_followed = matches!(&context.memory, Memory::Flow(scope) if !scope.followed().is_empty());
        context.outputs.is_empty() && context.last_result.is_none() && context.ended_inside.is_none() && !has_followed
    };
    state.outputs.is_empty()
        && state.armed_spans.is_empty()
        && state.outputs_shared_below == 0
        && state.contexts.values().all(has_none)
}

/// Whether exactly one execution of an activity is open below the root.
fn open_once(state: &State, node: NodeIx) -> bool {
    let below = state.contexts.values().filter(|context| context.parent.is_some());
    below.filter(|context| context.node == node).count() == 1
}

/// The outputs and results of each execution.
fn scoped(state: &State) -> Scoped<'_> {
    let key = |value: &Arc<Json>| Arc::as_ptr(value).cast::<()>() as usize;
    let mut known: BTreeMap<usize, &LastResult> = BTreeMap::new();
    for result in state.contexts.values().flat_map(Context::results) {
        known.insert(key(&result.value), result);
    }
    let mut results: Vec<&LastResult> = known.into_values().collect();
    results.sort_by_key(|result| result.order);
    let positions: BTreeMap<usize, u32> = results.iter().map(|result| key(&result.value)).zip(0..).collect();
    let position = |result: &LastResult| positions.get(&key(&result.value)).copied().unwrap_or_default();
    let mut outputs: BTreeMap<usize, StoredResult<&Json>> = BTreeMap::new();
    if !results.is_empty() {
        let mut add = |holder: Option<u32>, node: NodeIx, of: &Outputs| {
            for ((_, value), at) in of.iter().zip(0..) {
                outputs.insert(key(value), StoredResult::Output(holder, node, at));
            }
        };
        state.outputs.iter().for_each(|(node, of)| add(None, *node, of));
        for (sequence, context) in &state.contexts {
            let inside = context.ended_inside.iter().flat_map(|inside| &inside.outputs);
            inside.for_each(|(node, of)| add(Some(*sequence), *node, of));
            add(Some(*sequence), context.node, &context.outputs);
        }
    }
    let stored = |result: &&LastResult| outputs.get(&key(&result.value)).copied();
    let results: Vec<_> = results
        .iter()
        .map(|result| (stored(result), *result))
        .map(|(stored, result)| stored.unwrap_or(StoredResult::Value(&*result.value)))
        .collect();
    let executions = state.contexts.iter().filter(|(_, context)| {
        !context.outputs.is_empty() || context.last_result.is_some() || context.ended_inside.is_some()
    });
    let executions = executions.map(|(sequence, context)| {
        let inside = context.ended_inside.as_deref();
        let arrived = inside.into_iter().flat_map(|inside| &inside.arrived);
        let stored = StoredOutputs {
            own: &context.outputs,
            inside: inside.map(|inside| &inside.outputs),
            last: context.last_result.as_ref().map(position),
            hidden: inside.and_then(|inside| inside.hidden_result.as_ref()).map(position),
            arrived: arrived.map(|(node, result)| (*node, position(result))).collect(),
        };
        (*sequence, stored)
    });
    let executions = executions.collect();
    let followed = state.contexts.iter().filter_map(|(sequence, context)| match &context.memory {
        Memory::Flow(scope) if !scope.followed().is_empty() => Some((*sequence, scope.followed().clone())),
        _ => None,
    });
    Scoped {
        shared_below: state.outputs_shared_below,
        results,
        executions,
        followed: followed.collect(),
        spans: state.armed_spans.clone(),
    }
}

/// Serializing strings, numbers and sequences of known length to a vector, or counting them, cannot fail.
fn pack<T: Extend<u8>>(state: &State, attempts: &[(u32, &Attempts)], simple: Option<&Simple<'_>>, to: T) -> T {
    let of_root;
    let outputs = match simple {
        Some(simple) => &simple.outputs,
        None => {
            of_root = state.outputs.iter().map(|(node, outputs)| (*node, outputs)).collect();
            &of_root
        }
    };
    let packed = Packed {
        contexts: &state.contexts,
        next_context: state.next_context,
        next_journal: state.next_journal,
        outputs,
        last_result: simple.and_then(|simple| simple.last_result),
        trigger: state.trigger,
        trigger_used: state.trigger_used,
    };
    let to = postcard::to_extend(&packed, to).expect("a state is always serializable");
    let (deadline, first_journal) = (state.deadline, state.first_journal);
    let later = Later { deadline, first_journal, continuation: state.continuation.as_deref() };
    if simple.is_none() || has_strategies(attempts) {
        let computed = attempts.iter().filter_map(|(sequence, known)| Some((*sequence, known.strategy.as_ref()?)));
        let computed: Vec<(u32, &Json)> = computed.collect();
        let to = postcard::to_extend(&(attempts, later, computed), to).expect("strategies are always serializable");
        return match simple {
            Some(_) => to,
            None => {
                let to = postcard::to_extend(&scoped(state), to).expect("outputs are always serializable");
                match state.has_requests() {
                    true => postcard::to_extend(&requests(state), to).expect("numbers are always serializable"),
                    false => to,
                }
            }
        };
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

/// The attempts of all executions that have any, by sequence number, as they are packed after the state.
fn attempts(state: &State) -> Vec<(u32, &Attempts)> {
    let contexts = state.contexts.iter();
    contexts.filter_map(|(sequence, context)| Some((*sequence, context.attempts.as_deref()?))).collect()
}

/// The HTTP requests received on the paths of executions, by the numbers of both.
fn requests(state: &State) -> Vec<(u32, u32)> {
    state.contexts.iter().filter_map(|(sequence, context)| Some((*sequence, context.request?))).collect()
}

/// The packed size of a state in bytes.
pub fn packed_size(state: &State) -> usize {
    pack(state, &attempts(state), simple(state).as_ref(), ByteCount(1)).0
}

/// Counts bytes instead of keeping them.
pub(crate) struct ByteCount(pub(crate) usize);

impl Extend<u8> for ByteCount {
    fn extend<I: IntoIterator<Item = u8>>(&mut self, bytes: I) {
        self.0 += bytes.into_iter().count();
    }
}

impl Unpacked {
    /// The state, as the formats before 7 store it. `is_simple`: it is in one of them.
    fn into_state(self, is_simple: bool) -> State {
        let last = self.last_result.and_then(|(node, at)| self.outputs.get(&node)?.get(at as usize));
        let last = last.map(|(_, value)| LastResult { order: 0, value: value.clone() });
        let mut state = State {
            contexts: self.contexts,
            next_context: self.next_context,
            next_journal: self.next_journal,
            outputs: self.outputs,
            trigger: self.trigger,
            trigger_used: self.trigger_used,
            ..State::default()
        };
        if !is_simple || last.is_none() && state.outputs.is_empty() {
            return state;
        }
        state.contexts.values_mut().for_each(|context| context.last_result = last.clone());
        // What an open execution has set.
        let known: Vec<NodeIx> = state.outputs.keys().copied().filter(|node| open_once(&state, *node)).collect();
        for context in state.contexts.values_mut().filter(|context| context.parent.is_some()) {
            if known.contains(&context.node) {
                context.outputs = state.outputs.remove(&context.node).unwrap_or_default();
            }
        }
        if !state.outputs.is_empty() && state.has_open_container() {
            state.outputs_shared_below = state.next_context;
        }
        state
    }
}

impl State {
    /// Adds the outputs and results of each execution. `None` if they do not fit the state.
    fn add_scoped(&mut self, scoped: ScopedOutputs<Json, Outputs, BTreeMap<NodeIx, Outputs>>) -> Option<()> {
        let ScopedOutputs { shared_below, results, executions, followed, spans } = scoped;
        self.outputs_shared_below = shared_below;
        self.armed_spans = spans;
        for (sequence, edges) in followed {
            let Memory::Flow(scope) = &mut self.contexts.get_mut(&sequence)?.memory else { return None };
            edges.into_iter().for_each(|edge| {
                scope.set_followed(edge, true);
            });
        }
        let mut positions = Vec::with_capacity(executions.len());
        for (sequence, StoredOutputs { own, inside, last, hidden, arrived }) in executions {
            let context = self.contexts.get_mut(&sequence)?;
            context.outputs = own;
            context.ended_inside = inside.map(|outputs| Box::new(EndedInside { outputs, ..EndedInside::default() }));
            positions.push((sequence, last, hidden, arrived));
        }
        let mut known = Vec::with_capacity(results.len());
        for (result, order) in results.into_iter().zip(0..) {
            let value = match result {
                StoredResult::Value(value) => Arc::new(value),
                StoredResult::Output(holder, node, at) => self.output(holder, node, at)?,
            };
            known.push(LastResult { order, value });
        }
        let result = |at: u32| known.get(at as usize).cloned();
        for (sequence, last, hidden, arrived) in positions {
            let context = self.contexts.get_mut(&sequence)?;
            context.last_result = last.map(|at| result(at).ok_or(())).transpose().ok()?;
            if let Some(inside) = &mut context.ended_inside {
                inside.hidden_result = hidden.map(|at| result(at).ok_or(())).transpose().ok()?;
                inside.arrived =
                    arrived.into_iter().map(|(node, at)| Some((node, result(at)?))).collect::<Option<_>>()?;
            }
        }
        Some(())
    }

    fn output(&self, holder: Option<u32>, node: NodeIx, at: u32) -> Option<Arc<Json>> {
        let outputs = match holder.map(|holder| self.contexts.get(&holder)) {
            None => self.outputs.get(&node)?,
            Some(context) => match context? {
                context if context.node == node => &context.outputs,
                context => context.ended_inside.as_ref()?.outputs.get(&node)?,
            },
        };
        outputs.get(at as usize).map(|(_, value)| value.clone())
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
        Some((&format @ FORMAT..=FORMAT_WITH_REQUESTS, rest)) => {
            let (unpacked, mut rest): (Unpacked, _) = postcard::take_from_bytes(rest).map_err(damaged)?;
            let mut state = unpacked.into_state(format < FORMAT_WITH_SCOPED_OUTPUTS);
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
            if format >= FORMAT_WITH_STRATEGIES {
                let strategies: Vec<(u32, Json)>;
                (strategies, rest) = postcard::take_from_bytes(rest).map_err(damaged)?;
                for (sequence, strategy) in strategies {
                    let attempts = state.contexts.get_mut(&sequence).and_then(|context| context.attempts.as_mut());
                    let attempts =
                        attempts.ok_or_else(|| corrupt("It has a strategy of an execution without attempts."))?;
                    attempts.strategy = Some(strategy);
                }
            }
            if format >= FORMAT_WITH_SCOPED_OUTPUTS {
                let scoped;
                (scoped, rest) = postcard::take_from_bytes(rest).map_err(damaged)?;
                state.add_scoped(scoped).ok_or_else(|| corrupt("It has outputs of what is not in it."))?;
            }
            if format >= FORMAT_WITH_REQUESTS {
                let requests: Vec<(u32, u32)>;
                (requests, rest) = postcard::take_from_bytes(rest).map_err(damaged)?;
                for (sequence, request) in requests {
                    let context = state.contexts.get_mut(&sequence);
                    context.ok_or_else(|| corrupt("It has a request of an execution that is not open."))?.request =
                        Some(request);
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
    use crate::approval::{Approval, Rule};
    use crate::instance::compensation::{Ending, Unwinding};
    use crate::instance::{ActivityStatus, FlowScope, TokenChange, TokenScope};

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
            ..Context::default()
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
        let mut state = State {
            contexts: (0..).zip(memories.map(context)).collect(),
            next_context: 6,
            next_journal: 7,
            outputs: [(
                NodeIx(2),
                vec![("result".into(), Arc::new(Json(json!(true)))), ("taskId".into(), Arc::new(Json(json!(ID))))],
            )]
            .into(),
            trigger: Some(NodeIx(1)),
            trigger_used: true,
            ..State::default()
        };
        let value = state.outputs[&NodeIx(2)][0].1.clone();
        state.contexts.values_mut().for_each(|context| {
            context.last_result = Some(LastResult { order: 0, value: value.clone() });
        });
        state
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

    /// A state with what was added since: the tokens of a flowchart.
    fn later() -> State {
        let mut scope = TokenScope::new(300);
        scope.apply(TokenChange::Waiting(5, true));
        scope.apply(TokenChange::Blocked(7, true));
        scope.apply(TokenChange::Open(1, 2));
        scope.apply(TokenChange::Lost(1, 3, true));
        let mut state = sample();
        let mut context = state.contexts.remove(&0).unwrap();
        context.memory = Memory::Tokens(Box::new(scope));
        context.outputs = state.outputs.remove(&NodeIx(2)).unwrap();
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
        let unhex = |hex: &str| -> Vec<u8> {
            (0..hex.len() / 2).map(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).unwrap()).collect()
        };
        let state = later();
        assert_eq!(hex(&encode_state(&state)), FROZEN_LATER);
        assert_eq!(packed_size(&state), FROZEN_LATER.len() / 2);
        assert_eq!(decode_state(&unhex(FROZEN_LATER)).unwrap(), state);
        // It does not say whose outputs these are, so they are the root's for every open execution.
        let state = State { outputs_shared_below: 6, ..sample() };
        let read = decode_state(&unhex(FROZEN)).unwrap();
        assert_eq!(read, state);
        let bytes = encode_state(&read);
        assert_eq!((bytes[0], packed_size(&read)), (FORMAT_WITH_SCOPED_OUTPUTS, bytes.len()));
        assert_eq!(decode_state(&bytes).unwrap(), state);
    }

    /// Outputs inside open executions, after the state, as they were first written: never change this text.
    const FROZEN_SCOPED: &str = "\
        000000000002040000050000010102000106226c6f73742200010703000201000101020106526573756c740822696e\
        736964652201000101010403070106526573756c7405226f776e2200010200000000";

    #[test]
    fn outputs_inside_open_executions_stand_last() {
        let value = |text: &str| Arc::new(Json(json!(text)));
        let [of_root, inside, own, lost] = ["root", "inside", "own", "lost"].map(value);
        let result = |order: u32, value: &Arc<Json>| LastResult { order, value: value.clone() };
        let named = |value: &Arc<Json>| vec![("Result".to_owned(), value.clone())];
        let context = |node: u32, parent: Option<u32>| Context { node: NodeIx(node), parent, ..Context::default() };
        let arrived = [(NodeIx(4), result(3, &own))].into();
        let ended = EndedInside {
            outputs: [(NodeIx(2), named(&inside))].into(),
            hidden_result: Some(result(1, &inside)),
            arrived,
        };
        let loops = Context {
            ended_inside: Some(Box::new(ended)),
            last_result: Some(result(0, &of_root)),
            ..context(1, Some(0))
        };
        let body = Context { outputs: named(&own), last_result: Some(result(2, &lost)), ..context(3, Some(1)) };
        let state = State {
            contexts: [(0, context(0, None)), (1, loops), (7, body)].into(),
            outputs: [(NodeIx(5), named(&of_root))].into(),
            outputs_shared_below: 2,
            ..State::default()
        };
        let bytes = encode_state(&state);
        assert_eq!((bytes[0], packed_size(&state)), (FORMAT_WITH_SCOPED_OUTPUTS, bytes.len()));
        let read = decode_state(&bytes).unwrap();
        assert_eq!(read, state);
        let orders: Vec<u32> = read.contexts.values().flat_map(Context::results).map(|result| result.order).collect();
        assert_eq!(orders, [0, 1, 3, 2], "which result is later is kept");
        assert!(decode_state(&bytes[..bytes.len() - 1]).is_err());
        let before = Packed {
            contexts: &state.contexts,
            next_context: 0,
            next_journal: 0,
            outputs: &state.outputs.iter().map(|(node, outputs)| (*node, outputs)).collect(),
            last_result: None,
            trigger: None,
            trigger_used: false,
        };
        let before = 1 + postcard::to_stdvec(&before).unwrap().len();
        assert_eq!(bytes[before..].iter().map(|b| format!("{b:02x}")).collect::<String>(), FROZEN_SCOPED);
    }

    /// Requests behind the outputs, as they were first written: never change this text.
    const FROZEN_REQUESTS: &str = "0201070703";

    #[test]
    fn requests_on_the_paths_of_executions_stand_behind_outputs() {
        let context = |parent: Option<u32>, request: Option<u32>| Context { parent, request, ..Context::default() };
        let contexts = [(0, context(None, None)), (1, context(Some(0), Some(7))), (7, context(Some(1), Some(3)))];
        let state = State { contexts: contexts.into(), next_context: 8, ..State::default() };
        let bytes = encode_state(&state);
        assert_eq!((bytes[0], packed_size(&state)), (FORMAT_WITH_REQUESTS, bytes.len()));
        assert_eq!(decode_state(&bytes).unwrap(), state);
        let end = &bytes[bytes.len() - FROZEN_REQUESTS.len() / 2..];
        assert_eq!(end.iter().map(|b| format!("{b:02x}")).collect::<String>(), FROZEN_REQUESTS);
        assert!(decode_state(&bytes[..bytes.len() - 1]).is_err());
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

    /// The attempts, the deadline and what came later, after the state of [`FROZEN_LATER`], as they were first written:
    /// never change this text.
    const FROZEN_CONTINUED: &str = "\
        000100000000000000000000000000000007d804ac0201000000000000000000000000000000070000000000\
        00000000000000000000080373756d0d7b22746f74616c223a312e317d";

    /// What follows the state of [`FROZEN_LATER`] with a strategy, as it was first written: never change this text.
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
        // A new variant gets the next number: never change an existing one.
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
            Memory::Approval(_) => 9,
        };
        let kept = [sample(), later()].into_iter().flat_map(|state| state.contexts.into_values());
        let approval = Approval::new(Rule::All, vec!["ada".to_owned()]).unwrap();
        let memories = kept.map(|context| context.memory).chain([
            Memory::Deferred,
            Memory::Unwinding(Unwinding::Instance(Ending::None)),
            approval.to_memory(),
        ]);
        let numbers: Vec<u8> = memories
            .map(|memory| {
                let stored = postcard::to_stdvec(&memory).unwrap()[0];
                assert_eq!(stored, number(&memory));
                stored
            })
            .collect();
        assert_eq!(numbers, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
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
