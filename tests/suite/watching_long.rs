//! Measurements of `watch` that take minutes: run them with `cargo test -- --ignored --nocapture watching_long`.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::controlplane::{Cluster, Platform};
use crate::drift::edit;
use crate::program::{Running, command, prepare, requests, run, until, writes};

const CONFIG_MAP: &str = "configmap/bpfman-config";

fn seconds(usual: u64) -> Duration {
    let typed = std::env::var("WATCH_SECONDS").ok().and_then(|text| text.parse().ok());
    Duration::from_secs(typed.unwrap_or(usual))
}

/// Resident memory of its own (without the program file) in KiB, and the CPU time used, in ticks of 10 ms.
fn usage(watch: &Running) -> (u64, u64) {
    let folder = format!("/proc/{}", watch.id());
    let status = std::fs::read_to_string(format!("{folder}/status")).unwrap();
    let stat = std::fs::read_to_string(format!("{folder}/stat")).unwrap();
    let rss = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap().split(' ').collect();
    let number = |text: &str| text.trim().trim_end_matches(" kB").parse::<u64>().unwrap();
    (number(rss), number(fields[11]) + number(fields[12]))
}

#[test]
#[ignore = "takes ten minutes"]
fn idle_it_sends_nothing_but_its_watches() {
    let cluster = Cluster::start(Platform::ALL);
    prepare(&cluster);
    let mut watch = Running::start(&cluster, "watch --resync 2h");
    watch.says("in sync", 1);
    let (mark, before) = (cluster.requests().len(), usage(&watch));
    std::thread::sleep(seconds(600));
    let all = requests(&cluster, mark);
    let others = all.iter().filter(|request| request.verb != "watch").count();
    let after = usage(&watch);
    println!("idle: {} watches, {others} other requests, {before:?} -> {after:?} (KiB, 10 ms)", all.len() - others);
    assert_eq!((others, watch.end("INT")), (0, Some(130)));
}

/// A change of one of nine fields in turn, so that none is fought over.
fn damage(round: usize) -> (String, String) {
    let image = |name: &str| {
        format!(r#"{{"spec":{{"template":{{"spec":{{"containers":[{{"name":"{name}","image":"x/y:{round}"}}]}}}}}}}}"#)
    };
    let data = |key: &str| format!(r#"{{"data":{{"{key}":"{round}"}}}}"#);
    let spec = |key: &str| format!(r#"{{"spec":{{"{key}":true}}}}"#);
    let (object, change) = match round % 9 {
        0 => (CONFIG_MAP, data("bpfman.log.level")),
        1 => ("csidriver/csi.bpfman.io", spec("requiresRepublish")),
        2 => ("daemonset/bpfman-daemon", image("bpfman")),
        3 => (CONFIG_MAP, data("bpfman.agent.log.level")),
        4 => ("csidriver/csi.bpfman.io", spec("storageCapacity")),
        5 => ("daemonset/bpfman-daemon", image("bpfman-agent")),
        6 => (CONFIG_MAP, data("bpfman.toml")),
        7 => ("daemonset/bpfman-daemon", image("node-driver-registrar")),
        _ => ("csidriver/csi.bpfman.io", spec("seLinuxMount")),
    };
    (object.to_owned(), change)
}

#[test]
#[ignore = "takes minutes"]
fn it_survives_twenty_kills_of_the_server() {
    let mut cluster = Cluster::start(Platform::PLAIN);
    prepare(&cluster);
    let mut watch = Running::start(&cluster, "watch");
    watch.says("in sync", 1);
    let mut slowest = Duration::ZERO;
    for round in 0..20 {
        cluster.restart();
        let (begun, mark) = (Instant::now(), cluster.requests().len());
        edit(&cluster, &damage(round).0, &damage(round).1);
        until("the repair", || (!writes(&cluster, mark).is_empty()).then_some(()));
        slowest = slowest.max(begun.elapsed());
    }
    let said = watch.said();
    println!(
        "20 kills: slowest repair {slowest:?} after the server was ready, {} lines, {:?}",
        said.lines().count(),
        usage(&watch)
    );
    assert_eq!((watch.end("INT"), slowest < Duration::from_secs(10)), (Some(130), true), "{said}");
}

/// Passes connections on, until they are to stall: then those that are open carry nothing any more, for ever.
struct Proxy {
    port: u16,
    generation: Arc<AtomicUsize>,
    swallows: Arc<AtomicBool>,
}

impl Proxy {
    fn start(to: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let proxy =
            Self { port: listener.local_addr().unwrap().port(), generation: Arc::default(), swallows: Arc::default() };
        let (generation, swallows) = (Arc::clone(&proxy.generation), Arc::clone(&proxy.swallows));
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let server = TcpStream::connect(("127.0.0.1", to)).unwrap();
                let born = generation.load(Ordering::Relaxed);
                let dead = swallows.load(Ordering::Relaxed);
                let pairs = [(client.try_clone().unwrap(), server.try_clone().unwrap()), (server, client)];
                for (from, into) in pairs {
                    let generation = Arc::clone(&generation);
                    std::thread::spawn(move || pass(from, into, &generation, if dead { usize::MAX } else { born }));
                }
            }
        });
        proxy
    }
}

