# Sourced by every script: where things are, how to speak, and as whom the server runs.
# shellcheck shell=bash disable=SC2034
set -euo pipefail

# What `make` and a curious environment would pass on to cargo and to PostgreSQL.
unset MAKEFLAGS MFLAGS MAKELEVEL CDPATH

REPO=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
cd "$REPO"

PG_MAJOR=${PG_MAJOR:-15}

# Tools that outlive a clone: cargo-pgrx, pgrx's home, cargo-fuzz, pgspot, drivers, what bench/peers.sh measures beside.
CACHE_DIR=${XDG_CACHE_HOME:-$HOME/.cache}/workflow-dev

# Drivers of PostgreSQL for the Python on pages of documentation.
DRIVERS="psycopg[binary]==3.3.9 SQLAlchemy==2.1.9 Django==5.2.19"
DRIVERS_DIR=$CACHE_DIR/drivers

# Other languages of these pages. It lies outside a home directory, so that the server's user may run them.
LANGUAGES_DIR=/var/tmp/workflow-languages-$(id -un)

# What drives a browser, and what an editor has, for tests/run-gateway, from npm.
PLAYWRIGHT_VERSION=1.65.1
AXE_VERSION=4.14.1
BROWSER_DIR=$CACHE_DIR/playwright-core-$PLAYWRIGHT_VERSION-axe-core-$AXE_VERSION
LANGUAGE_SERVICE_VERSION=5.7.2
LANGUAGE_SERVICE_DIR=$CACHE_DIR/json-languageservice-$LANGUAGE_SERVICE_VERSION
# The identity provider at which people log in, in the same tests.
PROVIDER_VERSION=9.13.3
PROVIDER_NODE_VERSION=22.23.5
PROVIDER_DIR=$CACHE_DIR/oidc-provider-$PROVIDER_VERSION
# Where `wf studio fetch` puts the version of Studio that `wf serve` takes.
STUDIO_DIR=$CACHE_DIR/elsa-studio-3.8.2

# What bench/peers.sh measures beside, from PyPI, and the version of the crate that holds the SQL of pgmq.
PEERS="psycopg[binary]==3.3.9 absurd-sdk==0.5.1 absurdctl==0.5.1 dbos==3.4.0"
PGMQ_VERSION=0.34.0-alpha.7
PEERS_DIR=$CACHE_DIR/peers

# Which Debian release has which PostgreSQL.
declare -A SUITES=([15]=bookworm [17]=trixie [18]=forky)

# The exit status of a script that could not reach a Debian release: nothing is wrong with this repository then.
UNREACHABLE=75

# Before the /usr of a PostgreSQL that scripts/lib/fetch-postgres has unpacked, or that checks itself (scripts/lib/build-postgres). It lies outside a
# home directory, so that the server's user may run it.
POSTGRES_DIR=${WORKFLOW_POSTGRES_DIR:-/var/tmp/workflow-postgres-$(id -un)}

# has_server MAJOR: the machine has this PostgreSQL, with development files of the very same version, so that it can be copied. Where it has
# other ones, or none, nothing of it is used: to install or upgrade them would upgrade, stop and start the servers of the machine.
has_server() {
    local bin=/usr/lib/postgresql/$1/bin headers=/usr/include/postgresql/$1/server version
    [ -x "$bin/postgres" ] && [ -x "$bin/pg_config" ] && [ -f "$headers/postgres.h" ] || return 1
    version=$(sed -n 's/^#define PG_VERSION "\(.*\)"/\1/p' "$headers/pg_config.h")
    [ "$("$bin/postgres" --version)" = "postgres (PostgreSQL) $version" ]
}

# server_root MAJOR: the PG_ROOT of this PostgreSQL. It is empty for one of the machine.
server_root() { has_server "$1" || echo "$POSTGRES_DIR/$1/root"; }

PG_ROOT=${PG_ROOT-$(server_root "$PG_MAJOR")}
# A server of the user's may lie anywhere: take_pg_config has said where.
SYSTEM_PG_CONFIG=${SYSTEM_PG_CONFIG:-$PG_ROOT/usr/lib/postgresql/$PG_MAJOR/bin/pg_config}

# is_of_this_release: the server is the one that Debian's release on this machine has, whether it is installed or was fetched.
is_of_this_release() {
    [ "$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)" = "${SUITES[$PG_MAJOR]:-}" ] && case $PG_ROOT in '' | */"$PG_MAJOR/root") ;; *) return 1 ;; esac
}

# The profile of Cargo: `checks` for the private servers and most tests, `release` for what is installed, packaged and measured.
PROFILE=${WORKFLOW_PROFILE:-checks}

# Everything whose name contains the server or the profile; whoever changes these calls it again. 15, 18, 15-assert: what is built for one
# server is not for another.
name_build() {
    PG_NAME=$(basename "${PG_ROOT%/root}")
    PG_NAME=${PG_NAME:-$PG_MAJOR}
    PACKAGE_DIR=$REPO/target/workflow-pg$PG_NAME
    [ "$PROFILE" = release ] || PACKAGE_DIR+=-$PROFILE
    WF_PROGRAM=$REPO/target/checks/wf
    [ "$PROFILE" != release ] || WF_PROGRAM=$REPO/target/gateway/program/wf
}
name_build

