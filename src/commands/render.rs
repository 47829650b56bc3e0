//! `render`: prints the objects that the Config becomes, in the order of applying.

use std::path::PathBuf;

use serde_json::json;

use super::connection::Connection;
use super::flags::Global;
use super::input::{self, File, Input};
use super::output_dir::{self, Content};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::manifest::Manifest;
use crate::ui::Ui;
use crate::yaml;

/// Flags of `render`.
#[derive(Clone, Debug, clap::Args)]
pub struct RenderArgs {
    /// Output format
    #[arg(long, short, value_enum, value_name = "FORMAT", default_value_t)]
    output: Format,
    /// Write one file an object into this directory instead
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    output_dir: Option<PathBuf>,
    /// Remove files from the directory that were written there before and are no longer rendered
    #[arg(long, requires = "output_dir")]
    prune: bool,
    #[command(flatten)]
    file: File,
    #[command(flatten)]
    input: Input,
}

impl RenderArgs {
    /// Whether the result is JSON.
    pub fn is_json(&self) -> bool {
        self.output == Format::Json
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// One YAML document an object
    #[default]
    Yaml,
    /// A v1 List
    Json,
    /// The objects' names
    Name,
}

/// Renders from a file without any contact, or from the cluster's own Config.
pub async fn render(args: &RenderArgs, global: &Global, to: &Connection, ui: &mut Ui) -> Result<Exit, Failure> {
    to.is_one()?;
    let input = &args.input;
    let renderer = input.renderer()?;
    let (source, platform) = if let Some(source) = args.file.read(input, &renderer)? {
        if renderer.is_auto() {
            ui.note("no cluster is asked: auto means plain Kubernetes without monitoring");
        }
        if source.lifecycle.uid.is_none() {
            ui.note("the uid of the Config is unknown: the objects have no owner references");
        }
        (source, renderer.platform(None))
    } else {
        let cluster = to.connect(false, &input.name, global.request_timeout).await?;
        input.read_cluster(&renderer, &cluster, ui).await?
    };
    let manifests = input::render(&renderer, source, platform, ui)?.manifests;
    match &args.output_dir {
        Some(directory) => {
            let files = files(args.output, &manifests);
            output_dir::write(directory, &files, args.prune, ui)?;
        }
        None => ui.document(&text(args.output, &manifests)),
    }
    Ok(Exit::Done)
}

fn text(format: Format, manifests: &[Manifest]) -> String {
    match format {
        Format::Yaml => {
            manifests.iter().map(|manifest| format!("---\n{}", yaml::to_string(&manifest.object))).collect()
        }
        Format::Json => {
            let items: Vec<_> = manifests.iter().map(|manifest| &manifest.object).collect();
            format!("{:#}\n", json!({"apiVersion": "v1", "kind": "List", "items": items}))
        }
        Format::Name => manifests.iter().map(|manifest| format!("{}\n", manifest.id)).collect(),
    }
}

fn files(format: Format, manifests: &[Manifest]) -> Vec<Content> {
    let content = |manifest: &Manifest| match format {
        Format::Json => Content::new(&manifest.id, "json", format!("{:#}\n", manifest.object)),
        Format::Yaml | Format::Name => Content::new(&manifest.id, "yaml", yaml::to_string(&manifest.object)),
    };
    manifests.iter().map(content).collect()
}
