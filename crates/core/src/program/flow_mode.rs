//! The mode of a flowchart, which decides what runs next, and the merge mode of an activity in token mode.

/// How a flowchart decides what runs next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FlowMode {
    /// By counting visits of connections, followed or not.
    #[default]
    Counter,
    /// By tokens on followed connections.
    Token,
}

impl FlowMode {
    /// Parses Elsa's name or the short one, in any letter case. `Some(None)` is Elsa's `Default`.
    pub fn from_name(name: &str) -> Option<Option<Self>> {
        match name.to_ascii_lowercase().as_str() {
            "token" | "tokenbased" => Some(Some(Self::Token)),
            "counter" | "counterbased" => Some(Some(Self::Counter)),
            "default" => Some(None),
            _ => None,
        }
    }

    /// The name in Elsa's documents.
    pub fn name(self) -> &'static str {
        match self {
            Self::Counter => "CounterBased",
            Self::Token => "TokenBased",
        }
    }
}

/// When an activity runs, depending on the tokens on its connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MergeMode {
    /// Runs once no direct predecessor is still pending.
    #[default]
    Stream,
    /// Runs when every forward connection to it has a token.
    Merge,
    /// Runs when every connection to it has a token, including backward ones.
    Converge,
    /// Runs for each token.
    Cascade,
    /// Runs on the first token; the preceding activities are cancelled, and later tokens are discarded.
    Race,
}

impl MergeMode {
    /// Elsa's names in the order of [`ALL`](Self::ALL).
    pub const NAMES: [&str; 6] = ["None", "Stream", "Merge", "Converge", "Cascade", "Race"];

    const ALL: [MergeMode; 6] = [Self::Stream, Self::Stream, Self::Merge, Self::Converge, Self::Cascade, Self::Race];

    /// Reads Elsa's name in any letter case.
    pub fn from_name(name: &str) -> Option<Self> {
        let found = Self::NAMES.iter().position(|known| known.eq_ignore_ascii_case(name))?;
        Self::ALL.get(found).copied()
    }
}
