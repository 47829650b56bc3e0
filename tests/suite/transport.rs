//! Proxies, certificates and ports: the way to a real API server, and the words for each way that leads nowhere.
//!
//! See `connection` for the reports.

use std::fs;
use std::time::Duration;

use expect_test::expect;
use rcgen::{BasicConstraints, CertificateParams, IsCa, date_time_ymd};

use crate::connection::{Folder, kubeconfig};
use crate::connection_server::place;
use crate::controlplane::{Cluster, Platform, Relay};
use crate::network::{Proxy, shows, speaks_plainly};

#[test]
fn the_server_is_reached_through_the_proxy_that_is_named() {
    let (cluster, folder) = (Cluster::start(Platform::PLAIN), Folder::new());
    let proxy = Proxy::start(cluster.port(), "200 Connection established");
    let flags = "diff --server=https://api.invalid:6443 --tls-server-name=localhost";
    let admin = fs::read_to_string(cluster.kubeconfig()).unwrap();
    folder.write("admin", &admin);
    let address = format!("http://me:pass%20word@127.0.0.1:{}", proxy.port);
    folder.write("proxied", &admin.replace("    server:", &format!("    proxy-url: '{address}'\n    server:")));
    let mut all = vec![folder.run("proxied", flags), proxy.asked()];
    let environments = [
        vec![("HTTPS_PROXY", &*address)],
        vec![("https_proxy", &*address), ("NO_PROXY", "other.invalid,api.invalid:443,10.0.0.0/8")],
        vec![("HTTPS_PROXY", &*address), ("NO_PROXY", "invalid")],
        vec![("HTTPS_PROXY", &*address), ("no_proxy", "api.invalid:6443")],
        vec![("HTTPS_PROXY", &*address), ("NO_PROXY", "*")],
        vec![("HTTP_PROXY", &*address)],
    ];
    for environment in environments {
        all.push(folder.said(folder.command("admin", flags).envs(environment)));
        all.push(proxy.asked());
    }
    // An address of this machine is never reached through a proxy.
    all.push(folder.said(folder.command("admin", "diff").env("HTTPS_PROXY", &address)));
    all.push(proxy.asked());
    expect![[r#"
        2> error: config.bpfman.io/bpfman-config not found
        2> hint: create it, read it from a file with --filename, or choose another one with --name
        exit 4

        CONNECT api.invalid:6443 HTTP/1.1 Proxy-Authorization: Basic bWU6cGFzcyB3b3Jk
        2> error: config.bpfman.io/bpfman-config not found
        2> hint: create it, read it from a file with --filename, or choose another one with --name
        exit 4

        CONNECT api.invalid:6443 HTTP/1.1 Proxy-Authorization: Basic bWU6cGFzcyB3b3Jk
        2> error: config.bpfman.io/bpfman-config not found
        2> hint: create it, read it from a file with --filename, or choose another one with --name
        exit 4

        CONNECT api.invalid:6443 HTTP/1.1 Proxy-Authorization: Basic bWU6cGFzcyB3b3Jk
        2> error: cannot read config.bpfman.io/bpfman-config
        2>   caused by: cannot reach https://api.invalid:6443: no such host
        2> hint: check the address: --server, kubectl config view --minify
        exit 5


        2> error: cannot read config.bpfman.io/bpfman-config
        2>   caused by: cannot reach https://api.invalid:6443: no such host
        2> hint: check the address: --server, kubectl config view --minify
        exit 5


        2> error: cannot read config.bpfman.io/bpfman-config
        2>   caused by: cannot reach https://api.invalid:6443: no such host
        2> hint: check the address: --server, kubectl config view --minify
        exit 5


        2> error: cannot read config.bpfman.io/bpfman-config
        2>   caused by: cannot reach https://api.invalid:6443: no such host
        2> hint: check the address: --server, kubectl config view --minify
        exit 5


        2> error: config.bpfman.io/bpfman-config not found
        2> hint: create it, read it from a file with --filename, or choose another one with --name
        exit 4

    "#]]
    .assert_eq(&all.join("\n").replace(&proxy.port.to_string(), "PORT"));
}

#[test]
fn a_proxy_that_leads_nowhere_is_told_from_a_server_that_does_not_answer() {
    let folder = Folder::new();
    folder.write("config", &kubeconfig("", "").replace("127.0.0.1:1", "api.invalid:6443"));
    let [denies, asks, dead] = ["403 Forbidden", "407 Proxy Authentication Required", "200 OK"]
        .map(|answer| Proxy::start(1, answer).port.to_string());
    let said = [
        "127.0.0.1:1".to_owned(),
        format!("http://me:hush@127.0.0.1:{denies}"),
        format!("127.0.0.1:{asks}"),
        format!("127.0.0.1:{dead}"),
        "http://proxy.invalid:3128".to_owned(),
        "socks5h://127.0.0.1:1".to_owned(),
        "ftp://me:hush@x".to_owned(),
    ]
    .map(|proxy| folder.said(folder.command("config", "diff").env("HTTPS_PROXY", proxy)));
    assert!(!said.concat().contains("hush"));
    expect![[r#"
        2> error: cannot read config.bpfman.io/bpfman-config
        2>   caused by: cannot reach https://api.invalid:6443: cannot connect to the proxy http://SERVER: connection refused
        2> hint: check the proxy: HTTPS_PROXY, NO_PROXY, or proxy-url in the kubeconfig
        exit 5

        2> error: cannot read config.bpfman.io/bpfman-config
        2>   caused by: cannot reach https://api.invalid:6443: the proxy http://SERVER refused to connect to the server
        2> hint: allow this server in the proxy, or bypass the proxy with NO_PROXY
        exit 5

        2> error: cannot read config.bpfman.io/bpfman-config
        2>   caused by: cannot reach https://api.invalid:6443: the proxy http://SERVER requires a user name and a password
        2> hint: add them to the address of the proxy: http://user:password@host:port
        exit 5

        2> error: cannot read config.bpfman.io/bpfman-config
        2>   caused by: cannot reach https://api.invalid:6443: the server closed the connection
        2> hint: try again; if it happens again, check that the address is that of an API server
        exit 5

        2> error: cannot read config.bpfman.io/bpfman-config
        2>   caused by: cannot reach https://api.invalid:6443: cannot connect to the proxy http://proxy.invalid:3128: no such host
        2> hint: check the proxy: HTTPS_PROXY, NO_PROXY, or proxy-url in the kubeconfig
        exit 5

        2> error: cannot read config.bpfman.io/bpfman-config
        2>   caused by: cannot reach https://api.invalid:6443: cannot connect to the proxy socks5://SERVER: connection failed
        2> hint: check the proxy: HTTPS_PROXY, NO_PROXY, or proxy-url in the kubeconfig
        exit 5

        2> error: HTTPS_PROXY is not a valid proxy URL
        2> hint: use http://host:port, https://host:port or socks5://host:port
        exit 2
    "#]].assert_eq(&said.join("\n"));
}

/// Each of these is what people meet first on a new cluster; each has another way out.
#[test]
fn each_trouble_with_tls_has_its_own_words() {
    let (cluster, folder) = (Cluster::start(Platform::PLAIN), Folder::new());
    let params = |from, to| {
        let mut params = CertificateParams::new(vec!["127.0.0.1".to_owned(), "api.invalid".to_owned()]).unwrap();
        (params.not_before, params.not_after) = (date_time_ymd(from, 1, 1), date_time_ymd(to, 1, 1));
        params
    };
    let mut authority = params(2020, 2120);
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let shown = [params(2019, 2020), params(2120, 2121), params(2020, 2120), authority].map(|params| shows(&params));
    let ca = folder.write("ca.crt", &shown[2].1);
    let mut words: Vec<String> = shown.iter().map(|(port, _)| format!("--server=https://127.0.0.1:{port}")).collect();
    let place = place(&cluster).1;
    words.extend([
        format!("{place} --tls-server-name=other.invalid"),
        format!("--server=https://127.0.0.1:{} --certificate-authority={}", cluster.port(), ca.display()),
        format!("--server=127.0.0.1:{}", speaks_plainly()),
        format!("--server=http://127.0.0.1:{}", cluster.port()),
    ]);
    let said: Vec<String> = words.iter().map(|words| folder.run("", &format!("diff {words}"))).collect();
    expect![[r#"
        2> error: cannot read config.bpfman.io/bpfman-config
        2>   caused by: cannot reach SERVER: the server's certificate expired on TIME
        2> hint: renew the server's certificate, or correct the clock of this machine
        exit 5

        2> error: cannot read config.bpfman.io/bpfman-config
        2>   caused by: cannot reach SERVER: the server's certificate is not valid before TIME
        2> hint: correct the clock of this machine, or the server's
        exit 5

        2> error: cannot read config.bpfman.io/bpfman-config
        2>   caused by: cannot reach SERVER: the server's certificate is signed by an unknown authority
        2> hint: set the authority's certificate with --certificate-authority, or in the kubeconfig
        exit 5

        2> error: cannot read config.bpfman.io/bpfman-config
        2>   caused by: cannot reach SERVER: the server's certificate is a self-signed certificate of an authority, not a server certificate
        2> hint: give the server a certificate signed by an authority, and set that with --certificate-authority
        exit 5

        2> error: cannot read config.bpfman.io/bpfman-config
        2>   caused by: cannot reach SERVER: the server's certificate is valid for 127.0.0.1, localhost, not for other.invalid
        2> hint: if it is the right server, set one of these names with --tls-server-name
        exit 5

        2> error: cannot read config.bpfman.io/bpfman-config
        2>   caused by: cannot reach SERVER: the server's certificate is signed by an unknown authority
        2> hint: set the authority's certificate with --certificate-authority, or in the kubeconfig
        exit 5

        2> error: cannot read config.bpfman.io/bpfman-config
        2>   caused by: cannot reach SERVER: the server does not speak TLS
        2> hint: for a port that serves plain HTTP, begin the address with http://
        exit 5

        2> error: cannot read config.bpfman.io/bpfman-config
        2>   caused by: cannot reach http://SERVER: the server expects HTTPS
        2> hint: begin the address with https://
        exit 5
    "#]].assert_eq(&said.join("\n"));
}

/// kubectl leaves out what it cannot read in a bundle of authorities.
#[test]
fn an_authority_that_cannot_be_read_does_not_spoil_the_others() {
    let (cluster, folder) = (Cluster::start(Platform::PLAIN), Folder::new());
    let place = place(&cluster).0;
    let authority = fs::read_to_string(place["certificate-authority"].as_str().unwrap()).unwrap();
    folder.write("both", &format!("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n{authority}"));
    folder.write("admin", &fs::read_to_string(cluster.kubeconfig()).unwrap());
    let said = folder.run("admin", "diff --certificate-authority=DIR/both");
    assert!(said.contains("config.bpfman.io/bpfman-config not found"), "{said}");
}

/// A `diff` and all that it asks, on a proxy's count of connections; with kubectl's variable against HTTP/2, too.
#[test]
fn all_requests_share_one_connection_where_http2_is_spoken() {
    let (cluster, folder) = (Cluster::start(Platform::ALL), Folder::new());
    crate::program::prepare(&cluster);
    let relay = Relay::start(cluster.port(), Duration::ZERO).unwrap();
    let admin = fs::read_to_string(cluster.kubeconfig()).unwrap();
    folder.write("config", &admin.replace(&cluster.port().to_string(), &relay.port.to_string()));
    let run = |words: &str, environment: &[(&str, &str)]| {
        let mark = cluster.requests().len();
        let said = folder.said(folder.command("config", words).envs(environment.iter().copied()));
        (said, cluster.requests().len() - mark, relay.connections())
    };
    let (_, written, connections) = run("apply -q", &[]);
    assert!(written > 30 && connections == 1, "{written} requests on {connections} connections");
    let (said, asked, connections) = run("diff -q", &[]);
    assert_eq!((said.as_str(), connections), ("exit 0\n", 1), "{asked} requests");
    let (said_again, asked_again, connections) = run("diff -q", &[("DISABLE_HTTP2", "1")]);
    assert_eq!((said_again, asked_again), (said, asked));
    assert!(connections > 1, "HTTP/1.1 has a connection for each request that is under way");
}

/// A load balancer closes what is idle, a server that ends says GOAWAY: the next request finds another connection.
#[test]
fn a_request_on_a_connection_that_was_cut_is_sent_again() {
    let (cluster, folder) = (Cluster::start(Platform::PLAIN), Folder::new());
    crate::program::prepare(&cluster);
    for environment in [None, Some(("DISABLE_HTTP2", "1"))] {
        let relay = Relay::cutting(cluster.port(), 12_000).unwrap();
        let admin = fs::read_to_string(cluster.kubeconfig()).unwrap();
        folder.write("config", &admin.replace(&cluster.port().to_string(), &relay.port.to_string()));
        let said = folder.said(folder.command("config", "apply -q").envs(environment));
        assert!(said.ends_with("exit 0\n") && relay.connections() > 1, "{said}");
    }
}
