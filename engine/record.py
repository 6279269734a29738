"""A decision as plain data, for JSON: what ``check`` prints and the review log keeps."""

from __future__ import annotations

from typing import Any

from ringfence.engine.call import Decision
from ringfence.rules.model import UNCERTAIN

_MARKS = str.maketrans(dict.fromkeys(UNCERTAIN, "*"))


def decision_record(decision: Decision) -> dict[str, Any]:
    """The decision without its message. Unknown parts of a path are ``*``."""
    return {
        "decision": decision.state.value,
        "default": decision.default,
        "external": [
            {
                "path": finding.path.translate(_MARKS),
                "real": finding.real.translate(_MARKS),
                "operation": finding.effect.operation.value,
                "certainty": finding.effect.certainty.value,
                "span": list(finding.effect.span),
                "text": finding.effect.text.translate(_MARKS),
            }
            for finding in decision.findings
        ],
        "opaque": [
            {"reason": part.reason, "span": list(part.span), "text": part.text.translate(_MARKS)}
            for part in decision.opaque
        ],
        "gates": [
            {
                "gate": verdict.gate,
                "verdict": verdict.state.value,
                "rule": verdict.rule.rule,
                "source": verdict.rule.source,
                **({"doubt": verdict.rule.doubt.value} if verdict.rule.doubt else {}),
            }
            for verdict in decision.verdicts
        ],
    }
