# One image for the API, the worker, the migrations and the operator's commands; compose picks by `command`.
# The tags are pinned to a line, not to a digest: digests could not be looked up where this file was written.
# Pin them in your own registry (docs/operate/install.md#images).
ARG BUILD_IMAGE=node:24-trixie-slim
ARG RUN_IMAGE=gcr.io/distroless/nodejs24-debian13:nonroot

FROM ${BUILD_IMAGE} AS build
WORKDIR /app

# No dependency needs its install script, so none is run.
COPY package.json package-lock.json .npmrc ./
RUN --mount=type=cache,target=/root/.npm npm ci --ignore-scripts

COPY tsconfig.json tsconfig.build.json ./
COPY api api
COPY workflows workflows
COPY activities activities
COPY db db
COPY scripts scripts
RUN node_modules/.bin/tsc -p tsconfig.build.json && node dist/scripts/build-workflow-bundle.js \
  && cp -r api/web/views api/web/assets dist/api/web/ \
  && cd db/migrations && find . -name '*.sql' -exec cp --parents {} ../../dist/db/migrations/ ';'

# What production loads, and of the native modules this platform's alone: Temporal's core comes for five, about 27 MB each.
COPY deploy/prune-modules.mjs deploy/prune-modules.mjs
RUN npm prune --omit=dev --ignore-scripts && node deploy/prune-modules.mjs node_modules && mkdir /data

# No shell, no package manager, user 65532.
FROM ${RUN_IMAGE}
LABEL org.opencontainers.image.title="assent" \
  org.opencontainers.image.licenses="Apache-2.0"
WORKDIR /app
ENV NODE_ENV=production \
  NODE_OPTIONS=--enable-source-maps \
  MALLOC_ARENA_MAX=2 \
  BIND_ADDRESS=0.0.0.0 \
  DATA_DIR=/data \
  WORKFLOW_BUNDLE=/app/.build/workflow-bundle.js

COPY --from=build /app/node_modules node_modules
COPY --from=build /app/package.json package.json
COPY --from=build /app/.build .build
COPY --from=build /app/dist dist
COPY deploy/healthcheck.mjs deploy/healthcheck.mjs
COPY LICENSE LICENSE
COPY clients/verify-export.mjs clients/verify-export.mjs
# An empty folder that the run user owns: a named volume mounted here takes over its owner.
COPY --from=build --chown=65532:65532 /data /data

USER 65532:65532
EXPOSE 3000 4000
# Of the API; compose sets the worker's own.
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 \
  CMD ["/nodejs/bin/node", "deploy/healthcheck.mjs", "http://127.0.0.1:4000/livez"]
ENTRYPOINT ["/nodejs/bin/node"]
CMD ["dist/api/server.js"]
