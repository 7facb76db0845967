"""A self-signed certificate for the site's names, created at the start."""

from __future__ import annotations

import base64
import datetime
import hashlib
import ssl
import tempfile
from collections.abc import Sequence

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

_VALID = datetime.timedelta(days=30)


def server_context(names: Sequence[str]) -> ssl.SSLContext:
    """Create a TLS context with a self-signed certificate for `names`."""
    return server_identity(names)[0]


def server_identity(names: Sequence[str]) -> tuple[ssl.SSLContext, str]:
    """Create a TLS context like `server_context`; return it with the pin of its key, which browsers can trust."""
    key = ec.generate_private_key(ec.SECP256R1())
    certificate = _self_signed(key, names)
    context = _server_context(key, certificate)
    public = key.public_key().public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    return context, base64.b64encode(hashlib.sha256(public).digest()).decode()


def issued_identity(names: Sequence[str]) -> tuple[ssl.SSLContext, bytes]:
    """Create a TLS context with a certificate for `names`; return it with the certificate of its authority as PEM."""
    authority_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    authority = _self_signed(authority_key, ["Company authority"])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[0])]))
        .issuer_name(authority.subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _VALID)
        .not_valid_after(now + _VALID)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name) for name in names]), critical=False)
        .sign(authority_key, hashes.SHA256())
    )
    return _server_context(key, certificate), authority.public_bytes(serialization.Encoding.PEM)


def _server_context(key: ec.EllipticCurvePrivateKey, certificate: x509.Certificate) -> ssl.SSLContext:
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    # OpenSSL reads keys from files only.
    with tempfile.NamedTemporaryFile(suffix=".pem") as file:
        file.write(private + certificate.public_bytes(serialization.Encoding.PEM))
        file.flush()
        context.load_cert_chain(file.name)
    return context


def _self_signed(key: ec.EllipticCurvePrivateKey, names: Sequence[str]) -> x509.Certificate:
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[0])])
    now = datetime.datetime.now(datetime.UTC)
    alternatives = x509.SubjectAlternativeName([x509.DNSName(name) for name in names])
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _VALID)
        .not_valid_after(now + _VALID)
        .add_extension(alternatives, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
