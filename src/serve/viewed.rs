//! Pages that a browser asked for last. A build renders them before all others.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

/// Number of pages that are remembered: the page under edit and a few open beside it.
const CAPACITY: usize = 4;

/// Addresses of the pages requested last, shared by the server and the builds.
#[derive(Debug, Clone, Default)]
pub(crate) struct ViewedPages(Arc<Mutex<VecDeque<String>>>);

impl ViewedPages {
    /// Records a request for a page, by its address from the root.
    pub(crate) fn record(&self, address: &str) {
        let mut viewed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        viewed.retain(|known| known != address);
        viewed.truncate(CAPACITY - 1);
        viewed.push_front(address.to_string());
    }

    /// Returns the addresses recorded last.
    pub(crate) fn addresses(&self) -> BTreeSet<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pages_requested_last_are_remembered() {
        let viewed = ViewedPages::default();
        ["a/", "b/", "c/", "d/", "a/", "e/"].iter().for_each(|address| viewed.record(address));
        assert_eq!(viewed.addresses(), ["a/", "c/", "d/", "e/"].map(String::from).into());
    }
}
