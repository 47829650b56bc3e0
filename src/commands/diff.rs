//! `diff`: live state against the server's dry run. Writes nothing.

use futures_util::StreamExt;
use futures_util::stream;

use super::flags::{self, Global};
use super::input::{File, Input};
use crate::cluster::{Cluster, Connection};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::manifest::Manifest;
use crate::reconcile::IN_FLIGHT;
use crate::reconcile::preview::{self, Preview};
use crate::report::diff::{Format, Report};
use crate::ui::Ui;

/// Flags of `diff`.
#[derive(Clone, Debug, clap::Args)]
pub struct DiffArgs {
    #[command(flatten)]
    file: File,
    #[command(flatten)]
    input: Input,
    /// Output format
    #[arg(long, short, value_enum, value_name = "FORMAT", default_value_t)]
    output: Format,
    /// Name under which the fields would be owned; the Config's name unless given
    #[arg(long, value_name = "NAME", value_parser = flags::manager_name)]
    field_manager: Option<String>,
    /// Count live fields that others set and nobody wants as drift
    #[arg(long)]
    strict: bool,
}

impl DiffArgs {
    /// Whether the result is JSON.
    pub fn is_json(&self) -> bool {
        self.output == Format::Json
    }
}

/// Compares; the Config of a file is taken as if it were the cluster's.
pub async fn diff(args: &DiffArgs, global: &Global, to: &Connection, ui: &mut Ui) -> Result<Exit, Failure> {
    let input = &args.input;
    let file = args.file.read(input, ui)?;
    let manager = flags::field_manager(args.field_manager.as_deref(), &input.name)?;
    let cluster = args.file.connect(to, manager, global.request_timeout)?;
    let (source, served) = match file {
        None => input.read_cluster(&cluster, ui).await?,
        Some(mut source) => {
            let (uid, served) = tokio::join!(input.live_uid(&cluster), input.served(&cluster));
            source.lifecycle.uid = uid?;
            (source, served?)
        }
    };
    let manifests = input.render(&source, input.platform(served.as_ref(), ui), ui)?;
    Ok(compare(args, &cluster, &manifests, ui).await)
}

async fn compare(args: &DiffArgs, cluster: &Cluster, manifests: &[Manifest], ui: &mut Ui) -> Exit {
    let mut report = Report::new(args.output, args.strict, ui);
    let mut previews = stream::iter(manifests)
        .map(|manifest| async move {
            match cluster.get(&manifest.id).await {
                Ok(live) => (manifest, preview::preview(cluster, manifest, live.as_ref()).await),
                Err(error) => (manifest, Preview::Failed(error)),
            }
        })
        .buffered(IN_FLIGHT);
    let mut exit = Exit::Done;
    while let Some((manifest, preview)) = previews.next().await {
        exit = exit.worst(preview.exit(args.strict));
        report.add(manifest, &preview);
    }
    report.finish();
    exit
}
