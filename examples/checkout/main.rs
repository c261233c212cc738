//! An HTTP service on axum and tokio that loses receipts when it shuts down, though hardly ever.
//!
//! ```text
//! cargo run --example checkout              # one run, watched: what could have happened
//! cargo run --example checkout fixed        # the same without the defect
//! cargo run --example checkout plain 1000   # so many runs that nobody watches: how often it happens
//! ```

mod service;

use std::error::Error;

use portent::lattice::report::PropertyReport;
use service::Version;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => show(Version::Broken),
        ["fixed"] => show(Version::Fixed),
        ["plain", runs] => {
            let mut wrong = 0;
            let runs: u32 = runs.parse()?;
            for _ in 0..runs {
                wrong += u32::from(service::is_wrong(Version::Broken)?);
            }
            println!("{wrong} of {runs} runs lost a receipt");
            Ok(())
        }
        _ => Err("nothing, `fixed`, or `plain` and a number".into()),
    }
}

fn show(version: Version) -> Result<(), Box<dyn Error>> {
    let summary = service::watch(version)?;
    for PropertyReport {
        name,
        observed,
        predicted,
        ..
    } in &summary.report.properties
    {
        let predicted = if predicted.violated {
            "another order of the same events violates it"
        } else {
            "so is every other order of the same events"
        };
        println!(
            "{name}: the run that was is {}; {predicted}",
            observed.verdict
        );
    }
    Ok(())
}
