//! Ids of executions.

use uuid::Uuid;

/// The id of an activity execution: the id of the instance, with the sequence number XORed into its last bytes.
pub fn activity_instance_id(instance_id: Uuid, sequence: u32) -> Uuid {
    Uuid::from_u128(instance_id.as_u128() ^ u128::from(sequence))
}

/// The sequence number of an activity execution, if it belongs to the instance.
pub fn sequence_of(instance_id: Uuid, activity_instance_id: Uuid) -> Option<u32> {
    u32::try_from(instance_id.as_u128() ^ activity_instance_id.as_u128()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn activity_instance_ids_are_reversible_and_belong_to_one_instance() {
        let instance = Uuid::from_u128(0x0193_4567_89ab_7def_8123_4567_89ab_cdef);
        for sequence in [0, 1, 0x89ab_cdef, u32::MAX] {
            let id = activity_instance_id(instance, sequence);
            assert_eq!(sequence_of(instance, id), Some(sequence));
        }
        let other = Uuid::from_u128(instance.as_u128() ^ (1 << 40));
        assert_eq!(sequence_of(instance, other), None);
    }
}
