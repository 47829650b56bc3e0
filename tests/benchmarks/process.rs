//! What one process costs, as the kernel counts it.

use std::env;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

/// The word that makes the benchmark a process that measures another.
const MEASURE: &str = "--measure";

/// The cost of one run, or the median of several.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    pub wall: Duration,
    pub cpu: Duration,
    /// The most that it held at once, in bytes.
    pub memory: u64,
    pub requests: usize,
    pub connections: usize,
}

/// Runs `command` to its end. A small process in between measures it: to the kernel, what the parent holds counts as the
/// child's until the child has become its program.
pub fn measure(command: &Command) -> Result<Cost> {
    let mut between = Command::new(env::current_exe()?);
    between.arg(MEASURE).arg(command.get_program()).args(command.get_args()).env_clear();
    between.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = between.output()?;
    let error = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "cannot measure: {error}");
    let figures: Vec<u64> =
        String::from_utf8(output.stdout)?.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
    let [wall, cpu, memory] = figures.try_into().ok().context("three figures")?;
    let (wall, cpu) = (Duration::from_micros(wall), Duration::from_micros(cpu));
    Ok(Cost { wall, cpu, memory, requests: 0, connections: 0 })
}

/// Measures the program that the arguments name, if this process is the one in between.
pub fn between() -> Result<bool> {
    let mut words = env::args_os().skip(1);
    if words.next().is_none_or(|word| word != MEASURE) {
        return Ok(false);
    }
    let mut command = Command::new(words.next().context("a program")?);
    command.args(words).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let begun = Instant::now();
    let child = command.spawn()?;
    let (cpu, memory) = waited(i32::try_from(child.id())?)?;
    println!("{} {} {memory}", begun.elapsed().as_micros(), cpu.as_micros());
    Ok(true)
}

#[allow(unsafe_code, reason = "the standard library does not tell what a child used")]
fn waited(id: i32) -> Result<(Duration, u64)> {
    let (mut status, mut usage) = (0, std::mem::MaybeUninit::<libc::rusage>::zeroed());
    // SAFETY: both pointers are valid for the call, and all zeros is a valid rusage.
    let (ended, usage) = unsafe { (libc::wait4(id, &raw mut status, 0, usage.as_mut_ptr()), usage.assume_init()) };
    ensure!(ended == id, "cannot wait for process {id}");
    // `diff` ends with 1 when there is drift.
    ensure!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) <= 1, "it failed: {status}");
    let time = |time: libc::timeval| {
        Duration::from_secs(u64::try_from(time.tv_sec).unwrap_or_default())
            + Duration::from_micros(u64::try_from(time.tv_usec).unwrap_or_default())
    };
    // Linux counts in KiB.
    Ok((time(usage.ru_utime) + time(usage.ru_stime), u64::try_from(usage.ru_maxrss)? * 1024))
}

impl Cost {
    /// The median of each figure by itself.
    pub fn median(costs: &[Self]) -> Self {
        fn middle<T: Ord + Copy + Default>(costs: &[Cost], figure: impl Fn(&Cost) -> T) -> T {
            let mut figures: Vec<T> = costs.iter().map(figure).collect();
            figures.sort();
            figures.get(figures.len() / 2).copied().unwrap_or_default()
        }
        Self {
            wall: middle(costs, |cost| cost.wall),
            cpu: middle(costs, |cost| cost.cpu),
            memory: middle(costs, |cost| cost.memory),
            requests: middle(costs, |cost| cost.requests),
            connections: middle(costs, |cost| cost.connections),
        }
    }

    /// The figures as cells of a table.
    pub fn row(&self) -> String {
        let millis = |time: Duration| time.as_secs_f64() * 1000.0;
        format!(
            "{:.0} ms | {:.1} ms | {:.1} MB | {} | {}",
            millis(self.wall),
            millis(self.cpu),
            f64::from(u32::try_from(self.memory / 1024).unwrap_or_default()) / 1024.0,
            self.requests,
            self.connections
        )
    }

    /// How many times as much as the other.
    pub fn ratio(&self, other: &Self) -> String {
        let kib = |cost: &Self| f64::from(u32::try_from(cost.memory / 1024).unwrap_or_default());
        format!(
            "{:.2} × | {:.2} × | {:.2} × | |",
            self.wall.as_secs_f64() / other.wall.as_secs_f64(),
            self.cpu.as_secs_f64() / other.cpu.as_secs_f64(),
            kib(self) / kib(other)
        )
    }
}
