//! An HTTP service that takes orders.
//!
//! A handler answers at once and leaves the receipt to a task of its own. When the service shuts down it waits for all requests and closes the
//! database. Receipts are written in no time, and a shutdown comes much later: so they are all there. Until one day they are not, since nobody
//! waits for the tasks that write them.

use std::{
    error::Error,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use axum::{
    Router,
    body::Body,
    extract::{Path, State},
    http::{Request, StatusCode},
    routing::post,
};
use portent::{
    Property, Sidecar, event,
    sidecar::Summary,
    task::{self, JoinSet, Mutex},
};
use tokio::{runtime::Builder, time::sleep};
use tower::ServiceExt;

/// How many orders come in.
const ORDERS: u64 = 8;

/// A database: somebody else's, so nothing in it is hooked, and what it does with two requests at once is its own business.
#[derive(Default)]
struct Database {
    is_closed: AtomicBool,
    stored: AtomicU64,
}

impl Database {
    fn store_receipt(&self) {
        event!(stored);
        // Too late, and nobody is told.
        if !self.is_closed.load(Ordering::SeqCst) {
            self.stored.fetch_add(1, Ordering::SeqCst);
        }
    }

    fn close(&self) {
        event!(closed);
        self.is_closed.store(true, Ordering::SeqCst);
    }
}

/// What handlers share.
struct Shop {
    database: Database,
    /// The tasks that write receipts, if somebody is to wait for them.
    receipts: Option<Mutex<JoinSet<()>>>,
}

/// Whether the tasks that write receipts are waited for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    Broken,
    Fixed,
}

async fn place_order(State(shop): State<Arc<Shop>>, Path(_order): Path<u64>) -> StatusCode {
    let receipt = {
        let shop = Arc::clone(&shop);
        async move { shop.database.store_receipt() }
    };
    match &shop.receipts {
        None => drop(task::spawn(receipt)),
        Some(receipts) => drop(receipts.lock().await.spawn(receipt)),
    }
    StatusCode::ACCEPTED
}

/// Serves some orders and shuts down. Gives how many receipts there are.
async fn serve(version: Version) -> u64 {
    let shop = Arc::new(Shop {
        database: Database::default(),
        receipts: (version == Version::Fixed).then(Mutex::default),
    });
    let app = Router::new()
        .route("/orders/{order}", post(place_order))
        .with_state(Arc::clone(&shop));

    let mut requests = JoinSet::new();
    for order in 0..ORDERS {
        let request = Request::post(format!("/orders/{order}")).body(Body::empty());
        // A server does this with each connection.
        requests.spawn(app.clone().oneshot(request.expect("it is a good request")));
    }
    while let Some(answered) = requests.join_next().await {
        let response = answered.expect("no handler panics");
        assert_eq!(response.map(|one| one.status()), Ok(StatusCode::ACCEPTED));
    }

    // Much later: an eternity for a computer.
    sleep(Duration::from_millis(1)).await;
    if let Some(receipts) = &shop.receipts {
        let mut receipts = receipts.lock().await;
        while receipts.join_next().await.is_some() {}
    }
    shop.database.close();
    shop.database.stored.load(Ordering::SeqCst)
}

/// One run that nobody watches: whether a receipt is missing.
pub(super) fn is_wrong(version: Version) -> Result<bool, Box<dyn Error>> {
    let runtime = Builder::new_current_thread().enable_time().build()?;
    Ok(runtime.block_on(serve(version)) != ORDERS)
}

/// One run that is watched.
pub(super) fn watch(version: Version) -> Result<Summary, Box<dyn Error>> {
    let property = Property::parse(include_str!("checkout.portent"))?;
    let sidecar = Sidecar::builder().property(property).start()?;
    let entered = sidecar.enter();
    let runtime = Builder::new_current_thread().enable_time().build()?;
    let stored = runtime.block_on(serve(version));
    assert_eq!(stored, ORDERS, "nothing is missing in this run, either");
    drop(entered);
    Ok(sidecar.stop()?)
}
