"""Verifies receipts of Assent. Copy this file as verify_receipt.py; it needs Python 3.8 or newer and nothing else.

    operation = verify_receipt(receipt, operation_text, jwks=jwks, issuer="https://assent.example.com",
                               team="<team id>", system="payments", first_use=first_use)

Execute the operation that is returned and nothing else. docs/guide/receipts.md says what a receipt proves.

The signature (Ed25519, RFC 8032) is verified by the forty lines at the end: a verifier holds no secret that its timing could tell, and without
a package to install this is one file that can be read before it is trusted. The test suite compares it with OpenSSL, and runs
clients/receipt-cases.json, the cases of the TypeScript verifier.
"""

import base64
import hashlib
import json
import re
import time

SKEW_SECONDS = 5
LONGEST_SECONDS = 3600


class ReceiptError(Exception):
    """A receipt that proves nothing about the operation, here and now."""


def verify_receipt(receipt, operation_text, *, jwks, issuer, team, system, first_use, approvals=1, now=None):
    """Verifies that people approved exactly this operation, and that it is executed for the first time. Returns the operation to execute.

    receipt: as the redemption returned it
    operation_text: the operation's text, byte for byte as the redemption returned it
    jwks: keys of GET /api/receipts/jwks, fetched from the installation that you trust, never from an address in the receipt
    issuer: BASE_URL of the installation
    team: id of the team whose people must have approved
    system: the system that executes, such as "payments"
    first_use: function (key, until): stores the key until this time (seconds since 1970) and returns True if it was not there, such as an
        insert with a unique key. It must outlive the process, or an operation can be executed twice. Anything but True refuses.
    approvals: how many people must have approved
    now: time of this clock, seconds since 1970; default the current one

    Raises ReceiptError unless all of it holds; nothing is marked as used then.
    """
    if approvals < 1:
        raise ValueError("approvals must be 1 or more")
    claims = _read_claims(receipt, jwks)
    own = claims.get("assent")
    if not isinstance(claims.get("jti"), str) or not isinstance(own, dict) or type(own.get("v")) is not int or own["v"] != 1:
        raise ReceiptError("This is no receipt")
    if not isinstance(own.get("operations"), list) or not isinstance(own.get("approved_by"), list):
        raise ReceiptError("This is no receipt")
    _check_audience(claims, own, issuer, team, system)
    _check_time(claims, time.time() if now is None else now)
    digest = _hash_operation(operation_text)
    if digest not in [each.get("sha256") for each in own["operations"] if isinstance(each, dict)]:
        raise ReceiptError("People approved another operation")
    operation = json.loads(operation_text)
    # A receipt of several operations has one audience for each.
    if operation["system"] != system:
        raise ReceiptError("The operation is for another system")
    people = {each["user_id"] for each in own["approved_by"] if isinstance(each, dict) and isinstance(each.get("user_id"), str)}
    if len(people) < approvals:
        raise ReceiptError(f"{len(people)} people approved, and {approvals} must")
    # Never by the text of the receipt: the redemption and the operation are what may be used once.
    if first_use(f"{claims['jti']}:{digest}", claims["exp"] + SKEW_SECONDS) is not True:
        raise ReceiptError("The operation was executed before")
    return operation


def _read_claims(receipt, jwks):
    """Verifies header and signature by a key that the caller trusts; nothing in the header is followed."""
    parts = receipt.split(".")
    if len(parts) != 3:
        raise ReceiptError("The receipt is not in its compact form")
    head, body, signature = (_decode(part) for part in parts)
    header = _parse(head)
    if header.get("alg") != "EdDSA" or header.get("typ") != "assent-receipt+jwt" or "crit" in header:
        raise ReceiptError("This is no receipt")
    kid = header.get("kid")
    found = [key for key in jwks["keys"] if key.get("kid") == kid and key.get("kty") == "OKP" and key.get("crv") == "Ed25519"]
    if len(found) != 1 or not isinstance(kid, str):
        raise ReceiptError("The receipt is signed by another key")
    if not _is_signed(_decode(found[0]["x"]), f"{parts[0]}.{parts[1]}".encode("ascii"), signature):
        raise ReceiptError("The signature is wrong")
    return _parse(body)


