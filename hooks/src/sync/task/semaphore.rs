//! Permits.
//!
//! Permits cannot be told apart, so a task that gets one comes after all permits given back so far. With one permit this is exact;
//! with several it may order more than necessary, but never less.

use std::{fmt, panic::Location, sync::Arc};

use tokio::sync;

use super::{AcquireError, TryAcquireError, condition::Condition};
use crate::{
    live::{actor::Place, names::Name},
    task::quiet::quietly,
};

/// [`tokio::sync::Semaphore`], with clocks.
///
/// ```
/// use portent_hooks::task::Semaphore;
///
/// let runtime = tokio::runtime::Builder::new_current_thread().build()?;
/// let two = Semaphore::new(2);
/// runtime.block_on(async {
///     let permit = two.acquire().await;
///     assert_eq!((permit.is_ok(), two.available_permits()), (true, 1));
/// });
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Semaphore {
    condition: Condition,
    inner: sync::Semaphore,
}

/// [`tokio::sync::SemaphorePermit`] of a [`Semaphore`].
#[must_use]
#[clippy::has_significant_drop]
#[derive(Debug)]
pub struct SemaphorePermit<'a> {
    semaphore: &'a Semaphore,
    permits: usize,
}

/// [`tokio::sync::OwnedSemaphorePermit`] of a [`Semaphore`].
#[must_use]
#[clippy::has_significant_drop]
#[derive(Debug)]
pub struct OwnedSemaphorePermit {
    semaphore: Arc<Semaphore>,
    permits: usize,
}

impl Semaphore {
    /// As [`tokio::sync::Semaphore::MAX_PERMITS`].
    pub const MAX_PERMITS: usize = sync::Semaphore::MAX_PERMITS;

    /// As [`tokio::sync::Semaphore::new`].
    ///
    /// # Panics
    ///
    /// With more than [`MAX_PERMITS`](Self::MAX_PERMITS).
    #[track_caller]
    pub fn new(permits: usize) -> Semaphore {
        Semaphore::const_new(permits)
    }

    /// As [`tokio::sync::Semaphore::const_new`].
    #[track_caller]
    pub const fn const_new(permits: usize) -> Semaphore {
        Semaphore {
            condition: Condition::new("Semaphore", Name::here()),
            inner: sync::Semaphore::const_new(permits),
        }
    }

    /// As [`tokio::sync::Semaphore::available_permits`]. It orders nothing.
    pub fn available_permits(&self) -> usize {
        self.inner.available_permits()
    }

    /// As [`tokio::sync::Semaphore::add_permits`].
    #[track_caller]
    pub fn add_permits(&self, n: usize) {
        self.give_back(n, Some(Location::caller()));
    }

    /// As [`tokio::sync::Semaphore::forget_permits`].
    pub fn forget_permits(&self, n: usize) -> usize {
        self.inner.forget_permits(n)
    }

