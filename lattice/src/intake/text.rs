//! The text that `matches` reads: the text of an event, the groups found in it, and the values that they denote.

use std::{fmt::Write, sync::Arc};

use portent_monitor_core::{Event, Spelling, Symbols};
use portent_monitor_dsl::{StateVariable, TextPattern, VariableId};
use regex::CaptureLocations;
use rustc_hash::FxHashSet;

/// The text of the current event, spelled when a property first needs it.
#[derive(Debug)]
pub(super) struct EventText<'a> {
    pub(super) event: &'a Event,
    pub(super) symbols: &'a Symbols,
    /// Empty until needed; no spelling is empty.
    buffer: &'a mut String,
}

impl<'a> EventText<'a> {
    pub(super) fn new(event: &'a Event, symbols: &'a Symbols, buffer: &'a mut String) -> Self {
        buffer.clear();
        EventText {
            event,
            symbols,
            buffer,
        }
    }

    /// What `matches` reads: the event's own text or, if it has none, its spelling.
    pub(super) fn get(&mut self) -> &str {
        if let Some(text) = self.event.text() {
            return text;
        }
        if self.buffer.is_empty() {
            // Writing to a string cannot fail.
            let _ = write!(self.buffer, "{}", Spelling::new(self.event, self.symbols));
        }
        self.buffer
    }
}

/// An event declared by a pattern for text.
#[derive(Clone, Debug)]
pub(super) struct TextEvent {
    groups: Groups,
    /// For each argument, the parameter that it binds and the number of its group.
    arguments: Vec<(usize, usize)>,
}

impl TextEvent {
    /// `None` if the event is not declared by a pattern, or some argument has no group.
    pub(super) fn new(
        declared: &portent_monitor_dsl::Event,
        parameters: &[String],
    ) -> Option<Self> {
        let groups = Groups::new(declared.matches.as_ref()?);
        let arguments = declared.parameters.iter().flatten();
        Some(TextEvent {
            arguments: arguments
                .map(|&parameter| Some((parameter, groups.number(&parameters[parameter])?)))
                .collect::<Option<_>>()?,
            groups,
        })
    }

    /// If a text matches the event, the parameters that it binds, and their values.
    pub(super) fn arguments<'t>(
        &mut self,
        text: &'t str,
    ) -> Option<impl Iterator<Item = (usize, &'t str)>> {
        let is_event = self.groups.look(text) && { self.arguments.iter() }
            .all(|&(_, group)| self.groups.found.get(group).is_some());
        let TextEvent { groups, arguments } = self;
        let found = |&(parameter, group)| (parameter, groups.get(group, text).unwrap_or_default());
        is_event.then(|| arguments.iter().map(found))
    }
}

/// A variable whose values are read out of text.
#[derive(Clone, Debug)]
pub(super) struct TextVariable {
    pub(super) variable: VariableId,
    groups: Groups,
    /// The number of its group.
    group: usize,
}

impl TextVariable {
    /// `None` if the variable is not declared by a pattern.
    pub(super) fn new(declared: &StateVariable, variable: VariableId) -> Option<TextVariable> {
        let groups = Groups::new(declared.matches.as_ref()?);
        Some(TextVariable {
            variable,
            group: groups.number(&declared.name)?,
            groups,
        })
    }

    /// The part of a text that denotes its value, if there is one.
    pub(super) fn find<'t>(&mut self, text: &'t str) -> Option<&'t str> {
        self.groups.look(text).then_some(())?;
        self.groups.get(self.group, text)
    }
}

/// A regular expression, and the positions of its groups.
#[derive(Clone, Debug)]
struct Groups {
    pattern: TextPattern,
    found: CaptureLocations,
}

impl Groups {
    fn new(pattern: &TextPattern) -> Groups {
        Groups {
            found: pattern.regex().capture_locations(),
            pattern: pattern.clone(),
        }
    }

    /// The number of the group of this name, if there is one.
    fn number(&self, name: &str) -> Option<usize> {
        let mut names = self.pattern.regex().capture_names();
        names.position(|group| group == Some(name))
    }

    fn look(&mut self, text: &str) -> bool {
        let regex = self.pattern.regex();
        regex.captures_read(&mut self.found, text).is_some()
    }

    fn get<'t>(&self, group: usize, text: &'t str) -> Option<&'t str> {
        let (start, end) = self.found.get(group)?;
        Some(&text[start..end])
    }
}

/// Texts that were recent values of a variable, so that repeated ones are not copied again.
#[derive(Clone, Debug, Default)]
pub(super) struct Texts(FxHashSet<Arc<str>>);

impl Texts {
    /// When there are this many, all are forgotten, because a variable may take ever new values.
    const MOST: usize = 4096;

    pub(super) fn get(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.0.get(text) {
            return Arc::clone(known);
        }
        if self.0.len() == Self::MOST {
            self.0.clear();
        }
        let text: Arc<str> = text.into();
        self.0.insert(Arc::clone(&text));
        text
    }
}
