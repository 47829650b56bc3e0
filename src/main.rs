//! From the typed words to the exit code, nothing else.

use std::process::ExitCode;

use bpfman_config::exit::Exit;
use bpfman_config::failure::Failure;
use bpfman_config::ui::Ui;
use bpfman_config::{cli, report};

fn main() -> ExitCode {
    let cli = match cli::parse(std::env::args_os()) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version come this way too; a closed pipe is no error.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { Exit::Usage.code() } else { Exit::Done.code() });
        }
    };
    let mut ui = Ui::new(cli.global.color.into(), cli.global.quiet);
    let is_for_machines = cli.is_for_machines();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let ended = match runtime {
        Ok(runtime) => {
            let ended = runtime.block_on(cli.run(&mut ui));
            // A name that is looked up or a credential plugin that still runs holds nobody up.
            runtime.shutdown_background();
            ended
        }
        Err(error) => Err(Failure::new(Exit::NoAnswer, error).context("cannot start")),
    };
    let exit = ended.unwrap_or_else(|failure| {
        report::failure(&failure, &ui);
        if is_for_machines {
            ui.document(&format!("{}\n", report::json::failure(&failure)));
        }
        failure.exit
    });
    let exit = match ui.write_error() {
        Some(error) => {
            report::failure(&Failure::new(Exit::NoAnswer, error).context("cannot write the result"), &ui);
            exit.worst(Exit::NoAnswer)
        }
        None => exit,
    };
    ExitCode::from(exit.code())
}
