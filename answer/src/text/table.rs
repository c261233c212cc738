//! Aligned columns.

use unicode_width::UnicodeWidthStr;

/// The alignment of a column's cells.
#[derive(Clone, Copy)]
pub enum Side {
    /// For words.
    Left,
    /// For numbers.
    Right,
}

/// A cell: its printed text, and its width without colours.
pub struct Cell {
    shown: String,
    width: usize,
}

impl Cell {
    /// A cell whose text is printed as `paint` returns it.
    pub fn painted(text: &str, paint: impl Fn(&str) -> String) -> Cell {
        Cell {
            shown: paint(text),
            width: text.width(),
        }
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Cell {
        Cell {
            width: text.width(),
            shown: text,
        }
    }
}

/// Prints rows with two spaces between columns and none at the ends of lines.
pub fn render(sides: &[Side], rows: &[Vec<Cell>], indent: &str) -> String {
    let widths: Vec<usize> = (0..sides.len())
        .map(|column| rows.iter().map(|row| row[column].width).max().unwrap_or(0))
        .collect();
    let mut text = String::new();
    for row in rows {
        let mut line = indent.to_owned();
        for (column, cell) in row.iter().enumerate() {
            let gap = " ".repeat(widths[column] - cell.width);
            match sides[column] {
                Side::Left => line.extend([cell.shown.as_str(), &gap]),
                Side::Right => line.extend([&gap, cell.shown.as_str()]),
            }
            line.push_str("  ");
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}
