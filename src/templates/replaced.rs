//! What is lost when a template replaces a built-in one: the object's identity, settings of the Config. Pure.

use std::collections::HashSet;

use super::{Document, Engine, Template};
use crate::manifest::ObjectId;

impl Engine {
    /// Warnings about a template that replaces a built-in one and defines the object `id`.
    pub(crate) fn replacement_warnings(&self, template: &Template, id: &ObjectId) -> Vec<String> {
        let Some(builtin) = template.replaced() else { return Vec::new() };
        let original = self.evaluate(&builtin).ok();
        let original = original.and_then(|Document { object, .. }| ObjectId::of(&object).ok());
        let original = original.filter(|original| original != id);
        let moved = original.map(|original| {
            format!("defines {}; the built-in template defines {}", id.full_name(), original.full_name())
        });
        let used = self.used_names(template);
        let unused = self.used_names(&builtin).into_iter().filter(|name| !is_used(&used, name));
        let mut unused: Vec<_> = unused.filter_map(|name| self.setting(&name)).collect();
        unused.sort();
        let ignored = (!unused.is_empty())
            .then(|| format!("does not use {}: these settings have no effect on {id}", unused.join(", ")));
        moved.into_iter().chain(ignored).collect()
    }

    fn used_names(&self, template: &Template) -> HashSet<String> {
        let compiled = self.environment.template_from_named_str(&template.source, &template.text);
        compiled.map(|compiled| compiled.undeclared_variables(true)).unwrap_or_default()
    }

    /// How a person names the setting behind a template's `name`; none when it is not set.
    fn setting(&self, name: &str) -> Option<String> {
        let value = name.split('.').try_fold(self.values.clone(), |value, key| value.get_attr(key).ok())?;
        value.is_true().then(|| match name {
            "imagePullPolicy" => "the image pull policy".to_owned(),
            _ => format!("spec.{name}"),
        })
    }
}

/// Whether a template uses the value `name`, or all of the object that holds it.
fn is_used(used: &HashSet<String>, name: &str) -> bool {
    used.contains(name) || name.split_once('.').is_some_and(|(object, _)| used.contains(object))
}
