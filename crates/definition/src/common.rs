//! Members that all activities of a document have.

/// Maximum total length of the paths of ids in one definition.
pub(super) const MAX_NODE_ID_BYTES: usize = 64 * 1024 * 1024;

/// Members that every activity may have; the first [`RESERVED`] are never inputs of a custom activity.
pub(super) const COMMON: [&str; 24] = [
    "id",
    "nodeId",
    "name",
    "type",
    "version",
    "customProperties",
    "applicationProperties",
    "metadata",
    "canStartWorkflow",
    "runAsynchronously",
    "mergeMode",
    "start",
    "commitStrategy",
    "source",
    "displayName",
    "displayText",
    "title",
    "description",
    "comment",
    "note",
    "notes",
    "tags",
    "retry",
    "timeout",
];

/// Number of common members that mean the same in every activity.
pub(super) const RESERVED: usize = 11;
