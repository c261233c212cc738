//! How old the standard library of the compiler is: `cfg(since = "1.92")`. A program finds the same in `sync`, whether it is monitored or not;
//! what is younger than the oldest compiler that is supported, and needs the help of the real type, is there if that is.

use std::{env, process::Command};

/// The versions 1.x in which something came that hooks, or their tests, ask for.
const VERSIONS: [u32; 4] = [91, 92, 94, 95];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let minor = minor_version().unwrap_or(0);
    for version in VERSIONS {
        println!(r#"cargo::rustc-check-cfg=cfg(since, values("1.{version}"))"#);
        if minor >= version {
            println!(r#"cargo::rustc-cfg=since="1.{version}""#);
        }
    }
}

/// The x of `rustc 1.x.y`.
fn minor_version() -> Option<u32> {
    let output = Command::new(env::var_os("RUSTC")?)
        .arg("--version")
        .output();
    let text = String::from_utf8(output.ok()?.stdout).ok()?;
    text.split('.').nth(1)?.parse().ok()
}
