//! Times as ages at a terminal.

use bpfman_config::ages::with_ages;
use expect_test::expect;

#[test]
fn the_time_of_an_owner_is_an_age_at_a_terminal() {
    let now = "2026-12-01T12:00:00Z".parse().unwrap();
    let times = [
        "2026-12-01T11:59:18Z",
        "2026-12-01T11:30:00Z",
        "2026-12-01T01:00:00Z",
        "2026-11-02T12:00:00Z",
        "2026-12-01T12:00:01Z",
        "ever",
    ];
    let text = times.map(|time| {
        format!("image: x  # kubectl-set (Update) since {time}, one (Apply, scale) since {time}: since {time}\n")
    });
    expect![[r#"
        image: x  # kubectl-set (Update) 42 s ago, one (Apply, scale) 42 s ago: since 2026-12-01T11:59:18Z
        image: x  # kubectl-set (Update) 30 min ago, one (Apply, scale) 30 min ago: since 2026-12-01T11:30:00Z
        image: x  # kubectl-set (Update) 11 h ago, one (Apply, scale) 11 h ago: since 2026-12-01T01:00:00Z
        image: x  # kubectl-set (Update) 29 d ago, one (Apply, scale) 29 d ago: since 2026-11-02T12:00:00Z
        image: x  # kubectl-set (Update) since 2026-12-01T12:00:01Z, one (Apply, scale) since 2026-12-01T12:00:01Z: since 2026-12-01T12:00:01Z
        image: x  # kubectl-set (Update) since ever, one (Apply, scale) since ever: since ever
    "#]].assert_eq(&with_ages(&text.concat(), now));
}