# Servers live outside the clone: a clone under a home directory is closed to the server's user, and a socket's
# path may have 107 bytes only. The hash keeps two clones apart.
repo_hash=$(printf '%s' "$REPO" | sha256sum)
DEV_DIR=${WORKFLOW_DEV_DIR:-/var/tmp/workflow-dev-$(id -un)-${repo_hash:0:8}}

# PostgreSQL refuses to run as root. Debian's packages make the user postgres; where it is not there, scripts/lib/setup makes one of its own.
SERVER_USER=$(id -un)
if [ "$(id -u)" -eq 0 ]; then
    SERVER_USER=workflow-dev
    if ! id workflow-dev >/dev/null 2>&1 && id postgres >/dev/null 2>&1; then SERVER_USER=postgres; fi
fi

# A shell without login profile (a build machine's) often lacks this.
if ! command -v cargo >/dev/null && [ -x "$HOME/.cargo/bin/cargo" ]; then PATH=$HOME/.cargo/bin:$PATH; fi

say() { printf '==> %s\n' "$*"; }

# wanted NAME: a word of T is in the name of this test, or in that without its subject (regress/tasks/leases, regress/leases). Without T
# every test is wanted.
wanted() {
    local word short=$1
    [ -n "${T:-}" ] || return 0
    [[ $1 != */*/* ]] || short=${1%%/*}/${1##*/}
    for word in $T; do [[ $1 != *"$word"* && $short != *"$word"* ]] || return 0; done
    return 1
}

die() {
    printf 'error: %s\n' "$*" >&2
    exit 1
}

# sudo may ask for a password, on the terminal.
can_become_root() { [ "$(id -u)" -eq 0 ] || { command -v sudo >/dev/null && sudo -v; }; }

# as_root COMMAND...: for Debian's packages (compilers and tools, no server), `make install` and `make uninstall`, the only things that need it.
as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    else
        can_become_root || die "this needs root: $*"
        sudo "$@"
    fi
}

# as_server COMMAND...: as the server's user, with nothing of the caller's environment. RUST_BACKTRACE would put a
# backtrace into the DETAIL of every error, PGOPTIONS or a locale would change what tests see.
as_server() {
    local clean=(env -i PATH="${PGBIN:+$PGBIN:}/usr/local/bin:/usr/bin:/bin" HOME="$DEV_DIR" LC_ALL=C.UTF-8)
    if [ "$(id -u)" -eq 0 ]; then
        (cd "$DEV_DIR" && runuser -u "$SERVER_USER" -- "${clean[@]}" "$@")
    else
        (cd "$DEV_DIR" && "${clean[@]}" "$@")
    fi
}

# The directory of the private servers, closed to everyone else: it is what stands between other users of the
# machine and a socket that asks for no password.
prepare_dev_dir() {
    if [ ! -e "$DEV_DIR" ]; then
        mkdir -p "$(dirname "$DEV_DIR")"
        mkdir -m 700 "$DEV_DIR"
        chown "$SERVER_USER": "$DEV_DIR"
    fi
    if [ -L "$DEV_DIR" ] || [ "$(stat -c '%U %a' "$DEV_DIR")" != "$SERVER_USER 700" ]; then
        die "$DEV_DIR should be a directory of $SERVER_USER with mode 700: remove it, or set WORKFLOW_DEV_DIR"
    fi
    as_server true 2>/dev/null || die "$SERVER_USER cannot enter $DEV_DIR: set WORKFLOW_DEV_DIR"
    [ "${#DEV_DIR}" -le 60 ] || die "$DEV_DIR is too long for a socket: set WORKFLOW_DEV_DIR"
}

# The version of pgrx is said once, in Cargo.toml; cargo-pgrx must be exactly that one.
pgrx_version() { sed -n 's/^pgrx = .*"=\([0-9.]*\)".*/\1/p' Cargo.toml; }

has_cargo_pgrx() { [ "$(cargo-pgrx pgrx --version 2>/dev/null)" = "cargo-pgrx $1" ]; }

CARGO_FUZZ_VERSION=0.13.2

has_cargo_fuzz() { [ "$(cargo-fuzz fuzz --version 2>/dev/null)" = "cargo-fuzz $CARGO_FUZZ_VERSION" ]; }

# The tool that builds fuzz/.
use_cargo_fuzz() {
    has_cargo_fuzz || PATH=$CACHE_DIR/cargo-fuzz-$CARGO_FUZZ_VERSION/bin:$PATH
    export PATH
}

