//! The condition that ends the loop by itself: `--until`.

/// What the loop waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// Every object is as desired.
    InSync,
    /// An object deviates.
    Drift,
    /// Every object is as desired, and every node runs the newest pods.
    Ready,
}
