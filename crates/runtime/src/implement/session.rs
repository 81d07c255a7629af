//! Ids of sessions that follow from what they are for (I-41).

use uuid::Uuid;

const NAMESPACE: Uuid = Uuid::from_u128(0x27ec_e4fd_4a06_49bf_a921_bf07_ecb0_dc10);

/// The id of the session for a stage of a bead: the same for the same stage.
pub fn session_id(source: &str, stage: &str) -> String {
    named(&format!("{source}:{stage}"))
}

/// The id of a later session for the same stage: an agent takes no id twice.
pub(super) fn later_session_id(source: &str, stage: &str, what: &str) -> String {
    named(&format!("{source}:{stage}:{what}"))
}

fn named(name: &str) -> String {
    Uuid::new_v5(&NAMESPACE, name.as_bytes()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn i_41_the_ids_of_the_contract() {
        assert_eq!(
            session_id("proj-42", "preflight"),
            "dd2cbd7c-554a-5ad9-8470-aa6e93ffd1e7"
        );
        assert_eq!(
            session_id("7bk.19.3", "red-tests"),
            "d02b7ec8-e3bd-5839-bab2-134a2a447b6c"
        );
    }
}
