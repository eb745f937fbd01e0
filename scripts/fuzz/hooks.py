"""What schemathesis does beside its own checks in `npm run fuzz`: our envelope, and a count of what was answered."""

import atexit
import collections
import json
import os
import uuid

import schemathesis

statuses = collections.Counter()
violations = []
# Writes that succeeded last, as they stood when the refusals with 401 began: one of them has ended the credential.
writes = collections.deque(maxlen=10)
refused = set()
ended_after = []
# A check sends single requests without a credential, and a sign-in is refused in the same way.
OPERATIONS_IN_A_ROW = 4


# The session of the round: its own list tells it, and ids of requests come from answers.
OWN_SESSION = os.environ.get("FUZZ_SESSION")


@schemathesis.hook
def before_call(context, case, **kwargs):
    """A used Idempotency-Key with another body is a 422 by design: a valid key is made fresh, an invalid one stays."""
    key = (case.headers or {}).get("Idempotency-Key")
    if isinstance(key, str) and 0 < len(key) <= 255 and case.meta is not None and case.meta.generation.mode.is_positive:
        case.headers["Idempotency-Key"] = str(uuid.uuid4())
    # Revoking it would end the round: most of what follows would be a 401.
    parameters = case.path_parameters or {}
    if OWN_SESSION and parameters.get("session_id") == OWN_SESSION:
        parameters["session_id"] = str(uuid.uuid4())


@schemathesis.hook
def after_call(context, case, response):
    statuses[response.status_code] += 1
    watch_credential(case, response)


def watch_credential(case, response):
    if response.status_code != 401:
        refused.clear()
        if response.status_code < 300 and case.method in ("POST", "PUT", "PATCH", "DELETE"):
            writes.append(f"{case.method} {case.formatted_path}")
    elif not ended_after:
        refused.add(case.operation.label)
        if len(refused) == OPERATIONS_IN_A_ROW:
            ended_after.extend(writes)


@schemathesis.check
def envelope(ctx, response, case):
    """Every answer names its request; every refusal has the contract's envelope and tells nothing of our insides."""
    problems = list(problems_of(response, case))
    if problems:
        violations.append({"request": f"{case.method} {case.formatted_path}", "status": response.status_code, "problems": problems})
        raise AssertionError("; ".join(problems))


@schemathesis.check
def fitting_is_taken(ctx, response, case):
    """What fits the document is refused with 422 only by a rule that a schema cannot say, such as the name of a time zone."""
    if response.status_code != 422 or case.meta is None or not case.meta.generation.mode.is_positive:
        return
    errors = json.loads(response.content)["detail"]["errors"]
    # "unstorable": a NUL deep inside an event, which may hold anything.
    assert all(error["type"] in ("custom", "unstorable") for error in errors), f"fits the document, and yet: {errors}"


def problems_of(response, case):
    if not response.headers.get("x-correlation-id"):
        yield "no X-Correlation-ID"
    if response.status_code < 400 or case.method == "HEAD":
        return
    try:
        body = json.loads(response.content)
    except ValueError:
        yield "a refusal that is no JSON"
        return
    if body.get("success") is not False or body.get("status") != "failure":
        yield "a refusal without success: false, status: failure"
    for key in ("error_code", "message", "detail", "correlation_id", "timestamp"):
        if not body.get(key):
            yield f"a refusal without {key}"
    if response.status_code >= 500:
        yield f"{response.status_code}: no input may be our fault"


@atexit.register
def write_counts():
    path = os.environ.get("FUZZ_COUNTS")
    if path and statuses:
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"statuses": statuses, "violations": violations, "ended_after": ended_after}, file)
