//! A Config in a file: found among the documents, checked, and each problem with its line and column. Pure.

use serde_json::Value;

use super::{Config, KIND, Origin};
use crate::path::{FieldPath, Step};
use crate::problem::Problem;
use crate::yaml;

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
    let documents = yaml::read(text).map_err(|error| {
        let place = (Some(error.line()), Some(error.column()));
        let problem = Problem { line: place.0, column: place.1, ..Problem::in_file(file, error.problem().to_string()) };
        let is_text = !matches!(error.problem(), yaml::Problem::Encoding(_) | yaml::Problem::NotUtf8);
        vec![if is_text { problem.quoting(&String::from_utf8_lossy(text)) } else { problem }]
    })?;
    let place = |problem: Problem, document: usize, prefix: &FieldPath| {
        let path = FieldPath(prefix.0.iter().chain(&problem.path.0).cloned().collect());
        let (line, column) = yaml::locate(text, document, &path).unzip();
        Problem { file: Some(file.to_owned()), line, column, ..problem }
    };
    let mut objects = Vec::new();
    for (document, read) in documents.into_iter().enumerate() {
        let is_list = read.value.get("items").is_some_and(Value::is_array);
        for (item, object) in yaml::unwrap_list(read.value).into_iter().enumerate() {
            let steps = [Step::Field("items".to_owned()), Step::Index(item)];
            objects.push((document, FieldPath(if is_list { steps.to_vec() } else { Vec::new() }), object));
        }
    }
    let [(document, prefix, object)] = <[_; 1]>::try_from(objects).map_err(|objects| {
        vec![Problem::in_file(file, format!("expected one {KIND}, found {} objects", objects.len()))]
    })?;
    let located = |problems: Vec<Problem>| {
        let mut located: Vec<Problem> = problems.into_iter().map(|problem| place(problem, document, &prefix)).collect();
        located.sort_by_key(Problem::place);
        located
    };
    match Config::read(&object, expected_name, Origin::File) {
        Ok((config, warnings)) => Ok(FromFile { config, object, warnings: located(warnings) }),
        Err(problems) => Err(located(problems)),
    }
}
