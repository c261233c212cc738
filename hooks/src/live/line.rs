//! Descriptions of operations, built only if the operation is recorded.

use portent_monitor_core::{LocId, Mark, Op, Operation, VarId};

use super::{
    actor::Place,
    record::{self, EncodedValue, Texts, Words},
};

/// What was done, to be written down.
pub(crate) trait Line {
    fn place(&self) -> Place;
    fn words(self, loc: Option<LocId>, texts: &Texts) -> (Words, Option<Words>);
}

/// That a variable was written. It never becomes an [`Op`] in the thread that wrote, which would be dearer than all the
/// rest: an enumeration is put together in memory.
pub(crate) struct WriteRecord {
    pub(crate) operation: Operation,
    pub(crate) var: VarId,
    pub(crate) told: Option<EncodedValue>,
    pub(crate) mark: Option<Mark>,
    pub(crate) place: Place,
}

impl Line for &mut WriteRecord {
    #[inline(always)]
    fn place(&self) -> Place {
        self.place
    }

    #[inline(always)]
    fn words(self, loc: Option<LocId>, texts: &Texts) -> (Words, Option<Words>) {
        let told = self.told.as_mut();
        record::wrote(self.operation, self.var, told, loc, self.mark, texts)
    }
}

/// The line of an operation that is not recorded is never asked for.
pub(crate) fn never_asked() -> OperationRecord {
    unreachable!("there was no ticket")
}

/// Any operation.
pub(crate) struct OperationRecord {
    op: Op,
    mark: Option<Mark>,
    place: Place,
}

impl Line for OperationRecord {
    fn place(&self) -> Place {
        self.place
    }

    fn words(self, loc: Option<LocId>, texts: &Texts) -> (Words, Option<Words>) {
        record::did(self.op, loc, self.mark, texts)
    }
}

impl OperationRecord {
    pub(crate) fn new(op: Op, place: Place) -> OperationRecord {
        OperationRecord {
            op,
            mark: None,
            place,
        }
    }

    pub(crate) fn marked(self, mark: Mark) -> OperationRecord {
        OperationRecord {
            mark: Some(mark),
            ..self
        }
    }
}
