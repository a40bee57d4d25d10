# Image of a release: only the static binary. `kbgen links` needs curl and `kbgen check --changed` needs git, which it lacks.
# The build context is a folder with amd64/kbgen and arm64/kbgen; .github/workflows/release.yml creates it.
FROM scratch
ARG TARGETARCH
COPY ${TARGETARCH}/kbgen /kbgen
WORKDIR /site
ENTRYPOINT ["/kbgen"]
