//! The conditions of a query that were asked for, as a `WHERE` clause.

use rusqlite::ToSql;

/// The conditions of a `WHERE`, in the order of their values.
#[derive(Default)]
pub(crate) struct WhereClause<'a> {
    conditions: Vec<String>,
    values: Vec<Box<dyn ToSql + 'a>>,
}

impl<'a> WhereClause<'a> {
    /// Adds `condition`, in which `?` is the value, if there is a value.
    pub(crate) fn by<T: ToSql + 'a>(
        mut self,
        condition: &str,
        value: Option<T>,
    ) -> WhereClause<'a> {
        if let Some(value) = value {
            self.conditions.push(condition.to_owned());
            self.values.push(Box::new(value));
        }
        self
    }

    /// Adds a condition without a value, if it is wanted.
    pub(crate) fn only(mut self, condition: &str, wanted: bool) -> WhereClause<'a> {
        if wanted {
            self.conditions.push(condition.to_owned());
        }
        self
    }

    /// `WHERE …`, or nothing when all rows are wanted.
    pub(crate) fn clause(&self) -> String {
        match self.conditions.is_empty() {
            true => String::new(),
            false => format!("WHERE {}", self.conditions.join(" AND ")),
        }
    }

    pub(crate) fn values(&self) -> Vec<&dyn ToSql> {
        self.values.iter().map(AsRef::as_ref).collect()
    }
}
