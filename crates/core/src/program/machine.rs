//! The connections of a state machine's states, by their positions in the definition.

/// Position of the states among the lists of parts.
pub const STATES: usize = 0;

/// Position of the transitions among the lists of parts.
pub const TRANSITIONS: usize = 1;

/// States and transitions, indexed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Machine {
    initial: u32,
    /// Source and target of each transition.
    ends: Vec<(u32, u32)>,
    /// Transitions by source, in the order in which they are written.
    outbound: Vec<Vec<u32>>,
}

impl Machine {
    /// Builds the index; leaves out transitions between states that do not exist.
    pub fn build(states: usize, initial: u32, ends: Vec<(u32, u32)>) -> Self {
        let mut outbound = vec![Vec::new(); states];
        for (transition, (from, to)) in (0u32..).zip(&ends) {
            if let (Some(list), true) = (outbound.get_mut(*from as usize), (*to as usize) < states) {
                list.push(transition);
            }
        }
        Self { initial, ends, outbound }
    }

    /// Number of its states, whose numbers begin at 0.
    pub fn len(&self) -> usize {
        self.outbound.len()
    }

    /// Whether there are no states.
    pub fn is_empty(&self) -> bool {
        self.outbound.is_empty()
    }

    /// Number of the initial state.
    pub fn initial(&self) -> u32 {
        self.initial
    }

    /// Transitions that leave a state.
    pub fn outbound(&self, state: u32) -> &[u32] {
        self.outbound.get(state as usize).map_or(&[], Vec::as_slice)
    }

    /// The state to which a transition leads.
    pub fn target(&self, transition: u32) -> Option<u32> {
        self.ends.get(transition as usize).map(|(_, to)| *to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transitions_are_found_by_their_source() {
        let machine = Machine::build(3, 1, vec![(0, 1), (1, 0), (0, 2), (0, 9), (9, 0)]);
        assert_eq!((machine.len(), machine.initial()), (3, 1));
        assert_eq!(machine.outbound(0), [0, 2]);
        assert_eq!(machine.outbound(1), [1]);
        assert!(machine.outbound(2).is_empty() && machine.outbound(9).is_empty());
        assert_eq!(machine.target(2), Some(2));
        assert_eq!(machine.target(7), None);
    }
}
