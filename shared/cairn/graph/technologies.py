"""Names of technologies and their canonical forms, found by one pattern. Not their versions."""

import re
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

# A canonical name, then its other spellings, found in any case. After = the name itself is found
# only as it stands, for it is a common word in small letters.
_NAMES = """
    JavaScript: ecmascript
    TypeScript
    Python: python3, cpython
    Golang: go lang
    Kotlin
    PHP: php8
    C++: cpp
    C#: csharp
    .NET: dotnet, dot net, .net core
    ASP.NET: asp.net core
    Node.js: nodejs, node js
    Deno
    Next.js: nextjs, next js
    Nuxt: nuxt.js, nuxtjs
    =React: react.js, reactjs
    React Native: react-native
    Vue.js: vuejs, vue js
    =Angular: angularjs, angular.js
    Svelte: sveltekit
    jQuery
    Three.js: threejs
    D3.js: d3js
    Express.js: expressjs
    NestJS: nest.js
    FastAPI: fast api
    Django
    Laravel
    Symfony
    Ruby on Rails: rubyonrails
    Spring Boot: springboot
    WordPress: word press
    WooCommerce
    Drupal
    Shopify
    Webflow
    Tailwind CSS: tailwindcss
    =Sass: scss
    Webpack
    =Vite: vitejs
    esbuild
    Babel.js: babeljs
    ESLint
    GraphQL
    gRPC
    OpenAPI: open api
    WebSocket: websockets
    WebAssembly: wasm
    PostgreSQL: postgres, postgre sql, psql, pgsql
    pgvector
    MySQL: my sql
    MariaDB
    SQLite: sqlite3
    SQL Server: mssql, ms sql
    Oracle Database: oracle db
    MongoDB: mongo db, mongo
    Redis
    Memcached
    Apache Cassandra
    DynamoDB: dynamo db
    Elasticsearch: elastic search
    OpenSearch: open search
    Neo4j
    Qdrant
    Weaviate
    Milvus
    ClickHouse
    =Snowflake
    BigQuery: big query
    Databricks
    Apache Kafka: kafka
    Apache Spark: pyspark
    Apache Airflow
    RabbitMQ: rabbit mq
    Nginx
    Apache HTTP Server: httpd
    HAProxy
    Docker
    Docker Compose: docker-compose
    Podman
    Kubernetes: k8s, kube
    Terraform
    Ansible
    Pulumi
    Jenkins
    GitHub
    GitHub Actions: github action
    GitLab
    GitLab CI: gitlab ci/cd
    Bitbucket
    CircleCI: circle ci
    Argo CD: argocd
    =Prometheus
    Grafana
    OpenTelemetry: otel
    Datadog
    New Relic: newrelic
    AWS: amazon web services
    AWS Lambda
    Amazon S3: aws s3
    Amazon SQS: aws sqs
    Amazon EC2: ec2
    Amazon RDS: aws rds
    =Step Functions: aws step functions
    CloudFormation: cloud formation
    AWS CDK
    CloudFront
    Azure: microsoft azure
    Google Cloud: gcp, google cloud platform
    Cloudflare: cloud flare
    Vercel
    Netlify
    Heroku
    DigitalOcean: digital ocean
    Supabase
    Firebase
    Keycloak
    Auth0
    OAuth: oauth2, oauth 2.0
    =Stripe
    Twilio
    SendGrid: send grid
    Zendesk
    Salesforce
    HubSpot
    Zapier
    Figma
    LangChain
    LangGraph
    LlamaIndex
    OpenAI
    ChatGPT: chat gpt
    GPT-4: gpt4, gpt 4
    GPT-4o: gpt4o
    Anthropic
    Ollama
    Hugging Face: huggingface
    PyTorch: py torch
    TensorFlow: tensor flow
    scikit-learn: sklearn
    NumPy
    SciPy
    Jupyter
    ONNX: onnx runtime, onnxruntime
    pytest
    =Playwright
    Cypress.io
    Linux
    Ubuntu
    Debian
    macOS: mac os
    iOS
    =Android
    =Flutter
    Xcode
    Visual Studio Code: vs code, vscode
    Sentry.io
    Socket.IO: socketio
    Vue Router
    Redux
    Prisma ORM
    SQLAlchemy: sql alchemy
    Pydantic
    asyncio
    =Celery
    Gunicorn
    Uvicorn
    Model Context Protocol
"""
# Found as they stand; no other spellings.
_COMMON = """
    Rust Ruby Swift Java Scala Perl Haskell Elixir Flask Rails Remix Oracle Helm Vault Puppet Bash
    Git Kibana Logstash Splunk Slack Jira Notion Asana Trello Sentry HTML CSS SQL MCP
"""


def _spellings() -> Iterator[tuple[str, str]]:
    for line in _NAMES.strip().splitlines():
        canonical, _, others = line.strip().partition(": ")
        if not canonical.startswith("="):
            yield canonical.casefold(), canonical
        yield from ((other, canonical.removeprefix("=")) for other in others.split(", ") if other)


CANONICAL: Mapping[str, str] = MappingProxyType(dict(_spellings()))
"""The canonical name by every casefolded spelling that is found in any case."""

EXACT = frozenset(_COMMON.split()) | frozenset(re.findall(r"=([^:\n]+)", _NAMES))
"""Names found only in this spelling; each is canonical."""


def _either(names: Iterable[str]) -> str:
    return "|".join(re.escape(name) for name in sorted(names, key=lambda name: (-len(name), name)))


_PATTERN = re.compile(rf"(?:(?i:{_either(CANONICAL)})|{_either(EXACT)})(?![\w+#]|\.\w|-\w+\.\w)")
# not inside a word, a path, a domain name or an identifier
_START = re.compile(r"(?<![\w@#$\\-])(?<!\w[.])[.\w][\w.+#]?[\w.+# -]?")
_BEGINNINGS = frozenset(name[:3].casefold() for name in (*CANONICAL, *EXACT))


def find_technologies(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield (start, end, canonical name) of each mention in order; the longest name wins.

    O(characters): the names are tried only where a word begins with the first letters of one.
    """
    end = 0
    for start in _START.finditer(text):
        at, first = start.start(), start.group().casefold()
        if at < end or not (first in _BEGINNINGS or first[:2] in _BEGINNINGS):
            continue
        match = _PATTERN.match(text, at)
        if match is not None:
            end = match.end()
            value = match.group()
            yield at, end, canonical_technology(value) or value


def canonical_technology(name: str) -> str | None:
    """Return the canonical form of a name that stands alone, None when it is no technology."""
    return name if name in EXACT else CANONICAL.get(name.casefold())
