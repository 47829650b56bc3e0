//! Reading one object, applying one object, changing the Config's finalizers.

use kube::api::{GetParams, Patch, PatchParams};
use kube::core::Request;
use serde_json::{Value, json};

use super::request::Answer;
use super::{Cluster, Error, Resource};
use crate::manifest::ObjectId;

/// How an object is applied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Send {
    /// Take fields over from other managers.
    pub force: bool,
    /// Let the server go through all of it, and store nothing.
    pub dry_run: bool,
}

/// What the server made of an apply.
#[derive(Clone, Debug, PartialEq)]
pub struct Applied {
    /// The object as stored, or as it would be.
    pub object: Value,
    /// Whether it was not there before.
    pub created: bool,
    /// The server's warnings about it.
    pub warnings: Vec<String>,
}

impl Cluster {
    /// Reads an object; none when it is not there. A namespace or a kind that is missing is an error of its own.
    pub async fn get(&self, id: &ObjectId) -> Result<Option<Value>, Error> {
        let resource = self.resource(id).await?;
        let request = Request::new(resource.collection(id)).get(&id.name, &GetParams::default());
        let answer = self.sender.send(self.build(request)?).await?;
        if answer.status.is_success() {
            return self.parse(&answer).map(Some);
        }
        self.refusal(id, &resource, &answer).map_or(Ok(None), Err)
    }

    /// Sends one server-side apply of `object`.
    ///
    /// Unknown fields are refused by the server, not dropped
    /// (<https://kubernetes.io/docs/reference/using-api/api-concepts/#field-validation>).
    pub async fn apply(&self, id: &ObjectId, object: &Value, send: Send) -> Result<Applied, Error> {
        let mut params = PatchParams::apply(&self.field_manager).validation_strict();
        params.force = send.force;
        params.dry_run = send.dry_run;
        let answer = self.patch(id, &params, &Patch::Apply(object)).await?;
        Ok(Applied {
            object: self.parse(&answer)?,
            created: answer.status == http::StatusCode::CREATED,
            warnings: answer.warnings,
        })
    }

    /// Replaces the finalizers of the object that was read as `live`; refused when it has changed since.
    pub async fn set_finalizers(&self, id: &ObjectId, live: &Value, finalizers: &[String]) -> Result<Value, Error> {
        let version = live.pointer("/metadata/resourceVersion");
        let patch = json!({"metadata": {"resourceVersion": version, "finalizers": finalizers}});
        let params = PatchParams { field_manager: Some(self.field_manager.clone()), ..PatchParams::default() };
        let answer = self.patch(id, &params, &Patch::Merge(&patch)).await?;
        self.parse(&answer)
    }

    async fn patch(&self, id: &ObjectId, params: &PatchParams, patch: &Patch<&Value>) -> Result<Answer, Error> {
        let resource = self.resource(id).await?;
        let request = Request::new(resource.collection(id)).patch(&id.name, params, patch);
        let answer = self.sender.send(self.build(request)?).await?;
        if answer.status.is_success() {
            return Ok(answer);
        }
        Err(self.refusal(id, &resource, &answer).unwrap_or_else(|| match patch {
            // An apply creates what is not there, so that a bare 404 can only mean the kind.
            Patch::Apply(_) => not_served(id, &resource),
            _ => Error::Stale("it is no longer there".to_owned()),
        }))
    }

    fn refusal(&self, id: &ObjectId, resource: &Resource, answer: &Answer) -> Option<Error> {
        // The server answers for paths that it does not serve with this text, not with a Status.
        if answer.status == http::StatusCode::NOT_FOUND && answer.body.starts_with(b"404 page not found") {
            return Some(not_served(id, resource));
        }
        match self.failure(answer) {
            // Reading a namespace that is not there is no different from reading any other object.
            Some(Error::NamespaceMissing(_)) if id.kind == "Namespace" => None,
            // The server names the object here, not the namespace.
            Some(Error::NamespaceTerminating(name)) => {
                Some(Error::NamespaceTerminating(id.namespace.clone().unwrap_or(name)))
            }
            error => error,
        }
    }
}

fn not_served(id: &ObjectId, resource: &Resource) -> Error {
    Error::NotServed { resource: resource.qualified(id), api_version: id.api_version.clone() }
}
