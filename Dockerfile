# The server with both Chromiums, as an ordinary user. `make image` builds it, `make image-test` tests it.
ARG BASE=debian:12-slim


# Build stage: the final image contains no build tools.
FROM ${BASE} AS build
RUN apt-get update \
    && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends python3 python3-venv \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY requirements/build.txt requirements/shared.txt requirements/
RUN python3 -m venv /build \
    && /build/bin/pip install --no-cache-dir --require-hashes -r requirements/build.txt \
    && python3 -m venv /opt/search-mcp \
    && /opt/search-mcp/bin/pip install --no-cache-dir --require-hashes -r requirements/shared.txt
COPY pyproject.toml README.md LICENSE ./
COPY browsers browsers
COPY scraper scraper
RUN /build/bin/hatchling build -t wheel -d /dist \
    && /opt/search-mcp/bin/pip install --no-cache-dir --no-deps --no-index /dist/*.whl \
    && /opt/search-mcp/bin/pip uninstall --yes --quiet setuptools pip


FROM ${BASE}
RUN apt-get update \
    && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
        ca-certificates \
        chromium \
        chromium-headless-shell \
        fonts-liberation \
        fonts-noto-cjk \
        fonts-noto-color-emoji \
        libatomic1 \
        python3 \
        tini \
    && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/log/*.log /var/log/apt

# A fixed user id, so that volumes can be owned by it: docker run -v "$PWD/data":/data --user 10001
RUN useradd --uid 10001 --user-group --home-dir /data --no-create-home --shell /usr/sbin/nologin search \
    && install -d -o search -g search -m 0750 /data

COPY --from=build /opt/search-mcp /opt/search-mcp
COPY deploy/healthcheck.py /opt/search-mcp/healthcheck.py

# Chromium and its libraries write small files to HOME. Only /tmp is writable in a container with a read-only root.
ENV PATH=/opt/search-mcp/bin:/usr/local/bin:/usr/bin:/bin \
    HOME=/tmp \
    LANG=C.UTF-8 \
    PYTHONUNBUFFERED=1 \
    SEARCH_MCP_DATA=/data \
    SEARCH_MCP_HOST=0.0.0.0

# The publisher of the image sets its source repository and its name in the registry.
ARG SOURCE=""
ARG SERVER_NAME="search-mcp"
LABEL org.opencontainers.image.title="search-mcp" \
      org.opencontainers.image.description="The web for AI agents: pages rendered by a real browser on your own machine, read as Markdown over MCP." \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.source="${SOURCE}" \
      io.modelcontextprotocol.server.name="${SERVER_NAME}"

USER search
VOLUME /data
EXPOSE 8000
STOPSIGNAL SIGTERM

HEALTHCHECK --interval=30s --timeout=5s --start-period=20s --retries=3 \
    CMD ["python", "/opt/search-mcp/healthcheck.py"]

# tini is process 1: children of a killed browser are reparented to process 1, which must reap them.
ENTRYPOINT ["tini", "--", "search-mcp"]

# The server refuses to start without SEARCH_MCP_TOKEN or --allow-unauthenticated. For stdio: docker run -i IMAGE stdio
CMD ["serve"]
