//! Accepts connections on one thread, and keeps them within limits.

use super::access::Access;
use super::bodies::Delivery;
use super::routes::{Body, Routes, refuse};
use crate::web::view::hub::{Hub, Message, Viewed};
use futures_util::{SinkExt, StreamExt};
use hyper::body::Incoming;
use hyper::header::{CONNECTION, SEC_WEBSOCKET_ACCEPT, UPGRADE};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::collections::HashMap;
use std::convert::Infallible;
use std::io::Result;
use std::net::{IpAddr, TcpListener};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use tokio::runtime::Builder;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message as Frame;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};

/// Most connections at a time. For a further one, the oldest that has not shown the token is closed; if all have, the
/// further one is.
const MAX_CONNECTIONS: usize = 192;

/// How long the head of a request may take to arrive.
const HEAD_TIME: Duration = Duration::from_secs(10);

/// Most bytes and header lines of the head of a request.
const MAX_HEAD: usize = 16 << 10;
const MAX_LINES: usize = 64;

/// Most bytes of a message from a viewer.
const MAX_MESSAGE: usize = 4 << 10;

/// Most connections of one IP address at a time.
const MAX_OF_ONE: usize = 128;

/// A connection whose other side accepts no data for this long is closed.
const STALLED: Duration = Duration::from_secs(60);

/// Threads that read files and encode pictures. At most four of them make pictures and films, make small pictures for
/// listings, or open films.
const BLOCKING: usize = 8;

/// The server for `listener`, for a thread of its own. It runs as long as the process.
pub fn server(listener: TcpListener, access: Access, hub: Arc<Hub>) -> Result<impl FnOnce() + Send> {
    let runtime = Builder::new_current_thread().enable_all().max_blocking_threads(BLOCKING).build()?;
    Ok(move || {
        runtime.block_on(async {
            let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
            let routes = Arc::new(Routes { access, hub });
            let connections = Arc::new(Semaphore::new(MAX_CONNECTIONS));
            let mut peers: HashMap<IpAddr, Weak<Semaphore>> = HashMap::new();
            let mut open = OpenConnections::default();
            loop {
                let Ok((connection, peer)) = listener.accept().await else {
                    // Out of file descriptors: wait until other connections end.
                    tokio::time::sleep(Duration::from_millis(100)).await;
                    continue;
                };
                let Some(place) = open.permit(&connections, |_| true).await else { continue };
                peers.retain(|_, places| places.strong_count() > 0);
                let known = peers.get(&peer.ip()).and_then(Weak::upgrade);
                let known = known.unwrap_or_else(|| Arc::new(Semaphore::new(MAX_OF_ONE)));
                peers.insert(peer.ip(), Arc::downgrade(&known));
                let Some(of_peer) = open.permit(&known, |other| other == peer.ip()).await else { continue };
                let is_admitted = Arc::new(AtomicBool::new(false));
                let served = serve(connection, routes.clone(), Arc::new((place, of_peer)), is_admitted.clone());
                open.0.push(OpenConnection { peer: peer.ip(), is_admitted, task: tokio::spawn(served) });
            }
        });
    })
}

/// The connections, in the order in which they came.
#[derive(Default)]
struct OpenConnections(Vec<OpenConnection>);

struct OpenConnection {
    peer: IpAddr,
    /// Whether a request on it has shown that it may be answered.
    is_admitted: Arc<AtomicBool>,
    task: JoinHandle<()>,
}

impl OpenConnections {
    /// One of `permits`. If none is left, closes the oldest connection of a suitable address that is not admitted.
    async fn permit(
        &mut self,
        permits: &Arc<Semaphore>,
        is_suitable: impl Fn(IpAddr) -> bool,
    ) -> Option<OwnedSemaphorePermit> {
        self.0.retain(|connection| !connection.task.is_finished());
        if permits.available_permits() == 0 {
            let gives_way = |connection: &OpenConnection| {
                is_suitable(connection.peer) && !connection.is_admitted.load(Ordering::Relaxed)
            };
            let oldest = self.0.iter().position(gives_way)?;
            let connection = self.0.remove(oldest);
            connection.task.abort();
            // The task gives its permits back when it has ended.
            let _ = connection.task.await;
        }
        permits.clone().try_acquire_owned().ok()
    }
}