fn pass(mut from: TcpStream, mut into: TcpStream, generation: &AtomicUsize, born: usize) {
    let mut buffer = vec![0; 16 << 10];
    while let Ok(count) = from.read(&mut buffer) {
        if count == 0 {
            let _ = into.shutdown(std::net::Shutdown::Both);
            return;
        }
        if generation.load(Ordering::Relaxed) == born {
            let _ = into.write_all(&buffer[..count]);
        }
    }
}

#[test]
#[ignore = "takes minutes"]
fn connections_that_stall_are_noticed_within_45_s() {
    let cluster = Cluster::start(Platform::PLAIN);
    prepare(&cluster);
    let proxy = Proxy::start(cluster.port());
    let words = format!("watch --server https://127.0.0.1:{}", proxy.port);
    let mut watch = Running::of(command(cluster.kubeconfig(), &words));
    watch.says("in sync", 1);
    let mut told = Vec::new();
    for swallowed in [false, true] {
        proxy.generation.fetch_add(1, Ordering::Relaxed);
        proxy.swallows.store(swallowed, Ordering::Relaxed);
        if swallowed {
            // New connections are dead, too, for a while.
            std::thread::sleep(Duration::from_secs(60));
            proxy.swallows.store(false, Ordering::Relaxed);
        }
        let (begun, mark) = (Instant::now(), cluster.requests().len());
        edit(&cluster, CONFIG_MAP, r#"{"data":{"bpfman.log.level":"stalled"}}"#);
        let end = Instant::now() + Duration::from_secs(90);
        while writes(&cluster, mark).is_empty() && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(100));
        }
        told.push(begun.elapsed());
        std::thread::sleep(Duration::from_secs(2));
    }
    proxy.generation.fetch_add(1, Ordering::Relaxed);
    let begun = Instant::now();
    let ended = watch.end("INT");
    println!(
        "stalled: repaired after {told:?}; SIGINT while stalled: {ended:?} after {:?}\n{}",
        begun.elapsed(),
        watch.said()
    );
    assert!(told.iter().all(|time| *time < Duration::from_secs(46)), "{told:?}");
    assert!(begun.elapsed() < Duration::from_secs(6));
}

#[test]
#[ignore = "takes minutes"]
fn a_thousand_edits_are_repaired_one_by_one() {
    let cluster = Cluster::start(Platform::PLAIN);
    prepare(&cluster);
    // A field for each edit, so that none is fought over.
    let templates = cluster.kubeconfig().with_file_name("templates");
    std::fs::create_dir(&templates).unwrap();
    let keys: String = (0..1000).map(|round| format!("  key-{round}: right\n")).collect();
    let head = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: extra\n  namespace: {{ namespace }}\ndata:\n";
    std::fs::write(templates.join("extra.yaml"), format!("{head}{keys}")).unwrap();
    let mut watch = Running::start(&cluster, &format!("watch --templates {}", templates.display()));
    watch.says("in sync", 1);
    let before = usage(&watch);
    let begun = Instant::now();
    let mark = cluster.requests().len();
    for round in 0..1000 {
        edit(&cluster, "configmap/extra", &format!(r#"{{"data":{{"key-{round}":"wrong"}}}}"#));
    }
    std::thread::sleep(Duration::from_secs(5));
    let patches = writes(&cluster, mark).len();
    println!("1000 edits in {:?}: {patches} patches, {before:?} -> {:?}", begun.elapsed(), usage(&watch));
    let diff = format!("diff -q --templates {} -o name", templates.display());
    assert_eq!(run(&cluster, &diff), "exit 0\n");
    assert!(patches <= 1000, "{patches}");
    assert_eq!(watch.end("INT"), Some(130), "{}", watch.said());
}

#[test]
#[ignore = "takes minutes"]
fn foreign_objects_cost_no_memory() {
    let cluster = Cluster::start(Platform::PLAIN);
    prepare(&cluster);
    let mut watch = Running::start(&cluster, "watch");
    watch.says("in sync", 1);
    let before = usage(&watch);
    let count = std::env::var("WATCH_OBJECTS").ok().and_then(|text| text.parse().ok()).unwrap_or(50_000_usize);
    let one = |number: usize| {
        format!(
            "{{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{{\"name\":\"foreign-{number}\",\"namespace\":\"ebpf\"}},\"data\":{{\"key\":\"value\"}}}}\n---\n"
        )
    };
    for first in (0..count).step_by(1000) {
        let yaml: String = (first..count.min(first + 1000)).map(one).collect();
        cluster.kubectl_as(cluster.kubeconfig(), &["create", "-f", "-"], &yaml);
    }
    std::thread::sleep(Duration::from_secs(5));
    let after = usage(&watch);
    println!("{count} foreign ConfigMaps: {before:?} -> {after:?} (KiB, 10 ms)");
    assert!(after.0 < before.0 + 1024);
    assert_eq!(watch.end("INT"), Some(130));
}