    /// As [`tokio::sync::Semaphore::acquire`].
    ///
    /// # Errors
    ///
    /// If it is closed.
    #[track_caller]
    pub fn acquire(&self) -> impl Future<Output = Result<SemaphorePermit<'_>, AcquireError>> {
        self.acquire_many(1)
    }

    /// As [`tokio::sync::Semaphore::acquire_many`].
    ///
    /// # Errors
    ///
    /// If it is closed.
    #[track_caller]
    pub fn acquire_many(
        &self,
        n: u32,
    ) -> impl Future<Output = Result<SemaphorePermit<'_>, AcquireError>> {
        let place = Some(Location::caller());
        async move { self.acquired(self.inner.acquire_many(n).await, n, place) }
    }

    /// As [`tokio::sync::Semaphore::acquire_owned`].
    ///
    /// # Errors
    ///
    /// If it is closed.
    #[track_caller]
    pub fn acquire_owned(
        self: Arc<Self>,
    ) -> impl Future<Output = Result<OwnedSemaphorePermit, AcquireError>> {
        self.acquire_many_owned(1)
    }

    /// As [`tokio::sync::Semaphore::acquire_many_owned`].
    ///
    /// # Errors
    ///
    /// If it is closed.
    #[track_caller]
    pub fn acquire_many_owned(
        self: Arc<Self>,
        n: u32,
    ) -> impl Future<Output = Result<OwnedSemaphorePermit, AcquireError>> {
        let place = Some(Location::caller());
        async move {
            let permits = self.acquired(self.inner.acquire_many(n).await, n, place);
            let permits = permits?.take();
            Ok(OwnedSemaphorePermit {
                semaphore: self,
                permits,
            })
        }
    }

    /// As [`tokio::sync::Semaphore::try_acquire`]. One that fails orders nothing.
    ///
    /// # Errors
    ///
    /// If there is no permit.
    #[track_caller]
    pub fn try_acquire(&self) -> Result<SemaphorePermit<'_>, TryAcquireError> {
        self.try_acquire_many(1)
    }

    /// As [`tokio::sync::Semaphore::try_acquire_many`]. One that fails orders nothing.
    ///
    /// # Errors
    ///
    /// If there are fewer permits than that.
    #[track_caller]
    pub fn try_acquire_many(&self, n: u32) -> Result<SemaphorePermit<'_>, TryAcquireError> {
        let place = Some(Location::caller());
        self.acquired(self.inner.try_acquire_many(n), n, place)
    }

    /// As [`tokio::sync::Semaphore::try_acquire_owned`]. One that fails orders nothing.
    ///
    /// # Errors
    ///
    /// If there is no permit.
    #[track_caller]
    pub fn try_acquire_owned(self: Arc<Self>) -> Result<OwnedSemaphorePermit, TryAcquireError> {
        self.try_acquire_many_owned(1)
    }

    /// As [`tokio::sync::Semaphore::try_acquire_many_owned`]. One that fails orders nothing.
    ///
    /// # Errors
    ///
    /// If there are fewer permits than that.
    #[track_caller]
    pub fn try_acquire_many_owned(
        self: Arc<Self>,
        n: u32,
    ) -> Result<OwnedSemaphorePermit, TryAcquireError> {
        let permits = self.try_acquire_many(n)?.take();
        Ok(OwnedSemaphorePermit {
            semaphore: self,
            permits,
        })
    }

    /// As [`tokio::sync::Semaphore::close`].
    #[track_caller]
    pub fn close(&self) {
        self.condition.signal(Some(Location::caller()));
        quietly(|| self.inner.close());
    }

    /// As [`tokio::sync::Semaphore::is_closed`]. It orders nothing.
    pub fn is_closed(&self) -> bool {
        self.inner.is_closed()
    }

    /// Permits were acquired, or will never be, as others have closed it; or there were none.
    fn acquired<E: Refusal>(
        &self,
        acquired: Result<sync::SemaphorePermit<'_>, E>,
        n: u32,
        place: Place,
    ) -> Result<SemaphorePermit<'_>, E> {
        match acquired {
            Ok(inner) => {
                // It is given back by us.
                inner.forget();
                self.condition.waited(place);
                Ok(SemaphorePermit {
                    semaphore: self,
                    permits: n as usize,
                })
            }
            Err(error) => {
                if error.is_closed() {
                    self.condition.waited(place);
                }
                Err(error)
            }
        }
    }

    fn give_back(&self, permits: usize, place: Place) {
        if permits > 0 {
            self.condition.signal(place);
            quietly(|| self.inner.add_permits(permits));
        }
    }
}

/// Why there is no permit.
trait Refusal {
    /// The semaphore has been closed.
    fn is_closed(&self) -> bool;
}

impl Refusal for AcquireError {
    fn is_closed(&self) -> bool {
        true
    }
}

impl Refusal for TryAcquireError {
    fn is_closed(&self) -> bool {
        *self == TryAcquireError::Closed
    }
}

macro_rules! permits {
    ($permit:ty) => {
        impl $permit {
            /// How many there are, which are no longer its own.
            fn take(&mut self) -> usize {
                std::mem::take(&mut self.permits)
            }

            /// As that of tokio: they are never given back.
            pub fn forget(mut self) {
                self.take();
            }

            /// As that of tokio.
            ///
            /// # Panics
            ///
            /// If they are of different semaphores.
            #[track_caller]
            pub fn merge(&mut self, mut other: Self) {
                assert!(
                    std::ptr::eq(&*self.semaphore, &*other.semaphore),
                    "merging permits from different semaphore instances"
                );
                self.permits += other.take();
            }

            /// As that of tokio.
            pub fn split(&mut self, n: usize) -> Option<Self> {
                self.permits = self.permits.checked_sub(n)?;
                Some(Self {
                    semaphore: self.semaphore.clone(),
                    permits: n,
                })
            }

            /// As that of tokio.
            pub fn num_permits(&self) -> usize {
                self.permits
            }
        }

        impl Drop for $permit {
            fn drop(&mut self) {
                let permits = self.take();
                self.semaphore.give_back(permits, None);
            }
        }
    };
}

permits! { SemaphorePermit<'_> }
permits! { OwnedSemaphorePermit }

impl fmt::Debug for Semaphore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Semaphore")
            .field("permits", &self.available_permits())
            .finish_non_exhaustive()
    }
}
