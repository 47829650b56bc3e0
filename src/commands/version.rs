//! `version`: what a bug report needs.

use std::time::Duration;

use serde_json::json;

use super::connection::Connection;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::ui::Ui;

/// The commit that this program was built from, where the build says it.
pub const COMMIT: Option<&str> = option_env!("BPFMAN_CONFIG_COMMIT");

/// How long the server may take to say its version.
const LIMIT: Duration = Duration::from_secs(3);

/// Flags of `version`.
#[derive(Clone, Debug, clap::Args)]
pub struct VersionArgs {
    /// Output format
    #[arg(long, short, value_enum, value_name = "FORMAT", default_value_t)]
    output: Output,
    /// Do not ask the server
    #[arg(long)]
    client: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum Output {
    /// Two lines
    #[default]
    Text,
    /// One JSON document
    Json,
}

impl VersionArgs {
    /// Whether the result is JSON.
    pub fn is_json(&self) -> bool {
        self.output == Output::Json
    }
}

/// Prints the version of this program, and of the server if one answers.
pub async fn version(args: &VersionArgs, to: &Connection, ui: &mut Ui) -> Result<Exit, Failure> {
    let server = if args.client { Ok(None) } else { server_version(to).await.map(Some) };
    let (version, commit) = (env!("CARGO_PKG_VERSION"), COMMIT.unwrap_or("unknown"));
    let platform = format!("{}/{}", std::env::consts::OS, std::env::consts::ARCH);
    match args.output {
        Output::Text => {
            ui.document(&format!("Client: {version} (commit {commit}, {platform})\n"));
            if let Ok(Some(server)) = &server {
                ui.document(&format!("Server: {server}\n"));
            }
        }
        Output::Json => {
            let client = json!({"version": version, "commit": commit, "platform": platform});
            let server = server.as_ref().ok().and_then(Option::as_ref);
            ui.document(&format!("{:#}\n", json!({"client": client, "server": server})));
        }
    }
    if let Err(failure) = server {
        let reason = failure.errors.first().map(|error| format!("{error:#}")).unwrap_or_default();
        ui.note(&format!("the server's version is not known: {reason}"));
    }
    Ok(Exit::Done)
}

async fn server_version(to: &Connection) -> Result<String, Failure> {
    let cluster = to.connect(false, "version", LIMIT).await?;
    cluster.version().await.map_err(|error| Failure::new(Exit::NoAnswer, error))
}
