//! Whatever is recorded comes back as it was: any text, any bytes, in any split into commits.

use crate::support::create;
use proptest::collection::vec;
use proptest::prelude::*;
use tempfile::tempdir;
use towpath_store::{NewFact, OutputRef, Store, StoredFact, StoredOutput};

fn output() -> impl Strategy<Value = Option<OutputRef>> {
    prop_oneof![
        Just(None),
        vec(any::<u8>(), 0..6_000).prop_map(|bytes| Some(OutputRef::inline(bytes))),
        ("[a-z]{1,8}/[^/\0.]{1,8}", any::<u32>()).prop_map(|(name, len)| Some(OutputRef::File {
            name,
            len: u64::from(len),
            sum: Some([7; 16])
        })),
    ]
}

fn a_fact() -> impl Strategy<Value = NewFact> {
    let kind = prop_oneof![Just("job_started"), Just("job_finished")];
    let key = proptest::option::of(any::<String>());
    (any::<i64>(), kind, key, any::<String>(), output(), output()).prop_map(
        |(at_ms, kind, key, body, stdout, stderr)| NewFact {
            at_ms,
            kind,
            key,
            body,
            stdout,
            stderr,
        },
    )
}

fn as_stored(output: Option<OutputRef>, with_bytes: bool) -> Option<StoredOutput> {
    output.map(|output| match output {
        OutputRef::File { name, len, sum } => StoredOutput::File { name, len, sum },
        OutputRef::Inline { bytes, .. } => {
            let len = bytes.len() as u64;
            StoredOutput::Inline { len, bytes: with_bytes.then_some(bytes) }
        }
    })
}

fn expected(batches: &[Vec<NewFact>]) -> Vec<StoredFact> {
    let all = batches.iter().flatten().cloned();
    all.zip(1..)
        .map(|(fact, seq)| StoredFact {
            seq,
            at_ms: fact.at_ms,
            kind: fact.kind.to_owned(),
            key: fact.key,
            body: fact.body,
            stdout: as_stored(fact.stdout, true),
            stderr: as_stored(fact.stderr, false),
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..Default::default() })]

    #[test]
    fn facts_come_back_as_they_were(batches in vec(vec(a_fact(), 0..5), 0..6)) {
        let directory = tempdir().unwrap();
        let mut store = Store::open(directory.path()).unwrap();
        let run = create(&mut store, "7f3k");
        for batch in &batches {
            store.append(&run, batch, None).unwrap();
        }
        drop(store);
        let store = Store::open_for_reading(directory.path()).unwrap().unwrap();
        prop_assert_eq!(store.facts(&run).unwrap(), expected(&batches));
    }
}
