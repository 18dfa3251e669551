# The demo and the tests in a container:
#     docker build -t bezierflow .
#     docker run --rm bezierflow                  # the demo, then the tests
#     docker run --rm bezierflow bezierflow demo  # or any other command
FROM python:3.13-slim
RUN apt-get update \
    && apt-get install -y --no-install-recommends chromium git make \
    && rm -rf /var/lib/apt/lists/*
# Not as root: tests of files that may not be read or written mean something then.
RUN useradd --create-home user
USER user
WORKDIR /home/user/bezierflow
# First what changes rarely, so that a change of the sources installs nothing again.
COPY --chown=user pyproject.toml README.md LICENSE Makefile ./
COPY --chown=user src src
RUN make venv
COPY --chown=user . .
ENV PATH="/home/user/bezierflow/.venv/bin:$PATH"
CMD ["sh", "-c", "make demo && make test"]
