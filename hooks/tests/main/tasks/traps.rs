//! What only tasks have.