/// The permits of a connection, among all and among those of its IP address. A WebSocket keeps them after HTTP has
/// ended.
type ConnectionPermits = Arc<(OwnedSemaphorePermit, OwnedSemaphorePermit)>;

async fn serve(connection: TcpStream, routes: Arc<Routes>, place: ConnectionPermits, is_admitted: Arc<AtomicBool>) {
    // Each picture is sent at once, without Nagle's algorithm.
    let _ = connection.set_nodelay(true);
    // The system closes the connection when the other side accepts no data for this long, whatever is being sent.
    let _ = rustix::net::sockopt::set_tcp_user_timeout(&connection, STALLED.as_millis() as u32);
    let delivery = Delivery::default();
    let answer = service_fn(|mut request| {
        let (routes, place) = (routes.clone(), place.clone());
        request.extensions_mut().insert(delivery.clone());
        is_admitted.fetch_or(routes.check(&request).is_ok(), Ordering::Relaxed);
        async move { Ok::<_, Infallible>(answer(request, &routes, place).await) }
    });
    // The system has no more descriptors: the client tries again.
    let Ok((connection, mut after)) = twice(connection) else { return };
    // An error of a connection concerns the other side alone.
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .max_buf_size(MAX_HEAD)
        .max_headers(MAX_LINES)
        .serve_connection(TokioIo::new(connection), answer)
        .with_upgrades()
        .await;
    // A client that was told of the end closes the connection when it has read all, or has it reset if it has not.
    if served.is_ok() && delivery.is_awaited() && matches!(timeout(STALLED, after.read(&mut [0])).await, Ok(Ok(0))) {
        delivery.received();
    }
}

/// The connection, and a second descriptor of it.
fn twice(connection: TcpStream) -> Result<(TcpStream, TcpStream)> {
    let connection = connection.into_std()?;
    let after = connection.try_clone()?;
    Ok((TcpStream::from_std(connection)?, TcpStream::from_std(after)?))
}

async fn answer(mut request: Request<Incoming>, routes: &Routes, place: ConnectionPermits) -> Response<Body> {
    let watched = match routes.watched(&request) {
        Some(Ok(watched)) => watched,
        Some(Err(wrong)) => return refuse(wrong),
        None => return routes.answer(request).await,
    };
    let (source, admitted, key) = watched;
    let upgrade = hyper::upgrade::on(&mut request);
    tokio::spawn(async move {
        if let Ok(upgraded) = upgrade.await {
            let config = WebSocketConfig::default()
                .max_message_size(Some(MAX_MESSAGE))
                .max_frame_size(Some(MAX_MESSAGE))
                .write_buffer_size(0);
            let socket = WebSocketStream::from_raw_socket(TokioIo::new(upgraded), Role::Server, Some(config)).await;
            send_video(socket, &source).await;
        }
        drop((admitted, place));
    });
    let answer = Response::builder()
        .status(StatusCode::SWITCHING_PROTOCOLS)
        .header(CONNECTION, "Upgrade")
        .header(UPGRADE, "websocket")
        .header(SEC_WEBSOCKET_ACCEPT, key)
        .body(Body::default());
    answer.unwrap_or_default()
}

/// Sends the video of `source` until the viewer goes, or accepts no data for a minute.
async fn send_video(mut socket: WebSocketStream<TokioIo<hyper::upgrade::Upgraded>>, source: &Viewed) {
    let mut messages = source.watch();
    loop {
        tokio::select! {
            message = messages.recv() => {
                let frame = match message {
                    Some(Message::Text(text)) => Frame::text(&*text),
                    Some(Message::Video(bytes)) => Frame::Binary(bytes),
                    None => break,
                };
                if !matches!(timeout(STALLED, socket.send(frame)).await, Ok(Ok(()))) {
                    break;
                }
            }
            // Messages of viewers are ignored, except that a close message ends the connection.
            heard = socket.next() => match heard {
                Some(Ok(frame)) if !frame.is_close() => {}
                _ => break,
            }
        }
    }
}
