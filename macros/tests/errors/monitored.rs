use portent_macros::Monitored;

struct Shared<T>(T);

#[derive(Monitored)]
struct Mixed {
    level: Shared<i64>,
    name: String,
}

#[derive(Monitored)]
struct Tuple(Shared<i64>);

#[derive(Monitored)]
enum Choice {}

#[derive(Monitored)]
struct Wrong {
    #[monitored(nmae = "level")]
    level: Shared<i64>,
}

fn main() {}
