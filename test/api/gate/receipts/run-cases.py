"""Runs docs/verify-receipt.py. Reads {calls: [{case, receipt, operation_text, options, answer?}], signatures: [[key, message, signature]]} as
JSON, and writes what each returned or raised. Calls of one case share a memory of what was used; with an answer that of first_use is given."""

import importlib.util
import json
import sys

spec = importlib.util.spec_from_file_location("verify_receipt", sys.argv[1])
verifier = importlib.util.module_from_spec(spec)
spec.loader.exec_module(verifier)
used = set()


def run(call):
    stored = []

    def first_use(key, until):
        stored.append([key, until])
        is_first = (call["case"], key) not in used
        used.add((call["case"], key))
        return call.get("answer", is_first)

    try:
        operation = verifier.verify_receipt(call["receipt"], call["operation_text"], first_use=first_use, **call["options"])
        return {"operation": operation, "stored": stored}
    except Exception as error:
        return {"refused": f"{type(error).__name__}: {error}", "stored": stored}


given = json.load(sys.stdin)
signatures = [verifier._is_signed(*map(bytes.fromhex, parts)) for parts in given["signatures"]]
json.dump({"calls": [run(call) for call in given["calls"]], "signatures": signatures}, sys.stdout)
