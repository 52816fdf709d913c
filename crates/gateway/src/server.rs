//! The listener: TLS, limits on connections and headers, and a graceful shutdown.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum_server::accept::Accept;
use axum_server::tls_rustls::{RustlsAcceptor, RustlsConfig};
use axum_server::{Handle, Server};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_io_timeout::TimeoutStream;
use tower_service::Service;

use crate::config::ServeOptions;
use crate::gateway::{App, MAX_SOCKETS};

/// Time limit for the headers of a request.
const HEADER_TIME: Duration = Duration::from_secs(10);
/// How long open WebSockets may take to close.
const CLOSE_TIME: Duration = Duration::from_secs(2);
/// Maximum size of request headers in bytes.
const HEADER_BYTES: usize = 64 * 1024;
/// Connections to the listener for metrics, which has no login and few clients.
const METRICS_CONNECTIONS: usize = 64;

/// Serves until the process is asked to stop and all requests have been answered.
pub async fn serve(
    app: &App,
    router: Router,
    endpoints: Option<(SocketAddr, Router)>,
    metrics: Option<(SocketAddr, Router)>,
) -> io::Result<()> {
    let options = &app.options;
    let (handle, of_endpoints, of_metrics) = (Handle::new(), Handle::new(), Handle::new());
    stop_on_signal(app.clone(), [handle.clone(), of_endpoints.clone(), of_metrics.clone()])?;
    let tls = tls(options).await?;
    let others = [
        endpoints.is_some().then(|| (of_endpoints.clone(), "serving endpoints of workflows")),
        metrics.is_some().then(|| (of_metrics.clone(), "serving metrics")),
    ];
    announce(handle.clone(), others.into_iter().flatten().collect(), options.origin());
    let connections = options.max_connections as usize;
    tokio::try_join!(
        listen(options, options.listen, connections, tls.clone(), router, handle),
        listen_if_given(options, endpoints, connections, tls.clone(), of_endpoints),
        listen_if_given(options, metrics, connections.min(METRICS_CONNECTIONS), tls, of_metrics),
    )?;
    // The listener does not track WebSockets; they end by themselves when asked to.
    let _ = tokio::time::timeout(CLOSE_TIME, app.sockets.acquire_many(MAX_SOCKETS)).await;
    Ok(())
}

async fn listen_if_given(
    options: &ServeOptions,
    given: Option<(SocketAddr, Router)>,
    connections: usize,
    tls: Option<RustlsConfig>,
    handle: Handle<SocketAddr>,
) -> io::Result<()> {
    match given {
        Some((address, router)) => listen(options, address, connections, tls, router, handle).await,
        None => Ok(()),
    }
}

/// Serves at an address until the handle ends it. Each listener has its own limit of connections.
async fn listen(
    options: &ServeOptions,
    address: SocketAddr,
    connections: usize,
    tls: Option<RustlsConfig>,
    router: Router,
    handle: Handle<SocketAddr>,
) -> io::Result<()> {
    let free = Arc::new(Semaphore::new(connections));
    let bounded = BoundedAcceptor { free, patience: options.request_time() };
    let service = router.into_make_service_with_connect_info::<SocketAddr>();
    match tls {
        Some(config) => {
            let acceptor = Http1Acceptor(RustlsAcceptor::new(config).acceptor(bounded));
            limit_headers(axum_server::bind(address).acceptor(acceptor)).handle(handle).serve(service).await
        }
        None => {
            let acceptor = Http1Acceptor(bounded);
            limit_headers(axum_server::bind(address).acceptor(acceptor)).handle(handle).serve(service).await
        }
    }
}

/// Limits what clients may send before a handler sees it.
fn limit_headers<A>(mut server: Server<SocketAddr, A>) -> Server<SocketAddr, A> {
    server.http_builder().http1().header_read_timeout(HEADER_TIME).max_buf_size(HEADER_BYTES);
    server.first_request_timeout(HEADER_TIME)
}

