//! One etcd for this process, and API servers that share it, each with a prefix of its own.
//!
//! Starts programs on loopback and waits until they answer.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use tokio::net::TcpSocket;

use super::client::{wait, with_client};
use super::identity::{Authority, MASTERS};
use super::keeper::{Keeper, Running, keeper};
use super::programs::program;

/// What all clusters of this process share.
pub struct Shared {
    /// Starts the programs.
    pub keeper: &'static Keeper,
    /// Signs the users' certificates.
    pub authority: Authority,
    etcd: String,
    clusters: AtomicUsize,
    _running: Running,
}

/// Gives etcd and the certificate authority; the first call starts them.
pub fn shared() -> Result<&'static Shared> {
    static SHARED: OnceLock<Result<Shared, String>> = OnceLock::new();
    SHARED.get_or_init(|| Shared::new().map_err(|error| format!("{error:#}"))).as_ref().map_err(|text| {
        anyhow::anyhow!("{text}") // an anyhow::Error cannot be cloned out of the static
    })
}

impl Shared {
    fn new() -> Result<Self> {
        let keeper = keeper()?;
        let log = keeper.folder.join("etcd.log");
        let data = format!("--data-dir={}", keeper.folder.join("etcd").display());
        let arguments = [
            data.as_str(),
            "--unsafe-no-fsync",
            "--listen-client-urls=http://127.0.0.1:0", // the log tells which port it became
            "--advertise-client-urls=http://127.0.0.1:0",
            "--listen-peer-urls=http://127.0.0.1:0",
        ];
        let mut running = keeper.start(&program("etcd")?, &arguments.map(str::to_owned), &log)?;
        let etcd = etcd_url(&mut running)?;
        let authority = Authority::new(&keeper.folder)?;
        Ok(Self { keeper, authority, etcd, clusters: AtomicUsize::new(1), _running: running })
    }

    /// Gives an empty folder whose name no other cluster of this process has.
    pub fn next_folder(&self) -> Result<PathBuf> {
        let folder = self.keeper.folder.join(format!("cluster-{}", self.clusters.fetch_add(1, Ordering::Relaxed)));
        fs::create_dir(&folder)?;
        Ok(folder)
    }
}

/// Waits until etcd's log says that it serves clients, and where.
fn etcd_url(etcd: &mut Running) -> Result<String> {
    let begun = Instant::now();
    loop {
        let log = etcd.log();
        let serving = log.lines().find(|line| line.contains("serving client traffic insecurely"));
        let address = serving.and_then(|line| line.split_once("\"address\":\"")?.1.split_once('"'));
        if let Some((address, _)) = address {
            return Ok(format!("http://{address}"));
        }
        etcd.check()?;
        ensure!(begun.elapsed() < Duration::from_secs(30), etcd.trouble("did not become ready in 30 s"));
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// One API server and its part of etcd.
pub struct ApiServer {
    folder: PathBuf,
    running: Option<Running>,
    /// Where it serves.
    pub port: u16,
    /// Whether it runs the admission plugin that asks for the right to block the deletion of an owner.
    checks_owners: bool,
    /// Bound, but not listened at: the port stays ours, also while the API server is stopped, and is refused then.
    _reserved: TcpSocket,
}

impl ApiServer {
    /// Reserves a port; nothing runs yet.
    pub fn new(folder: &Path, checks_owners: bool) -> Result<Self> {
        let reserved = TcpSocket::new_v4()?;
        reserved.set_reuseport(true)?;
        reserved.bind(([127, 0, 0, 1], 0).into()).context("cannot get a port on 127.0.0.1")?;
        let port = reserved.local_addr()?.port();
        Ok(Self { folder: folder.to_owned(), running: None, port, checks_owners, _reserved: reserved })
    }

    /// Starts it, also again with what it knew before, and waits until it is ready.
    pub fn start(&mut self) -> Result<()> {
        let shared = shared()?;
        let own = shared.authority.kubeconfig("controlplane", Some(MASTERS), self.port, &self.folder)?;
        let policy = self.folder.join("audit-policy.yaml");
        fs::write(&policy, include_str!("audit-policy.yaml"))?;
        let log = self.folder.join("kube-apiserver.log");
        let mut running = shared.keeper.start(&program("kube-apiserver")?, &self.arguments(shared, &policy), &log)?;
        let ready = with_client(&own, async |client| {
            wait("/readyz", async || {
                running.check()?;
                let request = http::Request::get("/readyz").body(Vec::new())?;
                Ok(client.request_text(request).await.ok())
            })
            .await
        });
        ready.with_context(|| running.trouble("did not become ready"))?;
        self.running = Some(running);
        Ok(())
    }

    /// Kills it; etcd keeps what it knew.
    pub fn stop(&mut self) {
        self.running = None;
    }

    /// Where it writes down what it is asked.
    pub fn audit_log(&self) -> PathBuf {
        self.folder.join("audit.log")
    }

    fn arguments(&self, shared: &Shared, policy: &Path) -> Vec<String> {
        let file = |name| shared.authority.file(name);
        let prefix = self.folder.file_name().unwrap_or_default().to_string_lossy();
        let plugins = if self.checks_owners { "OwnerReferencesPermissionEnforcement" } else { "" };
        vec![
            format!("--enable-admission-plugins={plugins}"),
            format!("--etcd-servers={}", shared.etcd),
            format!("--etcd-prefix=/{prefix}"),
            "--bind-address=127.0.0.1".to_owned(),
            "--advertise-address=127.0.0.1".to_owned(),
            "--endpoint-reconciler-type=none".to_owned(), // it would look for an address that is not loopback
            format!("--secure-port={}", self.port),
            "--permit-port-sharing".to_owned(), // with the socket that reserves the port
            format!("--tls-cert-file={}", file("server.crt")),
            format!("--tls-private-key-file={}", file("server.key")),
            format!("--client-ca-file={}", file("ca.crt")),
            "--service-account-issuer=https://kubernetes.default.svc".to_owned(),
            format!("--service-account-key-file={}", file("tokens.pub")),
            format!("--service-account-signing-key-file={}", file("tokens.key")),
            "--service-cluster-ip-range=10.0.0.0/24".to_owned(),
            "--authorization-mode=RBAC".to_owned(),
            "--allow-privileged=true".to_owned(), // bpfman's DaemonSets are
            "--disable-admission-plugins=ServiceAccount".to_owned(), // nobody makes the accounts it asks for
            format!("--audit-policy-file={}", policy.display()),
            format!("--audit-log-path={}", self.audit_log().display()),
            "--audit-log-mode=blocking".to_owned(), // an answer is on record before it is given
        ]
    }
}
