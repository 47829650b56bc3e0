//! A Config in a file: found among the documents, checked, and each problem with its line and column. Pure.

use serde_json::Value;

use super::{Config, KIND, Origin};
use crate::path::{FieldPath, Step};
use crate::problem::Problem;
use crate::yaml::{self, Text};

/// Problems that are told one by one: to find the place of each, the text is read again.
const MOST_PROBLEMS: usize = 20;

/// A Config from a file.
#[derive(Clone, Debug, PartialEq)]
pub struct FromFile {
    /// The Config.
    pub config: Config,
    /// The object as it stands in the file.
    pub object: Value,
    /// What is worth a warning.
    pub warnings: Vec<Problem>,
}

/// Reads the one Config of a file, YAML or JSON, alone or in a list; `file` is how messages name it.
pub fn read(file: &str, text: &[u8], expected_name: &str) -> Result<FromFile, Vec<Problem>> {
    let (object, place) = only_object(file, text).map_err(|problem| vec![problem])?;
    match Config::read(&object, expected_name, Origin::File) {
        Ok((config, warnings)) => Ok(FromFile { config, object, warnings: place.locate(warnings) }),
        Err(problems) => Err(place.locate(problems)),
    }
}

/// Where an object stands.
struct Place<'a> {
    file: &'a str,
    text: Text<'a>,
    /// The steps from the document to the object.
    prefix: FieldPath,
}

/// Reads to the end of the file, but keeps no more than one document and one object.
fn only_object<'a>(file: &'a str, text: &'a [u8]) -> Result<(Value, Place<'a>), Problem> {
    let (mut count, mut only) = (0_usize, None);
    for document in yaml::documents(text) {
        let document = document.map_err(|error| Problem {
            line: Some(error.line()),
            column: Some(error.column()),
            ..Problem::in_file(file, error.problem().to_string())
        })?;
        let is_list = document.value.get("items").is_some_and(Value::is_array);
        for (item, object) in yaml::unwrap_list(document.value).into_iter().enumerate() {
            let steps = [Step::Field("items".to_owned()), Step::Index(item)];
            let prefix = FieldPath(if is_list { steps.to_vec() } else { Vec::new() });
            // A second one makes both of no use.
            only = (count == 0).then_some((object, Place { file, text: document.text, prefix }));
            count += 1;
        }
    }
    let message = format!("expected one {KIND}, found {count} objects");
    only.ok_or_else(|| Problem::in_file(file, message))
}

impl Place<'_> {
    fn locate(&self, problems: Vec<Problem>) -> Vec<Problem> {
        let untold = problems.len().saturating_sub(MOST_PROBLEMS);
        let place = |problem: Problem| {
            let path = FieldPath(self.prefix.0.iter().chain(&problem.path.0).cloned().collect());
            let (line, column) = self.text.locate(&path);
            Problem { file: Some(self.file.to_owned()), line: Some(line), column: Some(column), ..problem }
        };
        let mut told: Vec<Problem> = problems.into_iter().take(MOST_PROBLEMS).map(place).collect();
        if untold > 0 {
            told.push(Problem::in_file(self.file, format!("{untold} more are not shown")));
        }
        told
    }
}