/// Says that the gateway listens when all of its listeners do.
fn announce(handle: Handle<SocketAddr>, others: Vec<(Handle<SocketAddr>, &'static str)>, origin: String) {
    tokio::spawn(async move {
        for (other, what) in others {
            let Some(address) = other.listening().await else { return };
            tracing::info!(%address, "{what}");
        }
        if let Some(address) = handle.listening().await {
            tracing::info!(%address, origin, "listening");
        }
    });
}

/// On SIGTERM or SIGINT: stop being ready, accept no connections, let running requests finish.
fn stop_on_signal(app: App, handles: [Handle<SocketAddr>; 3]) -> io::Result<()> {
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    tokio::spawn(async move {
        tokio::select! { _ = terminate.recv() => {}, _ = interrupt.recv() => {} }
        let connections: usize = handles.iter().map(Handle::connection_count).sum();
        tracing::info!(connections, "stopping");
        app.stopping.send_replace(true);
        let time = Duration::from_secs(app.options.stop_seconds.into());
        handles.iter().for_each(|handle| handle.graceful_shutdown(Some(time)));
    });
    Ok(())
}

async fn tls(options: &ServeOptions) -> io::Result<Option<RustlsConfig>> {
    match (&options.tls_certificate, &options.tls_key) {
        (Some(certificate), Some(key)) => {
            let config = RustlsConfig::from_pem_file(certificate, key).await.map_err(|error| {
                let files = format!("{} and {}", certificate.display(), key.display());
                io::Error::other(format!("{files} are no certificate and its key: {error}"))
            })?;
            let mut http1 = (*config.get_inner()).clone();
            // The default would offer HTTP/2, which this server does not speak.
            http1.alpn_protocols = vec![b"http/1.1".to_vec()];
            Ok(Some(RustlsConfig::from_config(Arc::new(http1))))
        }
        _ => Ok(None),
    }
}

/// Closes excess connections at once, and connections whose client does not read the answer.
#[derive(Clone)]
struct BoundedAcceptor {
    free: Arc<Semaphore>,
    /// How long a client may read nothing.
    patience: Duration,
}

impl<S> Accept<TcpStream, S> for BoundedAcceptor {
    type Stream = Pin<Box<TimeoutStream<TcpStream>>>;
    type Service = CountedService<S>;
    type Future = std::future::Ready<io::Result<(Self::Stream, CountedService<S>)>>;

    fn accept(&self, stream: TcpStream, service: S) -> Self::Future {
        let permit = self.free.clone().try_acquire_owned().map_err(|_| io::Error::other("too many connections"));
        std::future::ready(permit.and_then(|permit| {
            stream.set_nodelay(true)?;
            let mut stream = TimeoutStream::new(stream);
            stream.set_write_timeout(Some(self.patience));
            Ok((Box::pin(stream), CountedService { service, _permit: Arc::new(permit) }))
        }))
    }
}

/// A connection's service, counted while it lives.
#[derive(Clone)]
struct CountedService<S> {
    service: S,
    _permit: Arc<OwnedSemaphorePermit>,
}

impl<S: Service<R>, R> Service<R> for CountedService<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.service.poll_ready(context)
    }

    fn call(&mut self, request: R) -> S::Future {
        self.service.call(request)
    }
}

/// Closes connections that start with HTTP/2, to which the limits above do not apply. The server's own `http1_only`
/// would disable upgrades and thus WebSockets; with upgrades enabled it accepts both versions, whatever its builder was
/// told.
#[derive(Clone)]
struct Http1Acceptor<A>(A);

impl<A, I, S> Accept<I, S> for Http1Acceptor<A>
where
    A: Accept<I, S>,
    A::Future: Send + 'static,
{
    type Stream = Http1Stream<A::Stream>;
    type Service = A::Service;
    type Future = Pin<Box<dyn Future<Output = io::Result<(Self::Stream, Self::Service)>> + Send>>;

    fn accept(&self, stream: I, service: S) -> Self::Future {
        let accepted = self.0.accept(stream, service);
        Box::pin(async move {
            let (stream, service) = accepted.await?;
            Ok((Http1Stream { stream, begun: Some(0) }, service))
        })
    }
}

/// The first bytes of an HTTP/2 connection; no HTTP/1 request starts like this.
const HTTP2: &[u8] = b"PRI * HTTP/2";

struct Http1Stream<S> {
    stream: S,
    /// How many bytes of [`HTTP2`] have matched; `None` once they differ.
    begun: Option<usize>,
}

impl<S: AsyncRead + Unpin> AsyncRead for Http1Stream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        if let Some(begun) = self.begun {
            let come = &buffer.filled()[before..];
            let rest = &HTTP2[begun..];
            let compared = come.len().min(rest.len());
            self.begun = (come[..compared] == rest[..compared]).then_some(begun + compared);
            if self.begun == Some(HTTP2.len()) {
                return Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, "HTTP/2 is not spoken here")));
            }
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Http1Stream<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
