"""Write a kubeconfig for a client, and read it back."""

import base64
import json
from pathlib import Path

from tests.cluster.client import ClusterClient


def write_kubeconfig(path: Path, *, server: str, authority: str, token: str, namespace: str = "") -> Path:
    """Write a kubeconfig that needs no other file, readable by its owner only; return its path."""
    data = base64.b64encode(authority.encode("ascii")).decode("ascii")
    context = {"cluster": "test", "user": "test", **({"namespace": namespace} if namespace else {})}
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "test",
        "clusters": [{"name": "test", "cluster": {"server": server, "certificate-authority-data": data}}],
        "users": [{"name": "test", "user": {"token": token}}],
        "contexts": [{"name": "test", "context": context}],
    }
    path.touch(mode=0o600)
    path.write_text(json.dumps(config, indent=2) + "\n", "utf-8")  # JSON is YAML
    return path


def read_client(path: Path) -> ClusterClient:
    """Return the client that such a file describes."""
    config = json.loads(path.read_text("utf-8"))
    cluster = config["clusters"][0]["cluster"]
    authority = base64.b64decode(cluster["certificate-authority-data"]).decode("ascii")
    return ClusterClient(cluster["server"], authority, config["users"][0]["user"]["token"])
