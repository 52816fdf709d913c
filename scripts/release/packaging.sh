# Sourced after common.sh by the scripts that make packages. Builds of a commit are reproducible with the same compilers.
# shellcheck shell=bash

# The version of Ubuntu 22.04; Debian 12 has 2.36.
NEWEST_GLIBC=2.35

# The distributor of the packages sets the maintainer, as with Debian's own tools; there is no address that fits everybody.
MAINTAINER="${DEBFULLNAME:-workflow contributors} <${DEBEMAIL:-workflow@example.org}>"

# begin_packages: creates a work directory that is removed when the script ends; `version` defaults to that of the workspace.
begin_packages() {
    arch=$(dpkg --print-architecture 2>/dev/null || uname -m)
    version=${version:-$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)}
    # The sources in a tarball have no commit, but files with its date.
    SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y CHANGELOG.md)}
    export SOURCE_DATE_EPOCH
    packages=$REPO/target/packages
    mkdir -p "$packages"
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
}

# check_binary FILE: fails if the file needs a library that the package does not depend on. Sets `glibc`.
check_binary() {
    local other
    glibc=$(objdump -T "$1" | grep -oP 'GLIBC_\K[0-9][0-9.]*' | sort -uV | tail -n 1)
    other=$(readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -vE '^(libc\.so\.6|libm\.so\.6|libgcc_s\.so\.1|ld-linux.*)$' || true)
    [ -z "$other" ] || die "$(basename "$1") needs $other"
    # A server given by PG_CONFIG is on the machine that builds.
    [ -z "${PG_CONFIG:-}" ] || return 0
    [ "$(printf '%s\n' "$glibc" "$NEWEST_GLIBC" | sort -V | tail -n 1)" = "$NEWEST_GLIBC" ] ||
        die "$(basename "$1") needs glibc $glibc, and packages are for $NEWEST_GLIBC: build them on Debian 12"
}

# Debian already has the text of the Apache licence, and wants a reference to it.
write_copyright() { # NOTICES
    cat LICENSE - "$1" <<<'' |
        sed '/TERMS AND CONDITIONS FOR USE, REPRODUCTION/,/END OF TERMS/c The terms are in /usr/share/common-licenses/Apache-2.0.'
}

write_changelog() { # PACKAGE
    cat <<CHANGELOG
$1 ($version) stable; urgency=medium

  * CHANGELOG.md of the project says what is new.

 -- $MAINTAINER  $(LC_ALL=C date -uRd "@$SOURCE_DATE_EPOCH")
CHANGELOG
}

write_md5sums() { (cd "$1" && find . -type f -not -path './DEBIAN/*' -printf '%P\n' | LC_ALL=C sort | xargs -d '\n' md5sum) >"$1/DEBIAN/md5sums"; } # ROOT

# In KiB, rounded up per file.
installed_size() { find "$1" -type f -not -path "$1/DEBIAN/*" -printf '%s\n' | awk '{ kib += int(($1 + 1023) / 1024) } END { print kib }'; } # ROOT

# Independent of the umask and the clock.
set_attributes() {
    chmod -R u=rwX,go=rX "$1"
    find "$1" -name '*.so' -exec chmod 644 {} +
    find "$1" -exec touch -hd "@$SOURCE_DATE_EPOCH" {} +
}

# Several threads would split the data into other blocks, and so would another compression.
build_deb() { DPKG_DEB_THREADS_MAX=1 dpkg-deb -Zxz --root-owner-group --build "$1" "$packages/$2" >/dev/null; } # ROOT NAME

finish_packages() {
    (cd "$packages" && rm -f SHA256SUMS && sha256sum -- * >SHA256SUMS)
    say "$packages:"
    cat "$packages/SHA256SUMS"
}
