//! What is said about the text of `bpfman.toml` in a Config, and that nobody changes it.

use bpfman_config::config::{Config, Origin};
use expect_test::expect;
use serde_json::json;

use crate::render::{fixture, lines};

/// What is said about a Config with `text`: problems, else warnings after a line that says so.
fn check(origin: Origin, text: &str) -> String {
    let mut config = fixture();
    config["spec"]["configuration"] = json!(text);
    match Config::read(&config, "bpfman-config", origin) {
        Ok((read, warnings)) => {
            assert_eq!(read.configuration, text);
            format!("accepted\n{}", lines(&warnings))
        }
        Err(problems) => lines(&problems),
    }
}

/// bpfman reads none of such a text, and then allows unsigned programs.
#[test]
fn a_text_that_is_no_toml_is_an_error_in_a_file_and_a_warning_on_the_server() {
    let text = "[database]\nmax_retries = 30\nmillisec delay = 10\n[signing\nallow_unsigned = false\n";
    expect![[r#"
        spec.configuration is invalid TOML at line 3, column 10: key with no value, expected `=`; bpfman would ignore the whole file and use its defaults
        spec.configuration is invalid TOML at line 4, column 9: unclosed table, expected `]`; bpfman would ignore the whole file and use its defaults
        accepted
        spec.configuration is invalid TOML at line 3, column 10: key with no value, expected `=`; bpfman would ignore the whole file and use its defaults
        spec.configuration is invalid TOML at line 4, column 9: unclosed table, expected `]`; bpfman would ignore the whole file and use its defaults
        spec.configuration is invalid TOML at line 1, column 3: key with no value, expected `=`; bpfman would ignore the whole file and use its defaults
        spec.configuration is invalid TOML at line 3, column 1: duplicate key; bpfman would ignore the whole file and use its defaults
        spec.configuration is invalid TOML at line 1, column 1: invalid unquoted key, expected letters, numbers, `-`, `_`; bpfman would ignore the whole file and use its defaults
        spec.configuration is invalid TOML at line 1, column 7: invalid literal string, expected `'`; bpfman would ignore the whole file and use its defaults
        spec.configuration is invalid TOML at line 1, column 85: cannot recurse further; max recursion depth met; bpfman would ignore the whole file and use its defaults
    "#]].assert_eq(
        &[
            check(Origin::File, text),
            check(Origin::Live, text),
            check(Origin::File, "i am a teapot"),
            check(Origin::File, "[signing]\nallow_unsigned = true\nallow_unsigned = false\n"),
            check(Origin::File, "é = \"\u{7}\"\n"),
            check(Origin::File, "a = 'x\n"),
            check(Origin::File, &format!("a = {}", "[".repeat(100_000))),
        ]
        .concat(),
    );
}

#[test]
fn what_bpfman_does_not_take_as_it_is_meant_is_a_warning() {
    let text = "databse.max_retries = 1
[database]
max_retries = \"30\"
millisec_delay = 0xffff_ffff_ffff_ffff
max_retry = 5
[signing]
allow_unsigned = 'no'
verify_enabled = true
[interfaces]
eth0.xdp_mode = \"native\"
eth1 = {xdp_mode = 'skb', mtu = 1}
eth2 = 'drv'
eth3 = {}
[grpc]
[\"a\\nerror: b\"]
";
    expect![[r#"
        accepted
        spec.configuration at line 1, column 1: unknown key databse; did you mean database?
        spec.configuration at line 3, column 15: database.max_retries must be an integer from 0 to 4294967295; bpfman would ignore the whole file and use its defaults
        spec.configuration at line 5, column 1: unknown key database.max_retry
        spec.configuration at line 7, column 18: signing.allow_unsigned must be true or false; bpfman would ignore the whole file and use its defaults
        spec.configuration at line 10, column 17: interfaces.eth0.xdp_mode must be one of drv, hw, skb; bpfman would ignore the whole file and use its defaults
        spec.configuration at line 11, column 27: unknown key interfaces.eth1.mtu
        spec.configuration at line 12, column 8: interfaces.eth2 must be a table; bpfman would ignore the whole file and use its defaults
        spec.configuration at line 13, column 8: interfaces.eth3.xdp_mode is missing; bpfman would ignore the whole file and use its defaults
        spec.configuration at line 14, column 2: unknown key grpc
        spec.configuration at line 15, column 2: unknown key ["a\nerror: b"]
        accepted
        spec.configuration at line 1, column 27: database.max_retries must be an integer from 0 to 4294967295; bpfman would ignore the whole file and use its defaults
        spec.configuration at line 1, column 48: database.millisec_delay must be an integer from 0 to 18446744073709551615; bpfman would ignore the whole file and use its defaults
        accepted
        spec.configuration at line 2, column 15: database.max_retries must be an integer from 0 to 4294967295; bpfman would ignore the whole file and use its defaults
        accepted
    "#]].assert_eq(
        &[
            check(Origin::File, text),
            check(Origin::File, "database = {max_retries = -1, millisec_delay = 1.5}\n"),
            check(Origin::File, "[database]\nmax_retries = 4294967296\nmillisec_delay = 1_000\n"),
            check(Origin::File, "# nothing\r\n\r\n[interfaces.eth0] # tab:\t\r\nxdp_mode = \"hw\""),
        ]
        .concat(),
    );
}
