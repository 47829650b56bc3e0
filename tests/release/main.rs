//! What a release has beside its binaries: `cargo run --example release -- notices DIR` and `… -- krew DIR`; `.ci/release` calls it.
//!
//! `notices` writes the software bill of materials (`CycloneDX`) and the licences of all that is in the binary; `krew` writes the plugin
//! manifest for the archives in the folder. The same input gives the same bytes.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

const REPOSITORY: &str = "https://github.com/bpfman/kubectl-bpfman-config";

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["notices", folder] => notices(Path::new(folder)),
        ["krew", folder] => krew(Path::new(folder)),
        _ => bail!("usage: release notices|krew DIR"),
    }
}

/// A package that the binary is made of.
struct Package {
    name: String,
    version: String,
    license: String,
    folder: PathBuf,
}

/// The packages that the program is linked with on any of the platforms of a release; those of tests and build scripts are not in it.
fn packages() -> Result<Vec<Package>> {
    let output = Command::new(env!("CARGO")).args(["metadata", "--format-version=1", "--locked"]).output()?;
    let metadata: Value = serde_json::from_slice(&output.stdout).context("cargo metadata")?;
    let tree = Command::new(env!("CARGO"))
        .args(["tree", "--locked", "--edges=normal", "--prefix=none", "--target=all", "--format={p}"])
        .output()?;
    let linked = String::from_utf8(tree.stdout)?;
    let is_linked =
        |name: &str, version: &str| linked.lines().any(|line| line.starts_with(&format!("{name} v{version}")));
    let text = |package: &Value, field: &str| package.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut packages = BTreeMap::new();
    for package in metadata.get("packages").and_then(Value::as_array).into_iter().flatten() {
        let (name, version) = (text(package, "name"), text(package, "version"));
        if is_linked(&name, &version) {
            let manifest = PathBuf::from(text(package, "manifest_path"));
            let folder = manifest.parent().map(Path::to_owned).unwrap_or_default();
            // An older way of writing it.
            let license = text(package, "license").replace('/', " OR ");
            packages.insert((name.clone(), version.clone()), Package { name, version, license, folder });
        }
    }
    Ok(packages.into_values().collect())
}

fn notices(folder: &Path) -> Result<()> {
    let packages = packages()?;
    fs::create_dir_all(folder)?;
    let component = |package: &Package| {
        json!({
            "type": "library",
            "name": package.name,
            "version": package.version,
            "purl": format!("pkg:cargo/{}@{}", package.name, package.version),
            "licenses": [{"expression": package.license}],
        })
    };
    let own = |package: &&Package| package.name == env!("CARGO_PKG_NAME");
    let bill = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": packages.iter().find(own).map(component)},
        "components": packages.iter().filter(|package| !own(package)).map(component).collect::<Vec<_>>(),
    });
    fs::write(folder.join("sbom.cdx.json"), format!("{bill:#}\n"))?;
    // Many packages share a text: it stands once, below all their names.
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for package in packages.iter().filter(|package| !own(package)) {
        for file in licences(&package.folder)? {
            let text = String::from_utf8_lossy(&fs::read(file)?).trim().replace("\r\n", "\n");
            let name = format!("{} {} ({})", package.name, package.version, package.license);
            texts.entry(text).or_default().push(name);
        }
    }
    let line = "-".repeat(80);
    let sections = texts.iter().map(|(text, names)| format!("{}\n\n{text}\n\n{line}\n\n", names.join("\n")));
    Ok(fs::write(folder.join("LICENSES-OF-DEPENDENCIES.txt"), sections.collect::<String>())?)
}

/// The files of a package that hold its licence, in order.
fn licences(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    files.retain(|file| {
        let name = file.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
        file.is_file() && ["LICENSE", "LICENCE", "COPYING", "NOTICE"].iter().any(|word| name.starts_with(word))
    });
    files.sort();
    Ok(files)
}

/// `kubectl-bpfman-config-linux-amd64.tar.gz` → `linux`, `amd64`.
fn platform(archive: &str) -> Option<(&str, &str)> {
    archive.strip_prefix("kubectl-bpfman-config-")?.strip_suffix(".tar.gz")?.split_once('-')
}

/// Writes `bpfman-config.yaml` for the archives, whose digests stand in `SHA256SUMS`
/// (<https://krew.sigs.k8s.io/docs/developer-guide/plugin-manifest/>).
fn krew(folder: &Path) -> Result<()> {
    let version = env!("CARGO_PKG_VERSION");
    let sums = fs::read_to_string(folder.join("SHA256SUMS"))?;
    let mut platforms = Vec::new();
    for (digest, archive) in sums.lines().filter_map(|line| line.split_once("  ")) {
        let Some((os, arch)) = platform(archive) else { continue };
        let binary = if os == "windows" { "kubectl-bpfman-config.exe" } else { "kubectl-bpfman-config" };
        platforms.push(json!({
            "selector": {"matchLabels": {"os": os, "arch": arch}},
            "uri": format!("{REPOSITORY}/releases/download/v{version}/{archive}"),
            "sha256": digest,
            "bin": binary,
        }));
    }
    if platforms.is_empty() {
        bail!("{} names no archive", folder.join("SHA256SUMS").display());
    }
    let manifest = json!({
        "apiVersion": "krew.googlecontainertools.github.com/v1alpha2",
        "kind": "Plugin",
        "metadata": {"name": "bpfman-config"},
        "spec": {
            "version": format!("v{version}"),
            "homepage": REPOSITORY,
            "shortDescription": "Diff and apply what bpfman's Config becomes",
            "description": "Renders the objects that the Config of bpfman becomes, shows where the cluster deviates and who\nchanged it, applies them by server-side apply, and keeps them so while you watch.\n",
            "platforms": platforms,
        },
    });
    Ok(fs::write(folder.join("bpfman-config.yaml"), serde_yaml::to_string(&manifest)?)?)
}
