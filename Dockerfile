# PostgreSQL's official image with the extension:   docker build --build-arg PG_MAJOR=17 -t postgres-workflow .
ARG PG_MAJOR=15

# Debian 12 with Rust. The headers are of the packages that the official image has, those of apt.postgresql.org.
FROM rust:1.95-bookworm AS build
ARG PG_MAJOR
RUN apt-get update \
    && apt-get install -y --no-install-recommends postgresql-common \
    && /usr/share/postgresql-common/pgdg/apt.postgresql.org.sh -y \
    && mkdir -p /etc/postgresql-common/createcluster.d \
    && echo 'create_main_cluster = false' >/etc/postgresql-common/createcluster.d/no-main.conf \
    && apt-get install -y --no-install-recommends \
        clang curl libclang-dev pkg-config "postgresql-$PG_MAJOR" "postgresql-server-dev-$PG_MAJOR" python3
WORKDIR /build
COPY . .
RUN make package PG_MAJOR="$PG_MAJOR"

FROM postgres:${PG_MAJOR}-bookworm
ARG PG_MAJOR
RUN --mount=from=build,source=/build/target/packages,target=/packages \
    dpkg -i /packages/postgresql-"$PG_MAJOR"-workflow_*.deb
CMD ["postgres", "-c", "shared_preload_libraries=workflow"]
