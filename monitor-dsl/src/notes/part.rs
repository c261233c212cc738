//! The parts of a tree, by the way that leads to them.

use crate::{
    ere::{Ere, EreOp},
    ltl::{Ltl, LtlOp},
    syntax::Span,
};

/// A formula or an expression.
pub(super) trait SyntaxTree: Clone {
    fn span(&self) -> Span;
    fn parts(&self) -> &[Self];
    fn parts_mut(&mut self) -> &mut [Self];
    /// Whether it is a constant; replacing one would reveal nothing.
    fn is_constant(&self) -> bool;

    /// The ways from the root to all nodes, shorter ones first in each direction.
    fn paths(&self) -> Vec<Vec<usize>> {
        let mut paths = Vec::new();
        collect_paths(self, &mut Vec::new(), &mut paths);
        paths
    }

    /// The node at the end of a path.
    fn at(&self, path: &[usize]) -> &Self {
        path.iter().fold(self, |tree, &index| &tree.parts()[index])
    }

    /// The tree with another part at the end of a path.
    fn replaced(&self, path: &[usize], part: &Self) -> Self {
        let mut copy = self.clone();
        let place = path
            .iter()
            .fold(&mut copy, |tree, &index| &mut tree.parts_mut()[index]);
        *place = part.clone();
        copy
    }
}

fn collect_paths(tree: &impl SyntaxTree, path: &mut Vec<usize>, paths: &mut Vec<Vec<usize>>) {
    paths.push(path.clone());
    for (index, part) in tree.parts().iter().enumerate() {
        path.push(index);
        collect_paths(part, path, paths);
        path.pop();
    }
}

impl SyntaxTree for Ltl {
    fn span(&self) -> Span {
        self.span
    }

    fn parts(&self) -> &[Self] {
        &self.parts
    }

    fn parts_mut(&mut self) -> &mut [Self] {
        &mut self.parts
    }

    fn is_constant(&self) -> bool {
        matches!(self.op, LtlOp::True | LtlOp::False)
    }
}

impl SyntaxTree for Ere {
    fn span(&self) -> Span {
        self.span
    }

    fn parts(&self) -> &[Self] {
        &self.parts
    }

    fn parts_mut(&mut self) -> &mut [Self] {
        &mut self.parts
    }

    fn is_constant(&self) -> bool {
        matches!(self.op, EreOp::Empty | EreOp::Epsilon)
    }
}
