# A server of a saved model: `docker build --tag graph-metric-learn .`, then
# docker run --read-only --tmpfs /tmp --env GRAPH_METRIC_LEARN_TOKEN --publish 8000:8000 \
#     --volume "$PWD/model:/model:ro" graph-metric-learn
FROM python:3.12-slim
ENV PYTHONUNBUFFERED=1 NUMBA_CACHE_DIR=/opt/numba-cache
WORKDIR /opt/graph-metric-learn
COPY pyproject.toml README.md LICENSE MANIFEST.in constraints.txt ./
COPY src src
# torch first and alone: a resolver that sees other packages' wishes first may pick a build with gigabytes of CUDA.
RUN python -m pip install --no-cache-dir $(grep '^torch==' constraints.txt)
RUN python -m pip install --no-cache-dir --constraint constraints.txt ".[chem,index,serve]"
RUN mkdir -p /opt/numba-cache && graph-metric-learn warm-up && chmod -R a+rX /opt/numba-cache
WORKDIR /
USER 10001
EXPOSE 8000
HEALTHCHECK --start-period=60s CMD python -c "from urllib.request import urlopen; urlopen('http://127.0.0.1:8000/health', timeout=5)"
ENTRYPOINT ["graph-metric-learn", "serve", "--host", "0.0.0.0", "--port", "8000"]
CMD ["/model"]
