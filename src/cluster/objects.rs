//! Reading one object, applying one object, patching one object.

use http::HeaderValue;
use http::header::CONTENT_TYPE;
use kube::api::{DeleteParams, GetParams, ListParams, Patch, PatchParams, Preconditions};
use kube::core::Request;
use serde_json::{Value, json};

use super::request::{Answer, to_body};
use super::{Class, Cluster, Error, Resource};
use crate::manifest::ObjectId;
use crate::mask;

/// Objects in one answer of a list.
const PAGE: u32 = 500;

const APPLY: &str = "application/apply-patch+yaml";

/// How an object is applied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ApplyParams {
    /// Take fields over from other managers.
    pub force: bool,
    /// Let the server go through it without storing anything.
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
        match self.refusal(id, &resource, &answer) {
            Error::Refused(refusal) if matches!(refusal.class, Class::NotFound { .. }) => Ok(None),
            error => Err(error),
        }
    }

    /// Reads the metadata of all objects of the kind of `id`, in its namespace if it names one, and gives what `read` makes of each.
    pub async fn list_metadata<T>(&self, id: &ObjectId, read: impl Fn(&Value) -> Option<T>) -> Result<Vec<T>, Error> {
        self.pages(id, ListParams::default(), Request::list_metadata, read).await
    }

    /// Reads the objects of the kind of `id` in its namespace, with these labels and fields.
    pub async fn list(&self, id: &ObjectId, labels: &str, fields: &str) -> Result<Vec<Value>, Error> {
        let params = ListParams::default().labels(labels).fields(fields);
        self.pages(id, params, Request::list, |object| Some(object.clone())).await
    }

    async fn pages<T>(
        &self,
        id: &ObjectId,
        params: ListParams,
        list: impl Fn(&Request, &ListParams) -> Result<http::Request<Vec<u8>>, kube::core::request::Error>,
        read: impl Fn(&Value) -> Option<T>,
    ) -> Result<Vec<T>, Error> {
        let resource = self.resource(id).await?;
        let mut params = params.limit(PAGE);
        let mut found = Vec::new();
        loop {
            let request = list(&Request::new(resource.collection(id)), &params);
            let answer = self.sender.send(self.build(request)?).await?;
            if !answer.status.is_success() {
                return Err(self.refusal(id, &resource, &answer));
            }
            let page: Value = self.parse(&answer)?;
            found.extend(page.get("items").and_then(Value::as_array).into_iter().flatten().filter_map(&read));
            match page.pointer("/metadata/continue").and_then(Value::as_str).filter(|token| !token.is_empty()) {
                Some(token) => params = params.continue_token(token),
                None => return Ok(found),
            }
        }
    }

    /// Deletes an object, if it still is the one of this uid and version; what depends on it goes first or in the background. One that is
    /// gone is deleted.
    pub async fn delete(
        &self,
        id: &ObjectId,
        (uid, version): (&str, &str),
        dependents_first: bool,
        dry_run: bool,
    ) -> Result<(), Error> {
        let resource = self.resource(id).await?;
        let preconditions = Preconditions { uid: Some(uid.to_owned()), resource_version: Some(version.to_owned()) };
        let params = if dependents_first { DeleteParams::foreground() } else { DeleteParams::background() };
        let params = DeleteParams { dry_run, ..params.preconditions(preconditions) };
        let request = Request::new(resource.collection(id)).delete(&id.name, &params);
        let answer = self.sender.send(self.build(request)?).await?;
        if answer.status.is_success() {
            return Ok(());
        }
        match self.refusal(id, &resource, &answer) {
            Error::Refused(refusal) if matches!(refusal.class, Class::NotFound { .. }) => Ok(()),
            error => Err(error),
        }
    }

    /// Sends one server-side apply of `object`.
    ///
    /// Unknown fields are refused by the server, not dropped
    /// (<https://kubernetes.io/docs/reference/using-api/api-concepts/#field-validation>).
    pub async fn apply(&self, id: &ObjectId, object: &Value, params: ApplyParams) -> Result<Applied, Error> {
        let mut query = PatchParams::apply(&self.field_manager).validation_strict();
        query.force = params.force;
        query.dry_run = params.dry_run;
        let request = Body { content_type: APPLY, value: object, secret: object };
        self.patch(id, &query, request).await
    }

    /// Applies a JSON patch (RFC 6902), e.g. to remove an item of a list; refused when one of its tests fails.
    pub async fn json_patch(&self, id: &ObjectId, patch: &Value, dry_run: bool) -> Result<Applied, Error> {
        // Nobody but the caller knows the Secret: all that the patch says about one may be a value of it.
        let values: Vec<&Value> = patch.as_array().into_iter().flatten().filter_map(|step| step.get("value")).collect();
        let secret = json!({"apiVersion": id.api_version, "kind": id.kind, "data": values});
        let query = PatchParams { dry_run, ..self.unforced() };
        self.patch(id, &query, Body { content_type: "application/json-patch+json", value: patch, secret: &secret })
            .await
    }

    /// Replaces the finalizers of the object that was read as `live`; refused when it has changed since.
    pub async fn set_finalizers(&self, id: &ObjectId, live: &Value, finalizers: &[String]) -> Result<Value, Error> {
        let version = live.pointer("/metadata/resourceVersion");
        let patch = json!({"metadata": {"resourceVersion": version, "finalizers": finalizers}});
        let body = Body { content_type: "application/merge-patch+json", value: &patch, secret: live };
        self.patch(id, &self.unforced(), body).await.map(|applied| applied.object)
    }

    fn unforced(&self) -> PatchParams {
        PatchParams { field_manager: Some(self.field_manager.clone()), ..PatchParams::default() }
    }

    async fn patch(&self, id: &ObjectId, query: &PatchParams, body: Body<'_>) -> Result<Applied, Error> {
        let resource = self.resource(id).await?;
        // The library writes path and query; the body is ours, for the characters that it would not escape.
        let is_apply = body.content_type == APPLY;
        let patch = if is_apply { Patch::Apply(Value::Null) } else { Patch::Merge(Value::Null) };
        let mut request = self.build(Request::new(resource.collection(id)).patch(&id.name, query, &patch))?;
        request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(body.content_type));
        *request.body_mut() = to_body(body.value);
        let answer = self.sender.send(request).await?;
        if !answer.status.is_success() {
            let error = self.refusal(id, &resource, &answer).of_one_request().masked(body.secret);
            // An apply creates what is not there: what it did not find is what the object refers to, e.g. a role.
            return Err(if is_apply { error } else { error.stale_without(&resource.plural, &id.name) });
        }
        Ok(Applied {
            object: self.parse(&answer)?,
            created: answer.status == http::StatusCode::CREATED,
            warnings: answer.warnings.iter().map(|warning| mask::text(warning, body.secret)).collect(),
        })
    }

    fn refusal(&self, id: &ObjectId, resource: &Resource, answer: &Answer) -> Error {
        match Error::of_answer(answer.status, &answer.body, &self.sender.server) {
            // Reading a namespace that does not exist is no different from reading any other object.
            Error::NamespaceMissing(name) if id.kind == "Namespace" => Error::not_found("namespaces", &name),
            // The server names the object here, not the namespace.
            Error::NamespaceTerminating(_) => {
                Error::NamespaceTerminating(id.namespace.clone().unwrap_or_else(|| id.name.clone()))
            }
            // Without the name of an object it is the path that the server does not know.
            Error::Refused(refusal) if is_unknown_path(&refusal.class) => {
                Error::NotServed { resource: resource.qualified(id), api_version: id.api_version.clone() }
            }
            error => error,
        }
    }
}

fn is_unknown_path(class: &Class) -> bool {
    matches!(class, Class::NotFound { name, .. } if name.is_empty())
}

/// What a patch sends.
struct Body<'a> {
    content_type: &'static str,
    value: &'a Value,
    /// The object whose values must not be repeated, where it is a Secret.
    secret: &'a Value,
}
