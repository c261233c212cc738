//! The lattice of two unsynchronised threads, drawn as a diamond.
//!
//! The start is at the top; a step of the first thread goes down to the left, one of the second to the
//! right. Every path from the top to the bottom is a run.

use portent_lattice::report::Row;
use portent_monitor_dsl::{Monitor, Verdict};
use portent_trace::Header;

use portent_answer::{Paint, text::label};

use crate::failure::Failure;

/// Half of the distance between two cuts of a level.
const HALF: usize = 4;

/// The status at a cut of the runs that lead there.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Cut {
    fine: bool,
    violated: bool,
    observed: bool,
}

impl Cut {
    fn mark(self) -> char {
        match (self.fine, self.violated) {
            (_, false) => '●',
            (true, true) => '◐',
            (false, true) => '✗',
        }
    }

    fn paint(self, paint: Paint) -> String {
        let mark = if self.observed {
            format!("[{}]", self.mark())
        } else {
            format!(" {} ", self.mark())
        };
        match (self.fine, self.violated) {
            (_, false) => paint.green(&mark),
            (true, true) => paint.yellow(&mark),
            (false, true) => paint.red(&mark),
        }
    }
}

/// Draws the lattice of a run of two threads.
pub(crate) fn draw(
    monitor: &Monitor,
    header: &Header,
    observed: &[&Row],
    paint: Paint,
) -> Result<String, Failure> {
    // The first thread by name is on the left, like its lane in the tables and on the page.
    let Some(first) = observed.iter().min_by(|a, b| a.t.cmp(&b.t)) else {
        return Ok(String::new());
    };
    let (left, right): (Vec<&Row>, Vec<&Row>) = observed.iter().partition(|row| row.t == first.t);
    let cuts = cuts(monitor, header, observed, &left, &right)?;
    let mut text = String::new();
    let (wide, high) = (left.len(), right.len());
    for level in 0..=wide + high {
        let inside = (0..=level)
            .rev()
            .filter(|l| *l <= wide && level - l <= high);
        let inside: Vec<usize> = inside.collect();
        // The cut with l steps of the left thread stands (level - 2 l) half distances from the axis.
        let Some(leftmost) = inside.first() else {
            continue;
        };
        let column = 6 + HALF * (wide + level - 2 * leftmost);
        let marks = inside.iter().map(|&l| cuts[l][level - l].paint(paint));
        let marks = marks.collect::<Vec<_>>().join(&" ".repeat(2 * HALF - 3));
        text += &format!("{}{}\n", " ".repeat(column), marks.trim_end());
    }
    let steps = |rows: &[&Row]| {
        let steps = rows.iter().map(|row| label(row));
        steps.collect::<Vec<_>>().join(", ")
    };
    text += &format!(
        "\n    down to the left: {} does {}\n    down to the right: {} does {}\n",
        first.t,
        steps(&left),
        right.first().map_or("", |row| &row.t),
        steps(&right),
    );
    text += "    ● every way to here is fine   ◐ some way to here is violated   ✗ all are\n";
    text +=
        "    [ ] the observed run; every other way from top to bottom could have happened too\n";
    Ok(text)
}

/// The status of the paths to each cut, by the numbers of steps of both threads.
fn cuts(
    monitor: &Monitor,
    header: &Header,
    observed: &[&Row],
    left: &[&Row],
    right: &[&Row],
) -> Result<Vec<Vec<Cut>>, Failure> {
    let mut cuts = vec![vec![Cut::default(); right.len() + 1]; left.len() + 1];
    let (mut l, mut r) = (0, 0);
    cuts[0][0].observed = true;
    for row in observed {
        match left.get(l) {
            Some(next) if next.event == row.event => l += 1,
            _ => r += 1,
        }
        cuts[l][r].observed = true;
    }
    let start = monitor.start_with(|name| header.initial(name))?;
    // There are few paths through a small lattice, so each is followed.
    let mut open = vec![(0, 0, start)];
    while let Some((l, r, stepper)) = open.pop() {
        match stepper.verdict() {
            Verdict::Violated => cuts[l][r].violated = true,
            _ => cuts[l][r].fine = true,
        }
        for (row, to) in [(left.get(l), (l + 1, r)), (right.get(r), (l, r + 1))] {
            let Some(row) = row else { continue };
            let mut next = stepper.clone();
            let alphabet = monitor.alphabet();
            let writes = row.set.iter();
            let writes =
                writes.filter_map(|(name, value)| Some((alphabet.variable(name)?, value.clone())));
            let event = row.name.as_deref().and_then(|name| alphabet.event(name));
            next.step(event, writes.collect::<Vec<_>>())?;
            open.push((to.0, to.1, next));
        }
    }
    Ok(cuts)
}