# use_pgrx PG_CONFIG: everything that cargo needs to build the extension, without the user's ~/.pgrx. The same
# values in every script, because a changed one makes cargo build pgrx anew.
use_pgrx() {
    local version
    version=$(pgrx_version)
    has_cargo_pgrx "$version" || PATH=$CACHE_DIR/cargo-pgrx-$version/bin:$PATH
    export PATH PGRX_HOME=$CACHE_DIR/pgrx-$PG_NAME${PG_ROOT:+-unpacked} PGRX_PG_CONFIG_PATH=$1
    remap_paths
}

# The library says where its sources lay, in messages and for debuggers: by names that are the same on every machine, so that
# the library is the same as well. Cargo adds these flags to those of cargo-pgrx. They are split at blanks, so where a path has
# one, all stay as they are.
remap_paths() {
    local cargo=${CARGO_HOME:-$HOME/.cargo} rustc sysroot host
    rustc=$(rustc -vV)
    sysroot=$(rustc --print sysroot)
    host=$(sed -n 's/^host: //p' <<<"$rustc" | tr 'a-z-' 'A-Z_')
    REMAP_VARIABLE=CARGO_TARGET_${host}_RUSTFLAGS
    case $REPO$cargo$sysroot$POSTGRES_DIR in *[[:space:]]*) return ;; esac
    # That of the standard library is what it says itself where its sources are not installed.
    add_flags "$REMAP_VARIABLE" --remap-path-prefix "$cargo=/usr/src/cargo" "$REPO=/usr/src/workflow" \
        "$sysroot/lib/rustlib/src/rust=/rustc/$(sed -n 's/^commit-hash: //p' <<<"$rustc")"
    # The headers of servers that were fetched, too.
    add_flags CFLAGS -ffile-prefix-map "$cargo=/usr/src/cargo" "$REPO=/usr/src/workflow" "$POSTGRES_DIR=/usr/src/postgresql"
}

# cargo_crates COMMAND OPTION...: for all crates but the extension, as tests need them. Always all, with what their tests need: for some of
# them cargo would choose other features of the crates that they share, and compile those again.
cargo_crates() {
    remap_paths
    cargo_beside_pgrx "$1" --locked --workspace --exclude workflow "${@:2}"
}

# cargo_program COMMAND OPTION...: for the program wf as it is shipped.
cargo_program() {
    remap_paths
    CARGO_TARGET_DIR=$REPO/target/gateway cargo "$1" --profile program --locked -p workflow-cli -p workflow-gateway -p workflow-services "${@:2}"
}

# add_flags VARIABLE OPTION VALUE...: to an environment variable that does not have them yet.
add_flags() {
    local flags
    flags=$(printf " $2=%s" "${@:3}")
    case ${!1:-} in *"$flags"*) ;; *) export "$1=${!1:-}$flags" ;; esac
}

# take_pg_config MAJOR: from here on, and in the scripts that are called, the PostgreSQL is that of PG_CONFIG, or the pg_config on
# the PATH. MAJOR is PG_MAJOR as the caller was given it, if it was.
take_pg_config() {
    local given=${PG_CONFIG:-pg_config} bin
    bin=$("$given" --bindir) || die "$given does not run: set PG_CONFIG to the pg_config of your PostgreSQL"
    # Debian's pg_config on the PATH is a wrapper: take the real one, which the private servers use as well, so that cargo does
    # not build everything once more for another name.
    if [ -x "$bin/pg_config" ]; then given=$bin/pg_config; fi
    given=$(command -v "$given")
    PG_MAJOR=$("$given" --version | sed 's/^[^0-9]*\([0-9]*\).*/\1/')
    [ "${1:-$PG_MAJOR}" = "$PG_MAJOR" ] || die "$given is of PostgreSQL $PG_MAJOR, not $1: set PG_CONFIG"
    PG_ROOT=${given%"/usr/lib/postgresql/$PG_MAJOR/bin/pg_config"}
    [ "$PG_ROOT" != "$given" ] || PG_ROOT=
    SYSTEM_PG_CONFIG=$given
    export PG_MAJOR PG_ROOT SYSTEM_PG_CONFIG
    name_build
}

# cargo_beside_pgrx COMMAND OPTION...: with the flags of cargo-pgrx, so that what was built for the extension is not built again.
cargo_beside_pgrx() {
    local flags='["-C", "link-arg=-Wl,--no-gc-sections"]'
    cargo "$1" --config "target.'cfg(all(target_family = \"unix\", not(target_os = \"macos\")))'.rustflags = $flags" --profile checks "${@:2}"
}

# cargo_pgrx_package PG_CONFIG DIR: what cargo and rustc say is for the reader, where cargo-pgrx puts its files is not.
cargo_pgrx_package() {
    cargo pgrx package --profile "$PROFILE" --pg-config "$1" --out-dir "$2" 2>&1 >/dev/null |
        sed -u '/Using.*PgConfig/d; /Discovered/d; /Writing/d' >&2
}

# with_lock COMMAND...: one build at a time per clone.
with_lock() {
    mkdir -p "$REPO/target"
    (
        flock 9
        "$@" 9>&-
    ) 9>"$REPO/target/.workflow-lock"
}
