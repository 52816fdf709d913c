# Sourced after common.sh: packages of another Debian release, unpacked beside the system. apt keeps lists, a cache and its own package
# database under $PG_ROOT/../apt, checks the signatures, and installs nothing.
# shellcheck shell=bash

suite=${SUITES[$PG_MAJOR]:-}
[ -n "$suite" ] || die "no Debian release is known to have PostgreSQL $PG_MAJOR"
mirror=${WORKFLOW_MIRROR:-$(grep -hoP '^(deb (\[.*?\] )?|URIs: *)\Khttps?://\S*/debian(?=/?(\s|$))' /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null | head -n 1 || true)}
mirror=${mirror:-http://deb.debian.org/debian}
command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null ||
    die "PostgreSQL $PG_MAJOR, with its development files, is neither there, nor can it be fetched: this machine has no apt-get and dpkg-deb"
apt=${PG_ROOT%/root}/apt

# Signatures are checked regardless of check_valid_until.
check_valid_until=true
with_apt() {
    local get=$1
    shift
    "$get" -qq -o Dir::Etc::SourceList="$apt/sources.list" -o Dir::Etc::SourceParts=/dev/null -o Dir::Etc::Preferences=/dev/null \
        -o Dir::Etc::PreferencesParts=/dev/null -o Dir::State="$apt" -o Dir::State::status="$apt/status" -o Dir::Cache="$apt" \
        -o APT::Install-Recommends=false -o APT::Sandbox::User= -o Debug::NoLocking=true -o Acquire::Languages=none \
        -o Acquire::Check-Valid-Until="$check_valid_until" "$@"
}

# use_suite deb|deb-src: fetches the package lists, including security updates if the release has them.
use_suite() {
    local trusted='[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]'
    mkdir -p "$apt/lists/partial" "$apt/archives/partial"
    {
        echo "$1 $trusted $mirror $suite main"
        case $suite in
            sid | forky) ;;
            *) echo "$1 $trusted ${mirror%/debian}/debian-security $suite-security main" ;;
        esac
    } >"$apt/sources.list"
    : >"$apt/status"
    with_apt apt-get update && return
    # The lists of a release in development expire if its mirror is not updated.
    say "warning: trying once more, with lists of Debian $suite that may have expired"
    check_valid_until=false
    with_apt apt-get update
}
