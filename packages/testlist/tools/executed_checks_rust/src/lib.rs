//! Writes down which checks each test ran, in the form of executed_checks.cjs: what rewrite.py beside it puts into tests.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};

struct Test {
    file: &'static str,
    line: u32,
    name: &'static str,
    lines: BTreeMap<u32, u32>,
    count: u32,
    panics: u32,
}

/// The test that runs: one at a time, with all of its threads.
static RUNNING: Mutex<Option<Test>> = Mutex::new(None);

fn running() -> MutexGuard<'static, Option<Test>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends a test: of one that failed, some checks were not come to.
pub struct Ended;

/// A test begins.  panics: the line that says that it should, or 0.
pub fn begin(file: &'static str, line: u32, name: &'static str, panics: u32) -> Ended {
    let test = Test { file, line, name, lines: BTreeMap::new(), count: 0, panics };
    assert!(running().replace(test).is_none(), "tests run one at a time");
    Ended
}

/// A check is about to run.
pub fn note(file: &'static str, line: u32) {
    if let Some(test) = running().as_mut() {
        test.count += 1;
        if test.file == file {
            *test.lines.entry(line).or_default() += 1;
        }
    }
}

impl Drop for Ended {
    fn drop(&mut self) {
        let Some(mut test) = running().take() else { return };
        let has_panicked = std::thread::panicking();
        if has_panicked && test.panics > 0 {
            test.count += 1;
            test.lines.insert(test.panics, 1);
        }
        if has_panicked == (test.panics > 0) {
            tell(&test);
        }
    }
}

fn tell(test: &Test) {
    let (Some(path), Ok(root)) = (std::env::var_os("EXECUTED_CHECKS"), std::env::var("EXECUTED_CHECKS_ROOT")) else {
        return;
    };
    let lines: Vec<String> = test.lines.iter().map(|(line, count)| format!("\"{line}\": {count}")).collect();
    let told = format!(
        "{{\"file\": \"{}/{}\", \"line\": {}, \"name\": \"{}\", \"count\": {}, \"lines\": {{{}}}}}\n",
        root, test.file, test.line, test.name, test.count, lines.join(", ")
    );
    let out = std::fs::OpenOptions::new().create(true).append(true).open(path);
    out.expect("EXECUTED_CHECKS can be written").write_all(told.as_bytes()).expect("it is written");
}