def _decode(text):
    """Decodes base64url. Refuses every other spelling of the same bytes: padding, blanks and unused bits that are set."""
    if re.fullmatch(r"[A-Za-z0-9_-]+", text) and len(text) % 4 != 1:
        data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        if base64.urlsafe_b64encode(data).rstrip(b"=") == text.encode("ascii"):
            return data
    raise ReceiptError("The receipt is not in its compact form")


def _parse(data):
    """Parses an object in which no member is there twice."""
    try:
        value = json.loads(data.decode("utf-8"), object_pairs_hook=_members, parse_constant=_refuse)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise ReceiptError("The receipt holds no JSON")
    return value


def _members(pairs):
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("A member is there twice")
    return members


def _refuse(name):
    raise ValueError(f"{name} is no JSON")


def _check_audience(claims, own, issuer, team, system):
    audience = claims.get("aud")
    audiences = audience if isinstance(audience, list) else [audience]
    if claims.get("iss") != issuer:
        raise ReceiptError("The receipt is of another installation")
    if own.get("team_id") != team or f"assent:{team}:{system}" not in audiences:
        raise ReceiptError("The receipt is for another team or system")


def _check_time(claims, now):
    issued, starts, ends = (claims.get(name) for name in ("iat", "nbf", "exp"))
    if any(type(each) is not int for each in (issued, starts, ends)):
        raise ReceiptError("The receipt has no times")
    if ends - issued > LONGEST_SECONDS:
        raise ReceiptError("The receipt is valid for longer than an hour")
    # Written so that a time that is no number refuses too.
    if not now >= starts - SKEW_SECONDS:
        raise ReceiptError("The receipt is not valid yet, or this clock is wrong")
    if not now < ends + SKEW_SECONDS:
        raise ReceiptError("The receipt has expired")


def _hash_operation(text):
    try:
        return "sha256:" + hashlib.sha256(b"assent.operation.v1\n" + text.encode("utf-8")).hexdigest()
    except UnicodeEncodeError:
        raise ReceiptError("The text of the operation is no Unicode") from None


# Ed25519, RFC 8032. A point (x, y) of the curve is (X, Y, Z, T) with x = X/Z, y = Y/Z and xy = T/Z.
_P = 2**255 - 19
_ORDER = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, -1, _P) % _P
_ROOT = pow(2, (_P - 1) // 4, _P)


def _point(data):
    """Returns the point that 32 bytes name; None if they name none, or are not its only spelling."""
    number = int.from_bytes(data, "little")
    sign, y = number >> 255, number & (2**255 - 1)
    if len(data) != 32 or y >= _P:
        return None
    square = (y * y - 1) * pow(_D * y * y + 1, -1, _P) % _P
    x = pow(square, (_P + 3) // 8, _P)
    if (x * x - square) % _P != 0:
        x = x * _ROOT % _P
    if (x * x - square) % _P != 0 or (x == 0 and sign == 1):
        return None
    x = x if x & 1 == sign else _P - x
    return x, y, 1, x * y % _P


def _add(one, other):
    a = (one[1] - one[0]) * (other[1] - other[0]) % _P
    b = (one[1] + one[0]) * (other[1] + other[0]) % _P
    c = 2 * one[3] * other[3] * _D % _P
    d = 2 * one[2] * other[2] % _P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % _P, g * h % _P, f * g % _P, e * h % _P


def _multiply(factor, point):
    result = (0, 1, 1, 0)
    while factor > 0:
        if factor & 1:
            result = _add(result, point)
        point = _add(point, point)
        factor >>= 1
    return result


_BASE = _point((4 * pow(5, -1, _P) % _P).to_bytes(32, "little"))


def _is_signed(public_key, message, signature):
    """Returns whether the signature is that of the message under the public key. Raises ValueError if that is no key."""
    key = _point(public_key)
    if key is None:
        raise ValueError("A key of the JWKS is no Ed25519 key")
    s = int.from_bytes(signature[32:], "little")
    if len(signature) != 64 or s >= _ORDER:
        return False
    challenge = int.from_bytes(hashlib.sha512(signature[:32] + public_key + message).digest(), "little") % _ORDER
    negated = (-key[0] % _P, key[1], 1, -key[3] % _P)
    x, y, z, _ = _add(_multiply(s, _BASE), _multiply(challenge, negated))
    inverse = pow(z, -1, _P)
    # Compared as bytes, so that the first half of the signature has one spelling too.
    return ((y * inverse % _P) | (x * inverse % _P & 1) << 255).to_bytes(32, "little") == signature[:32]
