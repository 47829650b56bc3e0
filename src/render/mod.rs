//! Renders the manifests of a Config from the templates, for a platform, in the order of applying.
//!
//! Pure: no file, network, clock or environment. Objects stay JSON values, so that a field is sent exactly as the template
//! has it, including nulls.

mod checks;
mod owners;
mod tidy;
mod types;

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use serde_json::{Value, json};

use crate::config::Config;
use crate::manifest::{Manifest, ObjectId, Stage};
use crate::path::{FieldPath, Step};
use crate::problem::{self, Problem};
use crate::templates::{Engine, Template, Templates};

/// The properties of the cluster that the templates depend on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Platform {
    /// Whether it is `OpenShift`.
    pub openshift: bool,
    /// Whether prometheus-operator is installed.
    pub monitoring: bool,
}

/// The result of rendering a Config.
#[derive(Clone, Debug, PartialEq)]
pub struct Rendered {
    /// The desired objects, in the order of applying.
    pub manifests: Vec<Manifest>,
    /// The objects that the Config marks unmanaged.
    pub unmanaged: Vec<ObjectId>,
    /// The templates whose condition is false on this platform.
    pub excluded: Vec<Excluded>,
    /// Findings that do not prevent rendering.
    pub warnings: Vec<Problem>,
}

/// A template whose condition is false.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excluded {
    /// The file as messages name it.
    pub source: String,
    /// The condition.
    pub when: String,
    /// The object that it defines, if it can be evaluated.
    pub id: Option<ObjectId>,
}

/// Renders the objects of `config`, or returns all problems of the templates and their objects.
///
/// `uid` is the Config's; without it the objects get no owner references.
/// `pull_policy` is set on every container; if it is none or empty, the API server chooses.
pub fn render(
    config: &Config,
    uid: Option<&str>,
    templates: &Templates,
    platform: Platform,
    pull_policy: Option<&str>,
) -> Result<Rendered, Vec<Problem>> {
    let pull_policy = pull_policy.filter(|policy| !policy.is_empty());
    let mut renderer = Renderer::new(config, uid);
    let engine = Engine::new(&values(config, platform, pull_policy));
    for template in templates.iter() {
        match engine.is_enabled(template) {
            Ok(true) => renderer.add(&engine, template),
            Ok(false) => renderer.exclude(&engine, template),
            Err(problems) => renderer.problems.extend(problems),
        }
    }
    renderer.finish()
}

/// The variables of the templates.
fn values(config: &Config, platform: Platform, pull_policy: Option<&str>) -> Value {
    json!({
        "agent": {
            "healthProbePort": config.agent.health_probe_port,
            "image": config.agent.image,
            "logLevel": config.agent.log_level,
        },
        "configuration": config.configuration,
        "daemon": {
            "csiRegistrarImage": config.daemon.csi_registrar_image.as_deref().unwrap_or_default(),
            "image": config.daemon.image,
            "logLevel": config.daemon.log_level,
        },
        "imagePullPolicy": pull_policy,
        "monitoring": platform.monitoring,
        "name": config.name,
        "namespace": config.namespace,
        "openshift": platform.openshift,
    })
}

/// What was rendered so far.
struct Renderer<'a> {
    config: &'a Config,
    uid: Option<&'a str>,
    manifests: Vec<Manifest>,
    unmanaged: Vec<ObjectId>,
    excluded: Vec<Excluded>,
    problems: Vec<Problem>,
    warnings: Vec<Problem>,
    /// The template of each object, regardless of the API version.
    sources: HashMap<(String, ObjectId), String>,
}

impl<'a> Renderer<'a> {
    fn new(config: &'a Config, uid: Option<&'a str>) -> Self {
        Self {
            config,
            uid,
            manifests: Vec::new(),
            unmanaged: Vec::new(),
            excluded: Vec::new(),
            problems: Vec::new(),
            warnings: Vec::new(),
            sources: HashMap::new(),
        }
    }

    /// Adds the object of a template, or its problems.
    fn add(&mut self, engine: &Engine, template: &Template) {
        let mut document = match engine.evaluate(template) {
            Ok(document) => document,
            Err(problems) => return self.problems.extend(problems),
        };
        let id = match ObjectId::of(&document.object) {
            Ok(id) => id,
            Err(unnamed) => {
                return self.problems.push(document.problem(FieldPath::default(), unnamed.to_string()));
            }
        };
        let versionless = ObjectId { api_version: String::new(), ..id.clone() };
        let earlier = self.sources.entry((id.group().to_owned(), versionless));
        if let Entry::Occupied(other) = &earlier {
            let message = format!("{id} is already defined by {}", other.get());
            return self.problems.push(document.problem(FieldPath::default(), message));
        }
        earlier.or_insert_with(|| template.source.clone());
        if self.config.overrides.iter().any(|entry| entry.matches(&id)) {
            return self.unmanaged.push(id);
        }
        let replaced = engine.replacement_warnings(template, &id).into_iter();
        self.warnings.extend(replaced.map(|message| Problem::in_file(&template.source, message)));
        self.warnings.extend(tidy::tidy(&mut document));
        let of_type = types::check(&id, &document.object);
        let mut problems = checks::check(&id, &document.object);
        problems.extend(of_type.problems);
        let located =
            |found: types::FieldMessages| problem::placed(found, |(path, message)| document.problem(path, message));
        self.problems.extend(located(problems));
        self.warnings.extend(located(of_type.warnings));
        let object = owners::owned(document.object, &id, &self.config.name, self.uid);
        self.manifests.push(Manifest { id, object, source: template.source.clone() });
    }

    fn exclude(&mut self, engine: &Engine, template: &Template) {
        let id = engine.evaluate(template).ok().and_then(|document| ObjectId::of(&document.object).ok());
        let when = template.when().map(|(_, condition)| condition.to_owned()).unwrap_or_default();
        self.excluded.push(Excluded { source: template.source.clone(), when, id });
    }

    fn finish(mut self) -> Result<Rendered, Vec<Problem>> {
        if !self.problems.is_empty() {
            return Err(self.problems);
        }
        self.manifests.sort_by_cached_key(|manifest| order(&manifest.id));
        self.unmanaged.sort_by_cached_key(order);
        let rendered: Vec<_> =
            self.manifests.iter().map(|manifest| &manifest.id).chain(&self.unmanaged).cloned().collect();
        let not_rendered: Vec<_> = self.excluded.iter().filter_map(|excluded| excluded.id.clone()).collect();
        let overrides = FieldPath::default().field("spec").field("overrides");
        let ineffective = self.config.overrides.iter().enumerate().filter_map(|(position, entry)| {
            let message = entry.warning(&rendered, &not_rendered)?;
            Some(Problem::at(overrides.join(Step::Index(position)), message))
        });
        self.warnings.extend(problem::placed(ineffective.take(problem::MOST + 1).collect(), |warning| warning));
        let Self { manifests, unmanaged, excluded, warnings, .. } = self;
        Ok(Rendered { manifests, unmanaged, excluded, warnings })
    }
}

/// The order of applying, which is total because no two objects have the same identity.
fn order(id: &ObjectId) -> (Stage, String, String, Option<String>, String) {
    (Stage::of(&id.kind), id.kind.clone(), id.name.clone(), id.namespace.clone(), id.api_version.clone())
}
