//! Three processes over HTTP: a shop has its orders paid and shipped by two others.
//!
//! The shop asks both at once, as that is faster, and the bank usually is. Each process records what it does to a file of its own, with
//! clocks that count the events of the others; with `PORTENT_SERVE=127.0.0.1:7107` it also sends it to `portent serve`.
//!
//! `cargo run --example orders` starts all three, and leaves their files in the folder that it is given, or in this one. With
//! `fixed` after that, the shop waits until an order is paid for.

mod http;

use std::{
    env,
    error::Error,
    io::{BufRead, BufReader, Lines},
    net::TcpListener,
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
    time::Duration,
};

use portent::{Recorder, Sidecar, event, thread};

const ORDERS: i64 = 3;

/// What a process prints; it is kept open until the process ends.
type Output = Lines<BufReader<ChildStdout>>;

// In the tests the program is a module, and started in another way.
#[allow(dead_code)]
fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if let ["play", folder, role, rest @ ..] = &arguments[..] {
        return play(Path::new(folder), role, rest);
    }
    let folder = arguments.first().copied().unwrap_or("examples/orders");
    let is_fixed = arguments.get(1) == Some(&"fixed");
    run(Path::new(folder), is_fixed, |folder, role, rest| {
        let mut command = Command::new(env::current_exe()?);
        command
            .args(["play", &folder.display().to_string(), role])
            .args(rest);
        Ok(command)
    })
}

/// Starts the three processes, and waits for them; `start` says how one is started.
pub(crate) fn run(
    folder: &Path,
    is_fixed: bool,
    start: impl Fn(&Path, &str, &[&str]) -> Result<Command, Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let server = |role| -> Result<(Child, Output, String), Box<dyn Error>> {
        let mut server = start(folder, role, &[])?.stdout(Stdio::piped()).spawn()?;
        // It says where it listens.
        let mut lines = BufReader::new(server.stdout.take().ok_or("no output")?).lines();
        for line in lines.by_ref() {
            if let Some(address) = line?.strip_prefix("listening on ") {
                return Ok((server, lines, address.to_owned()));
            }
        }
        Err("the server has ended".into())
    };
    let (mut payment, _open, pay) = server("payment")?;
    let (mut shipping, _also_open, ship) = server("shipping")?;
    let manner = if is_fixed { "fixed" } else { "hasty" };
    let shop = start(folder, "shop", &[&pay, &ship, manner])?
        .stdout(Stdio::null())
        .status()?;
    let all = [shop, payment.wait()?, shipping.wait()?];
    if all.iter().all(|status| status.success()) {
        Ok(())
    } else {
        Err("a process has failed".into())
    }
}

/// One of the three processes.
pub(crate) fn play(folder: &Path, role: &str, rest: &[&str]) -> Result<(), Box<dyn Error>> {
    let sidecar = match env::var("PORTENT_SERVE") {
        Ok(address) => Sidecar::remote(&address),
        Err(_) => Sidecar::builder(),
    };
    let sidecar = sidecar
        .names(["ordered", "paid", "shipped"])
        .process(role)
        .record(Recorder::to_file(folder.join(format!("{role}.jsonl"))))
        .start()?;
    let entered = sidecar.enter();
    match (role, rest) {
        ("payment", _) => serve(|order| event!(paid, order))?,
        ("shipping", _) => serve(|order| event!(shipped, order))?,
        ("shop", [pay, ship, manner]) => shop(pay, ship, *manner == "fixed")?,
        _ => return Err("expected payment, shipping or shop".into()),
    }
    drop(entered);
    let summary = sidecar.stop()?;
    assert!(summary.counts.lost.is_nothing(), "{}", summary.counts.lost);
    Ok(())
}

fn serve(mut handle: impl FnMut(i64)) -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    println!("listening on {}", listener.local_addr()?);
    http::serve(&listener, |path| {
        let order = path.rsplit('/').next().and_then(|order| order.parse().ok());
        handle(order.unwrap_or_default());
    })?;
    Ok(())
}

fn shop(pay: &str, ship: &str, is_fixed: bool) -> Result<(), Box<dyn Error>> {
    for order in 1..=ORDERS {
        event!(ordered, order);
        let paying = || http::post(pay, &format!("/pay/{order}"));
        let shipping = || http::post(ship, &format!("/ship/{order}"));
        if is_fixed {
            paying()?;
            shipping()?;
        } else {
            thread::scope(|scope| {
                let paid = scope.spawn(paying);
                let shipped = scope.spawn(|| {
                    // Things take longer than money.
                    std::thread::sleep(Duration::from_millis(20));
                    shipping()
                });
                paid.join()
                    .expect("no panic")
                    .and(shipped.join().expect("no panic"))
            })?;
        }
    }
    http::post(pay, "/stop")?;
    http::post(ship, "/stop")?;
    Ok(())
}
