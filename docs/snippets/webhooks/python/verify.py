# Verifies webhooks with the standard library. `python3 verify.py vectors.tsv` prints its verdict on each vector.
import base64
import hashlib
import hmac
import re
import sys

TOLERANCE_SECONDS = 300


def parse(header):
    """Takes "t=<unix seconds>,v1=<hex>" apart; None unless there is exactly one of each."""
    found = {"t": [], "v1": []}
    for part in header.split(","):
        match = re.fullmatch(r"([a-z][a-z0-9]*)=([^\s=]+)", part)
        if match is None:
            return None
        found.get(match[1], []).append(match[2])
    t, v1 = ",".join(found["t"]), ",".join(found["v1"])
    if re.fullmatch(r"[1-9][0-9]{0,11}", t) is None or re.fullmatch(r"[0-9a-f]{64}", v1) is None:
        return None
    return t, v1


def verify(body, current, previous, secrets, now):
    """body is the raw bytes. current and previous are the two headers, None when absent. now is in seconds."""
    if current is None:
        return "missing"
    genuine = False
    for header in (current, previous):
        if header is None:
            continue
        signature = parse(header)
        if signature is None:
            return "malformed"
        t, v1 = signature
        if abs(now - int(t)) > TOLERANCE_SECONDS:
            return "stale"
        for secret in secrets:
            expected = hmac.new(secret.encode(), f"{t}.".encode() + body, hashlib.sha256).hexdigest()
            if hmac.compare_digest(expected, v1):
                genuine = True
    return "ok" if genuine else "mismatch"


def main():
    wrong = 0
    with open(sys.argv[1], encoding="utf-8") as file:
        lines = file.read().rstrip("\n").split("\n")
    for line in lines[1:]:
        name, verdict, now, secrets, current, previous, body = line.split("\t")
        got = verify(base64.b64decode(body), current or None, previous or None, secrets.split(" "), int(now))
        print(f"{got:<10} {name}")
        wrong += got != verdict
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
