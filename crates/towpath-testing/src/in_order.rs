//! Many things at once, reported in their order.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// How long nothing is reported before `wait` is called.
const PAUSE: Duration = Duration::from_millis(150);

/// Does `count` things on `workers` threads; `report` gets each in order, as soon as those before
/// it are done; `wait` is called now and then with how many are done.
pub fn in_order<T: Send>(
    workers: usize,
    count: usize,
    one: impl Fn(usize) -> T + Sync,
    report: &mut dyn FnMut(usize, T),
    wait: &dyn Fn(usize),
) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let (sender, receiver) = channel();
        for _ in 0..workers.min(count) {
            let (sender, next, one) = (sender.clone(), &next, &one);
            let work = move || {
                loop {
                    let index = next.fetch_add(1, Ordering::SeqCst);
                    if index >= count || sender.send((index, one(index))).is_err() {
                        return;
                    }
                }
            };
            if std::thread::Builder::new().spawn_scoped(scope, work.clone()).is_err() {
                // As many as the machine has threads for; where that is none, this one works.
                work();
            }
        }
        drop(sender);
        let mut early = BTreeMap::new();
        let (mut reported, mut done) = (0, 0);
        loop {
            match receiver.recv_timeout(PAUSE) {
                Ok((index, end)) => {
                    early.insert(index, end);
                    done += 1;
                }
                Err(RecvTimeoutError::Timeout) => wait(done),
                Err(RecvTimeoutError::Disconnected) => return,
            }
            while let Some(end) = early.remove(&reported) {
                report(reported, end);
                reported += 1;
            }
        }
    });
}
