# docker build -t entlink . && docker run --rm -v "$PWD:/data" entlink kb build products.csv -o products.kb
FROM python:3.11-slim AS build
WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN pip install --no-cache-dir --prefix=/install .

FROM python:3.11-slim
COPY --from=build /install /usr/local
RUN useradd --create-home entlink
USER entlink
WORKDIR /data
ENTRYPOINT ["entlink"]
CMD ["--help"]
