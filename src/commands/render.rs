//! `render`: prints the objects that the Config becomes, in the order of applying.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde_json::json;

use super::connection::Connection;
use super::flags::Global;
use super::input::{self, File, Input};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::manifest::Manifest;
use crate::ui::Ui;
use crate::yaml;

/// Flags of `render`.
#[derive(Clone, Debug, clap::Args)]
pub struct RenderArgs {
    #[command(flatten)]
    file: File,
    #[command(flatten)]
    input: Input,
    /// Output format
    #[arg(long, short, value_enum, value_name = "FORMAT", default_value_t)]
    output: Format,
    /// Write one file an object into this directory instead
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    output_dir: Option<PathBuf>,
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
            write_files(directory, args.output, &manifests, ui).map_err(|error| Failure::new(Exit::NoAnswer, error))?;
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

/// Writes one file an object.
fn write_files(directory: &Path, format: Format, manifests: &[Manifest], ui: &Ui) -> anyhow::Result<()> {
    std::fs::create_dir_all(directory).with_context(|| format!("cannot make {}", directory.display()))?;
    let mut written = HashSet::new();
    for (position, manifest) in manifests.iter().enumerate() {
        let (ending, text) = match format {
            Format::Json => ("json", format!("{:#}\n", manifest.object)),
            Format::Yaml | Format::Name => ("yaml", yaml::to_string(&manifest.object)),
        };
        // The number keeps the order of applying for whoever applies the directory.
        let name = format!("{:02}-{}-{}.{ending}", position + 1, manifest.id.kind.to_lowercase(), manifest.id.name);
        let path = directory.join(name.replace(':', "_"));
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        written.insert(path);
    }
    for path in left_over(directory, &written)? {
        ui.warning(&format!("{} was there before, and is none of what was rendered now", path.display()));
    }
    Ok(())
}

/// Other manifests in the directory: whoever applies it applies them too.
fn left_over(directory: &Path, written: &HashSet<PathBuf>) -> anyhow::Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(directory).with_context(|| format!("cannot read {}", directory.display()))?;
    let paths = entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()?;
    let is_manifest = |path: &PathBuf| {
        let ending = path.extension().and_then(std::ffi::OsStr::to_str).unwrap_or_default();
        ["yaml", "yml", "json"].contains(&ending) && !written.contains(path)
    };
    let mut paths: Vec<PathBuf> = paths.into_iter().filter(is_manifest).collect();
    paths.sort();
    Ok(paths)
}
