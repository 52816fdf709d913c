//! Elsa Studio: an npm package that is fetched into a folder and served unchanged.

pub mod fetch;
mod unpack;

use std::convert::Infallible;
use std::path::Path;

use axum::extract::{Request, State};
use axum::http::HeaderValue;
use axum::http::header::CACHE_CONTROL;
use axum::response::{IntoResponse, Response};
use tower_http::services::ServeDir;
use tower_service::Service as _;

use crate::gateway::App;
use crate::json::JsonText;
use crate::routing::Routes;

/// A file that Studio cannot run without.
const BOOT: &str = "_framework/blazor.webassembly.js";

/// Studio's files, relative to `<base href="/">`. They are public: no session is needed.
pub fn routes() -> Routes {
    Routes::new()
        .get("/_framework/{*path}", file)
        .get("/_content/{*path}", file)
        .get("/Elsa.Studio.Host.CustomElements.styles.css", file)
        .get("/appsettings.json", file)
        // Blazor requests it, and a 404 would appear in the browser's console.
        .get("/appsettings.Production.json", async || JsonText("{}".into()))
}

/// Whether the folder contains Studio.
pub async fn is_there(folder: &Path) -> bool {
    tokio::fs::try_exists(folder.join(BOOT)).await.unwrap_or(false)
}

/// Files with a content hash in their name are cached for ever; for others the browser revalidates its copy.
async fn file(State(app): State<App>, request: Request) -> Response {
    let is_fingerprinted = is_fingerprinted(request.uri().path());
    let mut folder = ServeDir::new(&app.options.studio).precompressed_br().append_index_html_on_directories(false);
    let served: Result<_, Infallible> = folder.call(request).await;
    let mut response = served.into_response();
    let caching = if is_fingerprinted && response.status().is_success() {
        HeaderValue::from_static("public, max-age=31536000, immutable")
    } else {
        HeaderValue::from_static("no-cache")
    };
    response.headers_mut().insert(CACHE_CONTROL, caching);
    response
}

/// Whether a file name is `NAME.HASH.EXTENSION`, with the ten letters and digits of .NET's builds.
fn is_fingerprinted(path: &str) -> bool {
    let mut parts = path.rsplit('/').next().unwrap_or_default().rsplit('.').skip(1);
    let (hash, name) = (parts.next(), parts.next());
    let is_hash = |hash: &str| hash.len() == 10 && hash.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    path.starts_with("/_framework/") && hash.is_some_and(is_hash) && name.is_some()
}

#[cfg(test)]
mod tests {
    use super::is_fingerprinted;

    #[test]
    fn names_with_a_hash_are_told_from_others() {
        assert!(is_fingerprinted("/_framework/System.Linq.zrgapkccbx.wasm"));
        assert!(is_fingerprinted("/_framework/de/MudBlazor.Translations.resources.0123456789.wasm"));
        for path in
            ["/_framework/dotnet.js", "/_framework/blazor.webassembly.js", "/_content/x.zrgapkccbx.js", "/_framework/"]
        {
            assert!(!is_fingerprinted(path), "{path}");
        }
    }
}
