//! From a Config, the templates and a platform to the manifests in the order of applying.
//!
//! Pure: no file, network, clock or environment. Objects stay JSON values from the template on, so that a field is sent
//! exactly as it was written, nulls included.

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

/// What the cluster is, as far as the objects depend on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Platform {
    /// `OpenShift`.
    pub openshift: bool,
    /// With prometheus-operator.
    pub monitoring: bool,
}

/// What a Config becomes.
#[derive(Clone, Debug, PartialEq)]
pub struct Rendered {
    /// The wanted objects, in the order of applying.
    pub manifests: Vec<Manifest>,
    /// The objects that the Config says to leave alone.
    pub unmanaged: Vec<ObjectId>,
    /// The templates that are not wanted on this platform.
    pub left_out: Vec<LeftOut>,
    /// What is worth saying but stops nothing.
    pub warnings: Vec<Problem>,
}

/// A template whose condition does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// The file as messages name it.
    pub source: String,
    /// The condition.
    pub when: String,
    /// The object that it would be, where the template can be evaluated.
    pub id: Option<ObjectId>,
}

/// Renders the objects of `config`, or gives everything that is wrong with the templates and what they become.
///
/// `uid` is the Config's; without it the objects get no owner references.
/// `pull_policy` goes to every container; none or an empty one leaves the choice to the API server.
pub fn render(
    config: &Config,
    uid: Option<&str>,
    templates: &Templates,
    platform: Platform,
    pull_policy: Option<&str>,
) -> Result<Rendered, Vec<Problem>> {
    let pull_policy = pull_policy.filter(|policy| !policy.is_empty());
    let mut pass = Pass::new(config, uid);
    let engine = Engine::new(&values(config, platform, pull_policy));
    for template in templates.iter() {
        match engine.wants(template) {
            Ok(true) => pass.add(&engine, template),
            Ok(false) => pass.leave_out(&engine, template),
            Err(problems) => pass.problems.extend(problems),
        }
    }
    pass.finish()
}

/// What a template may use.
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

/// What has been found so far.
struct Pass<'a> {
    config: &'a Config,
    uid: Option<&'a str>,
    manifests: Vec<Manifest>,
    unmanaged: Vec<ObjectId>,
    left_out: Vec<LeftOut>,
    problems: Vec<Problem>,
    warnings: Vec<Problem>,
    /// Which file an object comes from, whatever the version it is written in.
    sources: HashMap<(String, ObjectId), String>,
}

impl<'a> Pass<'a> {
    fn new(config: &'a Config, uid: Option<&'a str>) -> Self {
        Self {
            config,
            uid,
            manifests: Vec::new(),
            unmanaged: Vec::new(),
            left_out: Vec::new(),
            problems: Vec::new(),
            warnings: Vec::new(),
            sources: HashMap::new(),
        }
    }

    /// Takes a template's object in, or what is wrong with it.
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
            let message = format!("{id} is also the object of {}", other.get());
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
        let placed = |found: types::Found| problem::placed(found, |(path, message)| document.problem(path, message));
        self.problems.extend(placed(problems));
        self.warnings.extend(placed(of_type.warnings));
        let object = owners::owned(document.object, &id, &self.config.name, self.uid);
        self.manifests.push(Manifest { id, object, source: template.source.clone() });
    }

    fn leave_out(&mut self, engine: &Engine, template: &Template) {
        let id = engine.evaluate(template).ok().and_then(|document| ObjectId::of(&document.object).ok());
        let when = template.when().map(|(_, condition)| condition.to_owned()).unwrap_or_default();
        self.left_out.push(LeftOut { source: template.source.clone(), when, id });
    }

    fn finish(mut self) -> Result<Rendered, Vec<Problem>> {
        if !self.problems.is_empty() {
            return Err(self.problems);
        }
        self.manifests.sort_by_cached_key(|manifest| order(&manifest.id));
        self.unmanaged.sort_by_cached_key(order);
        let here: Vec<_> = self.manifests.iter().map(|manifest| &manifest.id).chain(&self.unmanaged).cloned().collect();
        let elsewhere: Vec<_> = self.left_out.iter().filter_map(|left_out| left_out.id.clone()).collect();
        let overrides = FieldPath::default().field("spec").field("overrides");
        let remarks = self.config.overrides.iter().enumerate().filter_map(|(position, entry)| {
            let message = entry.remark(&here, &elsewhere)?;
            Some(Problem::at(overrides.join(Step::Index(position)), message))
        });
        self.warnings.extend(problem::placed(remarks.take(problem::MOST + 1).collect(), |remark| remark));
        let Self { manifests, unmanaged, left_out, warnings, .. } = self;
        Ok(Rendered { manifests, unmanaged, left_out, warnings })
    }
}

/// The order of applying: total, since no two objects have the same identity.
fn order(id: &ObjectId) -> (Stage, String, String, Option<String>, String) {
    (Stage::of(&id.kind), id.kind.clone(), id.name.clone(), id.namespace.clone(), id.api_version.clone())
}
