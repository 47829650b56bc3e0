//! `rbac`: prints the roles with which another command works, for this Config, these templates and this platform.

use std::collections::BTreeMap;

use super::connection::Connection;
use super::flags::Global;
use super::input::{self, File, Input};
use crate::cluster::{Cluster, Resource};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::manifest::{Manifest, ObjectId};
use crate::reconcile::permissions::{self, Purpose, Subject};
use crate::ui::Ui;
use crate::yaml;

/// Flags of `rbac`.
#[derive(Clone, Debug, clap::Args)]
pub struct RbacArgs {
    /// Command that is to be permitted
    #[arg(value_enum)]
    command: Permitted,
    /// Service account to bind the roles to; without it only the roles are printed
    #[arg(long, value_name = "NAMESPACE:NAME", value_parser = service_account)]
    service_account: Option<(String, String)>,
    /// For apply and watch: permit --create-namespace
    #[arg(long)]
    create_namespace: bool,
    /// For apply: permit --prune
    #[arg(long)]
    prune: bool,
    /// For apply: permit --wait
    #[arg(long)]
    wait: bool,
    /// For apply: permit --recreate
    #[arg(long)]
    recreate: bool,
    #[command(flatten)]
    file: File,
    #[command(flatten)]
    input: Input,
}

/// The commands that need permissions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Permitted {
    /// Compare, and look for what is no longer desired
    Diff,
    /// Apply once
    Apply,
    /// Apply on every change
    Watch,
}

impl RbacArgs {
    fn purpose(&self, platform_is_auto: bool) -> Result<Purpose, Failure> {
        let Self { create_namespace, prune, wait, recreate, .. } = *self;
        let of_apply = [("--prune", prune), ("--wait", wait), ("--recreate", recreate)];
        let of_both = [("--create-namespace", create_namespace)];
        let misplaced: Vec<(&str, bool)> = match self.command {
            Permitted::Diff => [&of_apply[..], &of_both].concat(),
            Permitted::Watch => of_apply.to_vec(),
            Permitted::Apply => Vec::new(),
        };
        if let Some((flag, _)) = misplaced.into_iter().find(|(_, is_given)| *is_given) {
            return Err(Failure::usage(format!("{flag} is no flag of {}", self.name())));
        }
        Ok(match self.command {
            Permitted::Diff => Purpose::Diff,
            Permitted::Apply => Purpose::Apply { create_namespace, prune, wait, recreate },
            Permitted::Watch => Purpose::Watch { create_namespace, platform_is_auto },
        })
    }

    fn name(&self) -> &'static str {
        match self.command {
            Permitted::Diff => "diff",
            Permitted::Apply => "apply",
            Permitted::Watch => "watch",
        }
    }
}

/// Prints the roles, and with a service account their bindings.
pub async fn rbac(args: &RbacArgs, global: &Global, to: &Connection, ui: &mut Ui) -> Result<Exit, Failure> {
    to.is_one()?;
    let input = &args.input;
    let renderer = input.renderer()?;
    let purpose = args.purpose(renderer.is_auto())?;
    let (source, platform, cluster) = if let Some(source) = args.file.read(input, &renderer)? {
        if renderer.is_auto() {
            ui.note("no cluster is asked: auto means plain Kubernetes without monitoring");
        }
        (source, renderer.platform(None), None)
    } else {
        let cluster = to.connect(false, &input.name, global.request_timeout).await?;
        let (source, platform) = input.read_cluster(&renderer, &cluster, ui).await?;
        (source, platform, Some(cluster))
    };
    let manifests = input::render(&renderer, source, platform, ui)?.manifests;
    let resources = resources(cluster.as_ref(), &manifests, ui).await;
    let subject = Subject {
        config: renderer.config_id(),
        from_file: args.file.is_given(),
        manifests: &manifests,
        resources: &resources,
    };
    let roles = subject.roles(purpose, &format!("{}-{}", input.name, args.name()));
    let account = args.service_account.as_ref().map(|(namespace, name)| (namespace.as_str(), name.as_str()));
    let bindings: Vec<_> =
        account.iter().flat_map(|account| roles.iter().map(|role| permissions::binding(role, *account))).collect();
    let documents = roles.iter().chain(&bindings).map(|object| format!("---\n{}", yaml::to_string(object)));
    ui.document(&documents.collect::<String>());
    Ok(Exit::Done)
}

/// How the kinds of the manifests are addressed: as the cluster says; without one the plural is guessed.
async fn resources(cluster: Option<&Cluster>, manifests: &[Manifest], ui: &Ui) -> BTreeMap<(String, String), Resource> {
    let mut resources = BTreeMap::new();
    for id in manifests.iter().map(|manifest| &manifest.id).filter(|id| Resource::known(id).is_none()) {
        let asked = match cluster {
            Some(cluster) => cluster.resource(id).await.ok(),
            None => None,
        };
        let resource = asked.unwrap_or_else(|| {
            let guess = guessed(id);
            ui.warning(&format!("the resource of kind {} is taken to be {}", id.kind, guess.qualified(id)));
            guess
        });
        resources.insert((id.api_version.clone(), id.kind.clone()), resource);
    }
    resources
}

/// The plural as it is nearly always built.
fn guessed(id: &ObjectId) -> Resource {
    let kind = id.kind.to_lowercase();
    let plural = match kind.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'i', 'o', 'u']) => format!("{stem}ies"),
        _ if kind.ends_with(['s', 'x']) || kind.ends_with("ch") || kind.ends_with("sh") => format!("{kind}es"),
        _ => format!("{kind}s"),
    };
    Resource { plural, namespaced: id.namespace.is_some() }
}

fn service_account(text: &str) -> Result<(String, String), String> {
    match text.split_once(':').filter(|(namespace, name)| !namespace.is_empty() && !name.is_empty()) {
        Some((namespace, name)) => Ok((namespace.to_owned(), name.to_owned())),
        None => Err("must be NAMESPACE:NAME".to_owned()),
    }
}
