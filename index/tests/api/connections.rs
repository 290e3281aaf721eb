//! Connections that only read, and end before the index does.
use crate::api::server::Server;
use concord_index::store::{Engine as _, Location};

/// When its server is started again, or something in between drops what is idle, each connection fails for ever.
#[tokio::test]
async fn a_connection_that_was_ended_is_replaced() {
    let server = Server::start();
    server.got("/v1/status").await;
    let location = &server.database.location;
    if let Location::Server(_) = location {
        let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
            WHERE datname = current_database() AND pid <> pg_backend_pid()";
        location.open().unwrap().script(end).unwrap();
        let first = server.get("/v1/status").await;
        assert!(first.status.is_server_error(), "{}", first.text);
    }
    server.got("/v1/status").await;
}
