//! Tables whose cells are wrapped, so that they fit into a width.

use super::{
    lines::{PrintedLine, wrap},
    words::Words,
};
use portent_answer::Paint;

/// The separator between two columns.
const GAP: usize = 2;
/// No column is made narrower than this.
const NARROWEST: usize = 8;

/// Lays out rows of cells; the first row is the head, which may be empty.
pub(super) fn render(rows: &[Vec<Words>], width: usize, paint: Paint) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let widths = widths(rows, columns, width);
    let mut text = String::new();
    for (number, row) in rows.iter().enumerate() {
        if row.iter().all(Words::is_empty) {
            continue;
        }
        text += &print(row, &widths, paint);
        if number == 0 {
            let rules: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
            text += &paint.dim(&rules.join("  "));
            text.push('\n');
        }
    }
    text
}

/// The widths of the columns: as wide as their cells, or, if that is too wide, with the widest
/// columns narrowed.
fn widths(rows: &[Vec<Words>], columns: usize, width: usize) -> Vec<usize> {
    let natural = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(Words::width).max().unwrap_or(0)
    };
    let mut widths: Vec<usize> = (0..columns).map(natural).collect();
    let room = width.saturating_sub(GAP * columns.saturating_sub(1));
    while widths.iter().sum::<usize>() > room {
        match widths.iter_mut().max() {
            Some(widest) if *widest > NARROWEST => *widest -= 1,
            _ => break,
        }
    }
    widths
}

fn print(row: &[Words], widths: &[usize], paint: Paint) -> String {
    let cells: Vec<Vec<PrintedLine>> = row
        .iter()
        .zip(widths)
        .map(|(words, width)| wrap(words, *width, paint))
        .collect();
    let height = cells.iter().map(Vec::len).max().unwrap_or(0);
    let mut text = String::new();
    for line in 0..height {
        let mut shown = String::new();
        for (cell, width) in cells.iter().zip(widths) {
            let (part, wide) = cell
                .get(line)
                .map_or(("", 0), |line| (&line.shown, line.width));
            shown += part;
            shown += &" ".repeat(width - wide + GAP);
        }
        text += shown.trim_end();
        text.push('\n');
    }
    text
}
