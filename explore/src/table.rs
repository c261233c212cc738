//! A run as a table: one column per thread, one row per step, and its source location.

use std::fmt;

use crate::report::{Failure, TakenStep};

/// Wider cells are cut.
const WIDEST: usize = 36;

/// Writes the run of a failure.
pub(crate) fn write(failure: &Failure, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    // Threads that did nothing have no column.
    let columns: Vec<usize> = (0..failure.threads.len())
        .filter(|thread| failure.steps.iter().any(|step| step.thread == *thread))
        .collect();
    let widths: Vec<usize> = columns
        .iter()
        .map(|&thread| {
            let cells = failure.steps.iter().filter(|step| step.thread == thread);
            let widest = cells.map(|step| cell(step).chars().count()).max();
            let name = failure.threads[thread].chars().count();
            widest.unwrap_or(0).max(name).min(WIDEST)
        })
        .collect();
    write!(f, "  {:>4}", "step")?;
    for (&thread, &width) in columns.iter().zip(&widths) {
        write!(f, "  {:width$}", cut(&failure.threads[thread]))?;
    }
    writeln!(f)?;
    for (number, step) in failure.steps.iter().enumerate() {
        write!(f, "  {:>4}", number + 1)?;
        for (&thread, &width) in columns.iter().zip(&widths) {
            let text = if thread == step.thread {
                cut(&cell(step))
            } else {
                String::new()
            };
            write!(f, "  {text:width$}")?;
        }
        if let Some(place) = &step.place {
            write!(f, "  {place}")?;
        }
        writeln!(f)?;
    }
    Ok(())
}

fn cell(step: &TakenStep) -> String {
    if step.object.is_empty() {
        step.operation.to_owned()
    } else {
        format!("{} {}", step.operation, step.object)
    }
}

fn cut(text: &str) -> String {
    if text.chars().count() <= WIDEST {
        return text.to_owned();
    }
    // The end of a place tells more than its beginning.
    let (head, _) = text.split_once(' ').unwrap_or((text, ""));
    let head: String = head.chars().take(12).collect();
    let left = WIDEST - head.chars().count() - 2;
    let tail = text.chars().skip(text.chars().count() - left);
    format!("{head} …{}", tail.collect::<String>())
}
