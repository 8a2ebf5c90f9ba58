"""Acronyms: how they are written, and which of them count."""

from __future__ import annotations

from app.specview.listed import listed

_WRITTEN = listed("""
ABI ACL AES AI AJAX API APIs ARN ASCII ASGI AST AWS BOM BSD CDN CI CIDR CJS CLI CORS CPU CR CRLF CRUD CSP CSRF
CSS CSS3 CSV CTE DB DBM DDL DNS DOM DSL DSN DST DTO EOF EOL ES6 ESM ETA ETag FAQ FIFO FQDN FS FTP GC GCS GIF GPU
GRPC GUI GUID HMAC HMR HTML HTML5 HTTP HTTP2 HTTP3 HTTPS I18N ID IDE IDNA IDs IO IP IPC IPs IPv4 IPv6 ISO JDBC
JIT JMX JPEG JPG JS JSON JSONP JSX JVM JWT LDAP LF LRU MAC MD5 MIME MVC MySQL NaN NFC NFS OAuth OAuth2 OIDC OK
ORM OS OSX PDF PEM PHP PID PIDs PNG POSIX PostgreSQL QoS QR RAM RBAC RDS REPL REST RFC RGB RPC RSA RSS S3 SAML
SDK SHA SHA1 SHA256 SLA SMS SMTP SNS SOAP SQL SQLite SQS SSE SSH SSL SSO SSR SVG TCP TLS TOML TOTP TSV TSX TTL
TTY TXT UDP UI UID URI URIs URL URLs UTC UTF UTF16 UTF32 UTF8 UUID UUIDs UX VM WASM WSGI XHR XML XSS YAML ZIP
""")
#: by their lower case
ACRONYMS = {word.lower(): word for word in _WRITTEN}
#: acronyms that count: "a URL", "the API"
COUNTED_ACRONYMS = listed("""
acl api arn ast bom cdn cidr cli cpu db dom dsn dto fqdn guid id ide ip jwt os pdf pid png qr rpc sdk sha ttl
tty ui uid uri url uuid vm jpeg gif svg eta etag
""")
