//! What all activities of a document have.

/// How long the paths of ids of one definition may be together.
pub(super) const MAX_NODE_ID_BYTES: usize = 64 * 1024 * 1024;

/// Members that every activity may have; the first [`RESERVED`] are never an input of a custom one.
pub(super) const COMMON: [&str; 22] = [
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
];

/// How many of the common members mean the same in every activity.
pub(super) const RESERVED: usize = 11;
