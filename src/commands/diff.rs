//! `diff`: live state against the server's dry run. Writes nothing.

use std::path::PathBuf;

use futures_util::StreamExt;
use futures_util::stream;

use super::clusters::{self, Clusters, Merged};
use super::connection::Connection;
use super::external_diff::ExternalDiff;
use super::flags::{self, Global};
use super::hints;
use super::input::{self, File, Input};
use super::plan_file;
use crate::cluster::{Cluster, count};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::reconcile::orphans::{self, Wanted};
use crate::reconcile::plan::Planned;
use crate::reconcile::prepare::Planner;
use crate::reconcile::{IN_FLIGHT, Live};
use crate::report::diff::{Format, Report, Sides};
use crate::ui::Ui;

/// Flags of `diff`.
#[derive(Clone, Debug, clap::Args)]
pub struct DiffArgs {
    /// Output format
    #[arg(long, short, value_enum, value_name = "FORMAT", default_value_t)]
    output: Output,
    /// Name under which the fields would be owned; the Config's name unless given
    #[arg(long, value_name = "NAME", value_parser = flags::manager_name)]
    field_manager: Option<String>,
    /// Count fields that others set and the Config does not mention as drift
    #[arg(long)]
    exact: bool,
    /// Save the plan: apply --plan FILE applies just what was compared, if nothing has moved since
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    out: Option<PathBuf>,
    #[command(flatten)]
    clusters: Clusters,
    #[command(flatten)]
    file: File,
    #[command(flatten)]
    input: Input,
}

/// `--output`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum Output {
    /// A unified diff an object, with the owner of each live value
    #[default]
    Text,
    /// One line a field: path, live and desired value, owner
    Paths,
    /// One JSON document
    Json,
    /// The names of the objects that differ
    Name,
    /// One line an object
    Summary,
    /// A comment for a pull request
    Markdown,
}

impl DiffArgs {
    /// Whether the result is JSON.
    pub fn is_json(&self) -> bool {
        self.output == Output::Json
    }

    fn format(&self) -> Format {
        match self.output {
            Output::Text => Format::Text,
            Output::Paths => Format::Paths,
            Output::Json => Format::Json,
            Output::Name => Format::Name,
            Output::Summary => Format::Summary,
            Output::Markdown => Format::Markdown,
        }
    }
}

/// Compares; the Config of a file is taken as if it were the cluster's, and compared itself.
pub async fn diff(args: &DiffArgs, global: &Global, to: &Connection, ui: &mut Ui) -> Result<Exit, Failure> {
    if let Some(contexts) = args.clusters.of(to)? {
        let merged = match args.output {
            Output::Json => Merged::Json,
            Output::Markdown => Merged::Documents("##"),
            Output::Text | Output::Paths | Output::Name | Output::Summary => Merged::Lines,
        };
        if args.out.is_some() {
            return Err(Failure::usage("--out saves the plan of one cluster: give one --context"));
        }
        return clusters::run(contexts, (merged, "in sync"), args.file.piped()?, ui).await;
    }
    let input = &args.input;
    let external = if args.output == Output::Text { ExternalDiff::from_environment()? } else { None };
    let renderer = input.renderer()?;
    let file = args.file.read_to_apply(input, &renderer, ui)?;
    let manager = flags::field_manager(args.field_manager.as_deref(), &input.name)?;
    let cluster = args.file.connect(to, manager, global.request_timeout).await?;
    let mut manifests = Vec::new();
    let (source, platform) = match file {
        None => input.read_cluster(&renderer, &cluster, ui).await?,
        Some(mut source) => {
            let (lifecycle, served) = tokio::join!(renderer.read_lifecycle(&cluster), renderer.served(&cluster));
            source.lifecycle = lifecycle.map_err(input::failure)?;
            manifests.push(source.manifest(renderer.config_id()));
            (source, input::platform(&renderer, served.map_err(input::failure)?.as_ref(), ui))
        }
    };
    if source.lifecycle.is_deleting() {
        ui.warning(&format!(
            "{} is being deleted: its objects go with it, and nothing is applied",
            renderer.config_id()
        ));
    }
    let uid = source.lifecycle.uid.clone();
    let desired = input::render(&renderer, source, platform, ui)?;
    manifests.extend(desired.manifests);
    let wanted = Wanted { manifests: &manifests, unmanaged: &desired.unmanaged, uid: uid.as_deref() };
    let format = if external.is_some() { Format::External } else { args.format() };
    let (exit, seen, sides) = compare(args, format, &cluster, wanted, ui).await;
    if let Some(external) = external {
        external.run(&sides)?;
    }
    if let Some(file) = &args.out {
        let plan = plan_file::For { cluster: &cluster, config: uid.as_deref(), exact: args.exact };
        plan.save(file, &manifests, &seen)?;
    }
    Ok(exit)
}

/// Compares all objects; gives also what was live of each.
async fn compare(
    args: &DiffArgs,
    format: Format,
    cluster: &Cluster,
    wanted: Wanted<'_>,
    ui: &mut Ui,
) -> (Exit, Live, Vec<Sides>) {
    let manifests = wanted.manifests;
    let planner = Planner { cluster, exact: args.exact };
    let mut report = Report::new(format, ui);
    let mut plans = stream::iter(manifests)
        .map(|manifest| async move {
            let live = cluster.get(&manifest.id).await;
            let planned = planner.plan(manifest, &live).await.after_definitions(manifests);
            (planned, live)
        })
        .buffered(IN_FLIGHT);
    let mut exit = Exit::Done;
    let mut approximate = None;
    let mut seen = Live::new();
    let compared = async {
        while let Some((planned, live)) = plans.next().await {
            seen.insert(planned.id.clone(), live);
            exit = exit.worst(exit_of(&planned));
            approximate = approximate.take().or_else(|| planned.approximate.clone());
            report.add(&planned);
            let shown = planned.changes().iter().flat_map(|change| &change.owners);
            let shown = shown.chain(planned.foreign.iter().flat_map(|field| &field.owners));
            if let Some(hint) = hints::of_names(shown) {
                report.hint(hint);
            }
            if let Some(hint) = hints::of_planned(&planned) {
                report.hint(&hint);
            }
        }
    };
    let ((), orphans) = tokio::join!(compared, orphans::find(cluster, wanted));
    drop(plans);
    if let Some(error) = approximate {
        report.approximate(&error);
    }
    report.unlisted(&orphans.unlisted);
    for orphan in &orphans.found {
        report.orphan(orphan, args.exact);
    }
    if !orphans.found.is_empty() {
        report.hint(hints::ORPHANS);
        exit = exit.worst(if args.exact { Exit::Drift } else { Exit::Done });
    }
    let sides = report.take_sides();
    let summary = report.finish(exit.code());
    let foreign = match summary.foreign {
        0 => String::new(),
        number => format!("; {} set by others (--exact counts them)", count(number, "field", "fields")),
    };
    ui.note(&format!("{}{foreign}", summary.text()));
    (exit, seen, sides)
}

/// How `diff` ends after this object.
fn exit_of(planned: &Planned) -> Exit {
    match planned.error() {
        Some(error) => hints::exit(error),
        None if planned.deviates() => Exit::Drift,
        None => Exit::Done,
    }
}
