//! The templates: one file each, a manifest with placeholders; built in, and replaced or added from a directory.
//!
//! Only [`Templates::with_overlay`] reads files; nothing touches the network. `evaluate` turns a template into an object.

mod evaluate;
mod overlay;
mod replaced;
mod source_map;

use std::borrow::Cow;

pub(crate) use self::evaluate::{Document, Engine};
use crate::problem::Problem;

/// A template and its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    /// The name of the file, by which an overlay replaces it.
    pub file: String,
    /// The file, as messages name it.
    pub source: String,
    /// The text.
    text: Cow<'static, str>,
    /// The text of the built-in template that it replaces.
    replaced: Option<&'static str>,
}

impl Template {
    /// The condition in the header (`# when: openshift and monitoring`) and its line; none when there is no condition.
    pub fn when(&self) -> Option<(usize, &str)> {
        self.conditions().next()
    }

    /// The line of a condition that would be ignored: a second one, or one below the header.
    fn ignored_condition(&self) -> Option<usize> {
        let header = self.text.lines().take_while(|line| line.starts_with('#') || line.trim().is_empty()).count();
        let is_ignored = |(position, (line, _)): &(usize, (usize, &str))| *position > 0 || *line > header;
        self.conditions().enumerate().find(is_ignored).map(|(_, (line, _))| line)
    }

    /// The text from which messages quote lines; empty if it may be a Secret.
    fn quotable(&self) -> &str {
        if self.text.contains("Secret") { "" } else { &self.text }
    }

    fn conditions(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().filter_map(|(position, line)| {
            let condition = line.strip_prefix('#')?.trim_start_matches('#').trim_start().strip_prefix("when:")?;
            Some((position + 1, condition.trim()))
        })
    }

    fn builtin(file: &str, text: &'static str) -> Self {
        Self { file: file.to_owned(), source: format!("built-in {file}"), text: Cow::Borrowed(text), replaced: None }
    }

    /// The built-in template that it replaces.
    fn replaced(&self) -> Option<Self> {
        self.replaced.map(|text| Self::builtin(&self.file, text))
    }

    /// The kind of object that it must define: that of the template that it replaces.
    fn required_kind(&self) -> Option<&'static str> {
        self.replaced?.lines().find_map(|line| line.strip_prefix("kind: "))
    }
}

/// The templates to render, in the order of their unique file names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Templates(Vec<Template>);

macro_rules! builtin {
    ($($file:literal)*) => { [$(Template::builtin($file, include_str!(concat!("../../templates/", $file)))),*] };
}

impl Templates {
    /// The built-in templates: the objects that the operator creates.
    pub fn builtin() -> Self {
        Self(Vec::from(builtin![
            "clusterrole-user.yaml"
            "clusterrolebinding-privileged-scc.yaml"
            "clusterrolebinding-prometheus-metrics-reader.yaml"
            "configmap.yaml"
            "csidriver.yaml"
            "daemonset-daemon.yaml"
            "daemonset-metrics-proxy.yaml"
            "namespace.yaml"
            "role-prometheus.yaml"
            "rolebinding-prometheus.yaml"
            "securitycontextconstraints.yaml"
            "service-agent-metrics.yaml"
            "service-controller-metrics.yaml"
            "servicemonitor-agent.yaml"
            "servicemonitor-controller.yaml"
        ]))
    }

    /// Templates from memory, without the built-in ones: file names and texts.
    pub fn from_texts<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut templates = Self(Vec::new());
        for (file, text) in files {
            templates.insert(file, file.to_owned(), text.to_owned());
        }
        templates
    }

    /// The templates in the order of their file names.
    pub fn iter(&self) -> impl Iterator<Item = &Template> {
        self.0.iter()
    }

    /// Replaces the template of the same name, or adds one.
    fn insert(&mut self, file: &str, source: String, text: String) {
        let mut template = Template { file: file.to_owned(), source, text: Cow::Owned(text), replaced: None };
        match self.0.binary_search_by(|other| other.file.as_str().cmp(file)) {
            Ok(position) => {
                if let Some(other) = self.0.get_mut(position) {
                    template.replaced = if let Cow::Borrowed(text) = other.text { Some(text) } else { None };
                    *other = template;
                }
            }
            Err(position) => self.0.insert(position, template),
        }
    }
}
