//! Reads the Config of a file: validates it and gives each problem its line and column. Pure.

use serde_json::Value;

use super::{Config, KIND, Lifecycle, Origin};
use crate::exported;
use crate::path::{FieldPath, Step};
use crate::problem::{self, Problem};
use crate::yaml::{self, Text};

/// A Config from a file.
#[derive(Clone, Debug, PartialEq)]
pub struct FromFile {
    /// The Config.
    pub config: Config,
    /// The object in the file, without its server-owned fields.
    pub object: Value,
    /// The server-owned fields, of a Config that was exported from a cluster.
    pub lifecycle: Lifecycle,
    /// Which fields were removed from the object.
    pub removed: Option<Problem>,
    /// Findings that do not make it invalid.
    pub warnings: Vec<Problem>,
    /// The positions of the first overrides: only rendering shows whether they have an effect.
    pub overrides: Vec<Problem>,
}

/// Reads the only Config of a file, YAML or JSON, possibly in a `List`; messages call the file `file`.
pub fn read(file: &str, text: &[u8], expected_name: &str) -> Result<FromFile, Vec<Problem>> {
    let (mut object, location) = only_object(file, text)?;
    match Config::read(&object, expected_name, Origin::File) {
        Ok((config, warnings)) => {
            let lifecycle = Lifecycle::of(&object);
            let removed = exported::strip(&mut object);
            let removed = removed.map(|message| location.locate(Problem::at(FieldPath::default(), message)));
            let path = FieldPath::default().field("spec").field("overrides");
            let entry = |position| location.locate(Problem::at(path.join(Step::Index(position)), ""));
            let overrides = (0..config.overrides.len().min(problem::MOST)).map(entry).collect();
            Ok(FromFile { config, object, lifecycle, removed, warnings: location.locate_all(warnings), overrides })
        }
        Err(problems) => Err(location.locate_all(problems)),
    }
}

/// The location of an object in a file.
struct ObjectLocation<'a> {
    file: &'a str,
    text: Text<'a>,
    /// The path from the document to the object.
    prefix: FieldPath,
}

/// Reads the whole file, but keeps only one document and one object in memory.
fn only_object<'a>(file: &'a str, text: &'a [u8]) -> Result<(Value, ObjectLocation<'a>), Vec<Problem>> {
    let (mut count, mut only) = (0_usize, None);
    for document in yaml::documents(text) {
        let document = document.map_err(|error| vec![syntax(file, text, &error)])?;
        let is_list = document.value.get("items").is_some_and(Value::is_array);
        for (item, object) in yaml::unwrap_list(document.value).into_iter().enumerate() {
            let steps = [Step::Field("items".to_owned()), Step::Index(item)];
            let prefix = FieldPath(if is_list { steps.to_vec() } else { Vec::new() });
            only = (count == 0).then_some((object, ObjectLocation { file, text: document.text.clone(), prefix }));
            count += 1;
        }
    }
    let message = format!("expected one {KIND}, found {count} objects");
    only.ok_or_else(|| vec![Problem::in_file(file, message)])
}

fn syntax(file: &str, text: &[u8], error: &yaml::Error) -> Problem {
    let (line, column) = (Some(error.line), Some(error.column));
    let problem = Problem { line, column, ..Problem::in_file(file, error.kind.to_string()) };
    match &error.kind {
        yaml::ErrorKind::Encoding(_) | yaml::ErrorKind::NotUtf8 => problem,
        _ => problem.quoting(&String::from_utf8_lossy(text)),
    }
}

impl ObjectLocation<'_> {
    /// Adds the position in the file.
    fn locate(&self, problem: Problem) -> Problem {
        let path = FieldPath(self.prefix.0.iter().chain(&problem.path.0).cloned().collect());
        let (line, column) = self.text.locate(&path);
        let problem = problem.with_written_number(self.text.scalar(&path));
        Problem { file: Some(self.file.to_owned()), line: Some(line), column: Some(column), ..problem }
    }

    fn locate_all(&self, problems: Vec<Problem>) -> Vec<Problem> {
        problem::placed(problems, |problem| self.locate(problem))
    }
}
