"""The Helm chart, rendered by Helm's own library."""

from __future__ import annotations

from typing import Any

import yaml

from tests.contract.conftest import ROOT

CHART = ROOT / "deploy" / "helm" / "fairlane"
#: Everything that is off by default.
ALL: dict[str, Any] = {
    "web": {"autoscaling": {"enabled": True}},
    "autoscaling": {"enabled": True},
    "ingress": {"enabled": True, "className": "nginx", "tlsSecret": "fairlane-tls"},
    "image": {"digest": "sha256:" + "0" * 64},
    "imagePullSecrets": [{"name": "registry"}],
    "extraEnv": [{"name": "LLM_API_KEY", "valueFrom": {"secretKeyRef": {"name": "model", "key": "key"}}}],
    "networkPolicy": {
        "ingressFrom": [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "ingress-nginx"}}}],
        "databaseTo": [{"ipBlock": {"cidr": "10.0.0.5/32"}}],
        "extraEgress": [{"ports": [{"port": 587, "protocol": "TCP"}]}],
    },
    "monitoring": {"serviceMonitor": {"enabled": True}, "rules": {"enabled": True}, "dashboard": {"enabled": True}},
}


def values() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))
    return found


def documents(text: str) -> list[dict[str, Any]]:
    return [one for one in yaml.safe_load_all(text) if one]
